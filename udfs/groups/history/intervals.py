"""Open intervals of a group: a state, a stay of a member, ownership of partitions. A field with the name of a column of
its table is the value of that column."""

from dataclasses import dataclass

from schemas.words.history import Confidence
from udfs.groups.readers.client_libraries import ANY_LIBRARY


@dataclass(slots=True)
class OpenInterval:
    """An open interval; `last_offset` is the last record that confirms it."""

    from_time: int | None
    from_record_offset: int
    is_from_exact: bool
    last_offset: int


@dataclass(slots=True)
class StateStretch(OpenInterval):
    group_type: str | None
    state: str | None
    generation_or_epoch: int | None
    protocol_type: str | None
    assignor: str | None
    num_members: int | None
    confidence: str = Confidence.CERTAIN


@dataclass(slots=True)
class MemberStretch(OpenInterval):
    group_type: str
    member_id: str
    group_instance_id: str | None
    client_id: str | None
    client_host: str | None
    rack_id: str | None
    joined_generation: int | None
    away_since_time: int | None = None
    # The set of client libraries that no record of the member excludes, as a number.
    libraries: int = int(ANY_LIBRARY)


@dataclass(slots=True)
class OwnerStretch(OpenInterval):
    """Of partitions that the member got together. They mostly change owners together."""

    group_type: str
    tp: frozenset[int]
    member_id: str
    generation_or_epoch: int | None
    phase: str
    role: str | None = None
    subtopology_id: str | None = None
