"""Warehouses: folders of Delta tables on any storage, changed by one run at a time."""
