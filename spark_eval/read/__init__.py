"""From the bytes of a run folder to typed rows, with what cannot be read named."""
