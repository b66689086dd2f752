"""Many runs: repeated, as a suite, under many seeds, made smaller, or with broken nodes."""
