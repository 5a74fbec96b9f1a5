"""What records, tables and words mean, as plain data. Tables are declared in the folder `tables`.

Imports the standard library only, so that every other part may rest on it.
"""
