"""Keys and values to typed columns, by the declarations in `schemas`. The way in is `decode.decode`."""
