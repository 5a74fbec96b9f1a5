"""Calls of storage libraries, whose threads nothing can interrupt: for how long they may take, and in which process."""
