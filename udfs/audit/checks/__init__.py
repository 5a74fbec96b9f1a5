"""What every audit of assignments uses: facts and what they confirm, checks of one assignment, results and rows."""
