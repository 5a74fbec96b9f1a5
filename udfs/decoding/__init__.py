"""Decodes keys and values into typed columns, by the declarations in `schemas`. Start at `decode.decode`."""
