"""What a run of `replay` is made of."""
