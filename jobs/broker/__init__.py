"""A client for the brokers of a live cluster, built on the protocol layer of kafka-python."""
