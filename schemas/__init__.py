"""What records, tables and words mean, as plain data.

Imports the standard library only, so that every other part may rest on it.
"""
