"""What each Kafka client release changed in the sticky assignors, from 3.0 on."""

from dataclasses import dataclass
from functools import cache

from udfs.assignors.questions.specs import Release


@dataclass(frozen=True)
class Rules:
    # Subscriptions carry generations (KIP-792).
    reads_generations: bool
    # Owned partitions count only for members of the newest generation, even if no newer member claims them.
    drops_old_generations: bool
    # A claim is held against the last claimant even when that one was not believed (KAFKA-14639, mended by 15106).
    remembers_losers: bool
    has_racks: bool
    # How many more partitions than a member its neighbour may have before the whole is not level.
    level_margin: int
    # Owned partitions are sorted by number before the surplus is cut off (KAFKA-16277).
    sorts_owned: bool
    # What racks take from a member is revoked too, and needs no wait when it comes back to it (KAFKA-15170).
    tells_revokers: bool


@cache
def rules_of(release: Release) -> Rules:
    return Rules(
        reads_generations=release >= (3, 4, 0),
        drops_old_generations=release < (3, 4, 1),
        remembers_losers=(3, 4, 1) <= release < (3, 5, 2),
        has_racks=release >= (3, 5, 0),
        level_margin=int(release >= (3, 5, 2)),
        sorts_owned=release >= (3, 7, 1),
        tells_revokers=release >= (3, 7, 1),
    )
