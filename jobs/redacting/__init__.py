"""Names as keyed hashes, and copies of finished warehouses in which names are hashes and raw bytes are NULL."""
