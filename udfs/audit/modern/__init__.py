"""Targets of consumer and share groups: the input of their coordinator, as far as the log shows it."""
