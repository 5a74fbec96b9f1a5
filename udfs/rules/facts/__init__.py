"""What rules look up: states of groups, ends of logs, commits that count."""
