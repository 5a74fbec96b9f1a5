"""The coordinator's state machine over decoded records: what every group was, and why it changed."""
