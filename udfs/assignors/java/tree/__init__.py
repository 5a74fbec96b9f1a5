"""Buckets of Java's hash tables that became trees."""
