"""Steps of the loop that reads messages: writing rows of columns."""
