"""What other assignors would give a group, and what the change would cost."""
