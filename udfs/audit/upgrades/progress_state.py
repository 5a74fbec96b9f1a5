"""Progress of a group's migration to another assignor or protocol: what is remembered between records."""

from dataclasses import dataclass, field

from udfs.audit.upgrades.member_records import ClassicValueSummary, ConsumerMember, MemberIdentity


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
    # Members of a consumer group that still use the classic protocol. Not stored.
    classic_members: set[str] = field(default_factory=set)
