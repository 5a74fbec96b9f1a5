"""Progress of groups that change to another assignor or protocol."""
