"""The inputs of an ingest: segment files, archives, a live log, snapshots."""
