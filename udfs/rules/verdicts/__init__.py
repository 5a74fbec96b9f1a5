"""Verdicts about partitions of groups: Burrow's and ours."""
