"""What an ingest reads: segment files, archives, a live log, snapshots."""
