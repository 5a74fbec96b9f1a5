"""Replays classic groups."""
