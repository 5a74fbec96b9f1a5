"""What commands print: rows, progress, failures."""
