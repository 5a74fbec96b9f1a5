"""Snapshots of a live cluster: what is asked, and where it goes."""
