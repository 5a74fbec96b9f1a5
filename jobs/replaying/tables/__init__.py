"""History tables: rows that earlier runs wrote, and rows of this run."""
