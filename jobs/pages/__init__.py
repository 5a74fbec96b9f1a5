"""Pages made from declarations and from runs."""
