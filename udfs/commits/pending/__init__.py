"""Steps of the loop that links commits: commits of transactions until their marker."""
