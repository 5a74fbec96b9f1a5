"""A group in replay and its state: that of a classic group, or of a consumer, share or streams group."""
