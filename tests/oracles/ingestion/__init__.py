"""What an ingest knows of earlier runs, row by row."""
