"""The replay of one offsets partition."""
