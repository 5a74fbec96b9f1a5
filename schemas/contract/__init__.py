"""All tables, views, functions and exported metrics, as users script against them."""
