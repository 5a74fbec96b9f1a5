"""What records, tables and words mean, as plain data. Tables and records are declared as text, in the folders `tables`
and `records`.

Imports the standard library only, so that every other part may rest on it.
"""
