"""Who gets what nobody keeps, if all members subscribe to the same topics."""
