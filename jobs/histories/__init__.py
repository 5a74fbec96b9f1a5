"""What the readers of history share: groups, describe, why, owner, diff, offsets."""
