"""Assignments of classic groups: the input of their leaders, as far as the log shows it."""
