"""The arrays of the loop that links commits, and its steps for values that take effect and end."""
