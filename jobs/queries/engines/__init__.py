"""DuckDB and Spark SQL."""
