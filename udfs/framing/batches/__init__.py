"""Record batches of today's format: headers, records, and what is wrong with them."""
