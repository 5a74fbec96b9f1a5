"""What records, tables, views and words mean, as plain data. Tables and records are declared as text, in the folders
`tables` and `records`; views, metrics and findings as SQL, with what they share in the folder `parts`.

Imports the standard library only, so that every other part may rest on it.
"""
