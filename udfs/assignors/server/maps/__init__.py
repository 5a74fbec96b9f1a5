"""Members' maps of topics to sets of partitions, as Java walks them."""
