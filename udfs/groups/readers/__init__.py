"""Reads records of groups from decoded tables, one reader for each table."""
