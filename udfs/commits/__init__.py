"""Commits of an offsets partition: when each offset was in force, transactions, what groups ask about them."""
