"""The steps of the sticky assignors of clients."""
