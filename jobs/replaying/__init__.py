"""The parts of a `replay` run."""
