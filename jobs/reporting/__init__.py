"""The report: queries of the tables, drawings of their rows, and the pages that contain both."""
