"""Who is believed to own what, where members of sticky groups claim the same."""
