"""Finds, fetches and starts Java and Spark, and gives them work."""
