"""A client of a running cluster's brokers, on the protocol layer of kafka-python."""
