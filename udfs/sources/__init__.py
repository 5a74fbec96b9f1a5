"""Lines of archives and snapshots, as rows."""
