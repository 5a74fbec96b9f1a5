"""Settings: what there is to set, with checks, and the file that sets it."""
