"""Takes snapshots of a live cluster: what is requested, and where it is written."""
