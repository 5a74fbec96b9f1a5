"""Steps of assignors that change members' maps, and what they do to the sets in them."""
