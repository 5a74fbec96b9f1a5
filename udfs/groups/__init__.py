"""The coordinator's state machine over decoded records: what state each group was in, and why it changed."""
