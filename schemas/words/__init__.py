"""Enumerated values and their meanings, as text, and the classes by which code names them. `lines.py` reads lines of
words, and those of tables.
"""
