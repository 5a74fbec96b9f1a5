"""Folders of Delta tables, on local disks and on whatever Hadoop knows, changed by one run at a time."""
