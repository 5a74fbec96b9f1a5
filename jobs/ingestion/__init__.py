"""One run of an ingest: what is read by whom, compared with what is known, and written."""
