"""`groupscope gate --span`: records that a span of data was validated."""
