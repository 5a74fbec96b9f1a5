"""Lag of groups, in messages and in time, at each snapshot of end offsets."""
