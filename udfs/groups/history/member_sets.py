"""What an assignment changed for one member: columns of generation_members."""

from typing import NamedTuple

Tps = frozenset[int]


class MemberSets(NamedTuple):
    """None: unknown, or no column of this group type."""

    added: Tps | None = None
    revoked: Tps | None = None
    kept: Tps | None = None
    lost: Tps | None = None
    dropped_before_join: Tps | None = None
