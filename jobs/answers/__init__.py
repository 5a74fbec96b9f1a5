"""Code that the commands about the past share: groups, describe, why, owner, diff, offsets."""
