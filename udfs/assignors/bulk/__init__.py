"""Assignments of many groups in one call."""
