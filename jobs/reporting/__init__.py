"""The report: questions about the tables, their answers as columns, and the page that draws them."""
