"""Progress of a group's migration to another assignor or protocol: what is remembered between records."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from udfs.audit.upgrades.member_records import ClassicMemberSummary, ClassicValueSummary, ConsumerMember, MemberIdentity
from udfs.groups.readers.client_libraries import ANY_LIBRARY


@dataclass
class Way:
    """A migration that has begun. Times are microseconds; None: the record has none."""

    first_offset: int
    started_time: int | None
    # When a member changed last, and the number of generations, or group epochs, since then.
    progress_time: int | None
    generations_since: int = 0
    finished_time: int | None = None
    is_finished: bool = False
    # Who had changed then. While it goes on, and after it, the group's members say that, but not after its way back.
    finished_by: list[MemberIdentity] = field(default_factory=list)
    # Whether members that left in a restart had not come back then.
    is_awaiting: bool = False
    # The record with which the group returned to its former protocol.
    turned_back: int | None = None
    # Whether its beginning was read.
    is_begin_seen: bool = True
    # By member id, for migrations to a cooperative assignor: whether it gave up everything before it joined; None:
    # unknown.
    are_eager: dict[str, bool | None] = field(default_factory=dict)


@dataclass
class State:
    """State of a group. `classic`: its newest value. `members`: of a consumer group by id; None: it is not one."""

    classic: ClassicValueSummary | None = None
    members: dict[str, ConsumerMember] | None = None
    # The last assignor of a value with members.
    protocol: str | None = None
    # Of a classic group: the number of its members before some of them left, and when the last of these left; None:
    # nobody is awaited.
    num_whole: int = 0
    left_time: int | None = None
    to_cooperative: Way | None = None
    to_consumer: Way | None = None
    to_classic: Way | None = None
    # Whether its first members were read and use the consumer protocol.
    is_native: bool = False
    # Of the newest record.
    last_offset: int = -1
    last_time: int | None = None
    # Members of a consumer group that still use the classic protocol.
    classic_members: set[str] = field(default_factory=set)


def plain(state: State) -> dict[str, Any]:
    """In the form for JSON."""
    return {
        **{name: getattr(state, name) for name in KEPT},
        **{name: None if (way := getattr(state, name)) is None else asdict(way) for name in WAYS},
        "classic": state.classic,
        "members": state.members,
    }


KEPT = ("protocol", "num_whole", "left_time", "is_native", "last_offset", "last_time")
WAYS = ("to_cooperative", "to_consumer", "to_classic")


def from_plain(fields: dict[str, Any]) -> State:
    state = State(**{**fields, **{name: None if fields[name] is None else way_of(fields[name]) for name in WAYS}})
    if state.classic is not None:
        value = ClassicValueSummary(*state.classic)
        state.classic = value._replace(members=tuple(map(classic_member, value.members)))
    if state.members is not None:
        state.members = {each: ConsumerMember(*member) for each, member in state.members.items()}
        state.classic_members = {each for each, member in state.members.items() if member.versions is not None}
    return state


def way_of(fields: dict[str, Any]) -> Way:
    way = Way(**fields)
    way.finished_by = [MemberIdentity(**each) for each in fields.get("finished_by", ())]
    return way


def classic_member(fields: Sequence[Any]) -> ClassicMemberSummary:
    """Older releases stored a flag in the place of the libraries."""
    member = ClassicMemberSummary(*fields)
    return member._replace(libraries=int(ANY_LIBRARY)) if isinstance(member.libraries, bool) else member
