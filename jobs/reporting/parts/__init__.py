"""Parts of the report's pages."""
