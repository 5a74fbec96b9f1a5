"""Kafka's names of its assignors, by group protocol. `registry` has the function for each."""

from collections.abc import Mapping
from types import MappingProxyType

from udfs.assignors.questions.specs import GroupProtocol

# No release has it.
PROPOSAL = "constrained-cooperative-sticky"
BY_PROTOCOL: Mapping[GroupProtocol, tuple[str, ...]] = MappingProxyType(
    {
        GroupProtocol.CLASSIC: ("range", "roundrobin", "sticky", "cooperative-sticky", PROPOSAL),
        GroupProtocol.CONSUMER: ("uniform", "range"),
        GroupProtocol.SHARE: ("simple",),
    }
)
NAMES = tuple(sorted({name for names in BY_PROTOCOL.values() for name in names}))
OF_RELEASES = tuple(dict.fromkeys(name for names in BY_PROTOCOL.values() for name in names if name != PROPOSAL))
