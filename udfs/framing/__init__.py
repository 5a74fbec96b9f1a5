"""Bytes of a log to records: batches of every format, their checksums and compression. The way in is `frame.frame`."""
