"""One ingest run: plans what to read, reads it in tasks, compares it with the warehouse and writes the new rows."""
