"""Tables, views and functions in the SQL of each engine."""
