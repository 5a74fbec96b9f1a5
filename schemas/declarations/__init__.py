"""The languages in which tables and records are declared."""
