"""Turns the bytes of a log into records: batches of every format, with checksums and compression. Start at
`frame.frame`."""
