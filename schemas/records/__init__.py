"""One module for each family of records, and the registry of all."""
