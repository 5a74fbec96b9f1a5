"""What the driver of an ingest does with the results of tasks."""
