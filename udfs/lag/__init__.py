"""How far groups are behind, in messages and in time, at each snapshot of the topics' ends."""
