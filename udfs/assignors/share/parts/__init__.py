"""What there is to share in a share group: who has, wants and may take which partitions."""
