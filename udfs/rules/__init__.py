"""Rules about committed offsets: verdicts, resets, unusual commits, expiry, volume. Small functions over the columns of
one offsets partition."""
