"""One task of an ingest: reads bytes, writes rows."""
