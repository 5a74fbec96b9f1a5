"""Files of tables, as an engine reads them."""
