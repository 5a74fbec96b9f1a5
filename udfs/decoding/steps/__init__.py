"""Steps of loops: reading and writing numbers and words at any place of some bytes."""
