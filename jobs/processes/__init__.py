"""Processors, memory and threads of this process."""
