"""What the replay of every group type uses: open intervals, rows, departures, changes in words."""
