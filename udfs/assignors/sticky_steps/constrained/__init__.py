"""The algorithm of the sticky assignors if all members subscribe to the same topics."""
