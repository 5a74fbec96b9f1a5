"""Java and Spark: found, fetched, started, and given work."""
