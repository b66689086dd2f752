"""Many runs of one scenario: the result of each, from its bytes, and one verdict of all."""
