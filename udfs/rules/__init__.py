"""Judgements on committed offsets: verdicts, resets, odd commits, expiry, volume. Small functions over the columns of
one offsets partition."""
