"""The input of assignors: members, subscriptions, topics and racks, from JSON or from the log."""
