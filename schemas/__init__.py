"""What records, tables, views and words mean, as plain data. Tables, records and words are declared as text, in the
folders `tables`, `records` and `words`; views, metrics and findings as SQL, with what they share in the folder `parts`.
`renames.py` has the old and new names: errors, a page and the first run on a warehouse of version 2 read it.

Imports the standard library only, so that every other part may rest on it.
"""
