"""Tables and views as SQL sees them."""
