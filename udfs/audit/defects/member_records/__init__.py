"""Known defects that single records of members of consumer groups show, before any assignment is recomputed."""
