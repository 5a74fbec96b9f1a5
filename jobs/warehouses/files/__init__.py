"""The files of Delta tables: what their logs list, and what is wrong with a file that cannot be read."""
