"""What NumPy and Arrow lack: byte slices, numbers at any byte position, ranges, numbers that may be NULL."""
