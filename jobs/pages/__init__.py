"""Pages that declarations and runs make."""
