"""The report: what is asked of the tables, what is drawn of the rows, and the pages that hold both."""
