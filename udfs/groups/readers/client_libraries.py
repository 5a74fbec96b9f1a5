"""Which client library a member of a classic group uses, and which one its leader uses, as far as the bytes show it.

All libraries read each other's subscriptions and assignments. They differ in what does not matter to the reader: the
version that they write, no user data or user data of no bytes, no rack or an empty one. So bytes never name a library,
they only exclude some: the result for a record is the set of libraries that write such bytes. The sets of all records
of a member are intersected, in any order. If one library is left, it is the likely one. No set is `CERTAIN`: there are
more libraries than the seven that are known here.

A client id is a free text. Only one that equals the default of a library which is not excluded counts.

How members of Java (2.3 to 4.3), librdkafka 2.16, kafka-python 3.0, franz-go 1.22, Sarama 1.61 and KafkaJS 2.2 wrote to
a broker is what the rules for their versions say; the rest, marked with *, is from the libraries' sources.
"""

import re
from enum import IntEnum, IntFlag, auto
from itertools import product
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from schemas.records import CONNECT, CONSUMER
from schemas.words.assignments import ClientLibrary
from schemas.words.history import Confidence
from udfs.groups.readers.classic_columns import ClassicColumns
from udfs.groups.readers.record_columns import flags


class Libraries(IntFlag):
    """A set of libraries."""

    JAVA = auto()
    LIBRDKAFKA = auto()
    KAFKA_PYTHON = auto()
    AIOKAFKA = auto()
    SARAMA = auto()
    FRANZ_GO = auto()
    KAFKAJS = auto()


JAVA, LIBRDKAFKA, KAFKA_PYTHON, AIOKAFKA, SARAMA, FRANZ_GO, KAFKAJS = Libraries
# Bytes that no known library writes.
NO_LIBRARY: Final = Libraries(0)
# Nothing is excluded.
ANY_LIBRARY: Final = ~NO_LIBRARY
NAMES: Final = dict(zip(Libraries, ClientLibrary, strict=True))
# Whose rules captures of real members keep true, test by test.
PROVEN: Final = JAVA | LIBRDKAFKA | KAFKA_PYTHON

# Whose leaders write assignments of the version of their subscriptions.
OF_ONE_VERSION: Final = JAVA | KAFKA_PYTHON | AIOKAFKA | KAFKAJS

# Of KafkaJS alone, which has no assignor under a name of Kafka's.
KAFKAJS_ASSIGNOR: Final = "RoundRobinAssigner"


class Assignor(IntEnum):
    RANGE = 0
    ROUNDROBIN = auto()
    STICKY = auto()
    COOPERATIVE = auto()
    STREAMS = auto()
    OF_KAFKAJS = auto()
    OTHER = auto()


ASSIGNORS: Final = {
    "range": Assignor.RANGE,
    "roundrobin": Assignor.ROUNDROBIN,
    "sticky": Assignor.STICKY,
    "cooperative-sticky": Assignor.COOPERATIVE,
    "stream": Assignor.STREAMS,
    KAFKAJS_ASSIGNOR: Assignor.OF_KAFKAJS,
}
PLAIN: Final = (Assignor.RANGE, Assignor.ROUNDROBIN)
OF_LIBRDKAFKA: Final = (*PLAIN, Assignor.COOPERATIVE)


class Data(IntEnum):
    """User data."""

    NULL = 0
    NO_BYTES = auto()
    # An empty list.
    FOUR_ZEROS = auto()
    # A generation.
    FOUR_BYTES = auto()
    # A list that begins with a version number, 1, of two bytes: without one, it would be of 65,536 topics.
    VERSIONED = auto()
    MORE = auto()


class Rack(IntEnum):
    NULL = 0
    EMPTY = auto()
    NAMED = auto()


# -- what each library writes


def subscribers(assignor: Assignor, version: int, data: Data, rack: Rack, has_claims: bool) -> Libraries:
    """Libraries whose members write such a subscription."""
    if assignor == Assignor.STREAMS:
        return JAVA if data == Data.MORE else NO_LIBRARY
    if assignor == Assignor.OF_KAFKAJS:
        return KAFKAJS if version == 0 and data == Data.NO_BYTES else NO_LIBRARY
    match version:
        case 0:
            return subscribers_of_version_0(assignor, data)
        case 1:
            return subscribers_of_version_1(assignor, data, has_claims)
        case 2:
            # No release of Java writes it. Sarama does for brokers since 3.2*.
            return SARAMA
        case 3:
            return subscribers_of_version_3(assignor, data, rack)
    return NO_LIBRARY


def subscribers_of_version_0(assignor: Assignor, data: Data) -> Libraries:
    """Java before 2.4, librdkafka before 1.6*, aiokafka*."""
    if assignor == Assignor.OTHER:
        return ANY_LIBRARY
    if assignor == Assignor.COOPERATIVE:
        return NO_LIBRARY
    match data:
        case Data.NULL:
            # Of releases before they wrote 1 and 3*.
            return SARAMA | FRANZ_GO
        case Data.NO_BYTES:
            return JAVA | KAFKA_PYTHON | AIOKAFKA | (LIBRDKAFKA if assignor in PLAIN else NO_LIBRARY)
        case Data.VERSIONED if assignor == Assignor.STICKY:
            return KAFKA_PYTHON
        case _ if assignor == Assignor.STICKY:
            # kafka-python before 3.0*.
            return JAVA | KAFKA_PYTHON | AIOKAFKA | SARAMA
    return NO_LIBRARY


def subscribers_of_version_1(assignor: Assignor, data: Data, has_claims: bool) -> Libraries:
    """Java 2.4 to 3.3, librdkafka 1.6 to 2.1*, Sarama, and kafka-python for cooperative-sticky."""
    match assignor:
        case Assignor.COOPERATIVE if data == Data.NO_BYTES:
            # librdkafka's member has user data from its first assignment on*.
            return KAFKA_PYTHON if has_claims else KAFKA_PYTHON | LIBRDKAFKA
        case Assignor.COOPERATIVE:
            if data in (Data.FOUR_ZEROS, Data.FOUR_BYTES):
                return JAVA | SARAMA
            return LIBRDKAFKA if data == Data.MORE else NO_LIBRARY
        case Assignor.STICKY:
            return JAVA | SARAMA if data in (Data.NULL, Data.MORE) else NO_LIBRARY
        case Assignor.OTHER:
            return JAVA | SARAMA
    return {Data.NULL: JAVA | SARAMA, Data.NO_BYTES: LIBRDKAFKA}.get(data, NO_LIBRARY)


def subscribers_of_version_3(assignor: Assignor, data: Data, rack: Rack) -> Libraries:
    """Java since 3.4, librdkafka since 2.2, franz-go. Only librdkafka always writes a rack, and never null."""
    if assignor == Assignor.OTHER:
        return JAVA | FRANZ_GO if rack != Rack.EMPTY else NO_LIBRARY
    if assignor in OF_LIBRDKAFKA and data == Data.NO_BYTES:
        return LIBRDKAFKA if rack != Rack.NULL else NO_LIBRARY
    if assignor == Assignor.COOPERATIVE and data == Data.MORE:
        return {Rack.NULL: FRANZ_GO, Rack.EMPTY: LIBRDKAFKA, Rack.NAMED: FRANZ_GO | LIBRDKAFKA}[rack]
    if rack == Rack.EMPTY:
        return NO_LIBRARY
    match assignor, data:
        # A member of Java is in no generation at first, -1; one of franz-go has an empty list.
        case (Assignor.COOPERATIVE, Data.FOUR_BYTES) | (Assignor.STICKY, Data.NULL):
            return JAVA
        case ((Assignor.COOPERATIVE | Assignor.STICKY), Data.FOUR_ZEROS):
            return FRANZ_GO
        case (Assignor.STICKY, Data.MORE) | ((Assignor.RANGE | Assignor.ROUNDROBIN), Data.NULL):
            return JAVA | FRANZ_GO
    return NO_LIBRARY


def assigners(assignor: Assignor, version: int, data: Data, *, is_echo: bool, has_partitions: bool) -> Libraries:
    """Libraries whose leaders write such an assignment. `is_echo`: its user data is that of the member's own
    subscription, which is what librdkafka's leaders write for members of all libraries."""
    if version == 3:
        return JAVA
    if version == 1:
        if data == Data.NO_BYTES and assignor == Assignor.COOPERATIVE:
            return KAFKA_PYTHON
        return JAVA if data == Data.NULL or assignor in (Assignor.STREAMS, Assignor.OTHER) else NO_LIBRARY
    if version != 0:
        return NO_LIBRARY
    if assignor in (Assignor.STREAMS, Assignor.OTHER):
        return ANY_LIBRARY
    found = LIBRDKAFKA if is_echo and assignor in OF_LIBRDKAFKA else NO_LIBRARY
    if data == Data.NO_BYTES:
        if assignor == Assignor.OF_KAFKAJS:
            return KAFKAJS
        # Java before 2.4.
        return found | (NO_LIBRARY if assignor == Assignor.COOPERATIVE else JAVA | KAFKA_PYTHON | AIOKAFKA)
    if assignor == Assignor.STICKY:
        # A leader of Sarama writes what the member must send with its next subscription.
        of_sarama = SARAMA if data == Data.MORE or not has_partitions else NO_LIBRARY
        return found | of_sarama | (FRANZ_GO if data == Data.NULL else NO_LIBRARY)
    return found | (SARAMA | FRANZ_GO if data == Data.NULL else NO_LIBRARY)


# -- the name of a set


class Named(NamedTuple):
    """The library that a member probably uses; both None: it is not known."""

    library: ClientLibrary | None
    confidence: Confidence | None


UNNAMED: Final = Named(None, None)
# Client ids of members whose application chose none. Java's begins with the group.
DEFAULT_CLIENT_IDS: Final = {
    JAVA: r"consumer-\d+|.+-StreamThread-\d+-consumer|connector-consumer-.+-\d+",
    LIBRDKAFKA: r"rdkafka",
    KAFKA_PYTHON: r"kafka-python-\d.*",
    AIOKAFKA: r"aiokafka-\d.*",
    SARAMA: r"sarama",
    FRANZ_GO: r"kgo",
    KAFKAJS: r"kafkajs",
}
DEFAULTS: Final = {library: re.compile(pattern) for library, pattern in DEFAULT_CLIENT_IDS.items()}


def named(libraries: int, group_id: str, client_id: str | None) -> Named:
    left = Libraries(libraries) & ANY_LIBRARY
    by_default = default_of(group_id, client_id)
    if left == ANY_LIBRARY:
        return Named(NAMES[by_default], Confidence.POSSIBLE) if by_default else UNNAMED
    if by_default & left:
        left = by_default
    if left == JAVA | FRANZ_GO:
        # Members of franz-go write the same for range and roundrobin. They are rare beside Kafka's own.
        return Named(ClientLibrary.JAVA, Confidence.POSSIBLE)
    if left not in NAMES:
        return UNNAMED
    return Named(NAMES[left], Confidence.LIKELY if left & PROVEN else Confidence.POSSIBLE)


def default_of(group_id: str, client_id: str | None) -> Libraries:
    """The library whose default the client id is."""
    if client_id is None:
        return NO_LIBRARY
    if client_id.startswith(f"consumer-{group_id}-"):
        return JAVA
    return next((each for each, pattern in DEFAULTS.items() if pattern.fullmatch(client_id)), NO_LIBRARY)


# -- for all members of many values


class LibrarySets(NamedTuple):
    """As numbers. `members`: by what each member wrote itself, for all values one after another. `leaders`: of each
    value, by the assignments and by the leader's own subscription."""

    members: NDArray[np.int64]
    leaders: NDArray[np.int64]
    # Of each member: the value of which it is the leader. Of others -1.
    led: NDArray[np.int64]

    @property
    def as_leaders(self) -> NDArray[np.int64]:
        """By member: the leader's set; of others, nothing is excluded."""
        return np.where(self.led >= 0, self.leaders[self.led], int(ANY_LIBRARY))


# Versions above the highest known one are one.
NUM_VERSIONS: Final = 5
SUBSCRIBERS: Final = np.array(
    [int(subscribers(*each)) for each in product(Assignor, range(NUM_VERSIONS), Data, Rack, (False, True))], np.int64
).reshape(len(Assignor), NUM_VERSIONS, len(Data), len(Rack), 2)
ASSIGNERS: Final = np.array(
    [
        int(assigners(assignor, version, data, is_echo=is_echo, has_partitions=has_partitions))
        for assignor, version, data, is_echo, has_partitions in product(
            Assignor, range(NUM_VERSIONS), Data, (False, True), (False, True)
        )
    ],
    np.int64,
).reshape(len(Assignor), NUM_VERSIONS, len(Data), 2, 2)


def library_sets(read: ClassicColumns) -> LibrarySets:
    if not len(read.items):
        none = np.empty(0, np.int64)
        return LibrarySets(none, np.full(len(read.starts) - 1, int(ANY_LIBRARY), np.int64), none)
    sizes = np.diff(read.starts)
    of_value = np.repeat(np.arange(len(sizes)), sizes)
    assignor = np.array([ASSIGNORS.get(each, Assignor.OTHER) for each in read.column("protocol")], np.int64)[of_value]
    types = np.array([{CONSUMER: 0, CONNECT: 1}.get(each, 2) for each in read.column("protocol_type")])[of_value]
    own, written = read.subscription.field("user_data"), read.assignment.field("user_data")
    versions, written_versions = versions_of(read.subscription), versions_of(read.assignment)
    members = SUBSCRIBERS[assignor, versions, data_of(own), racks_of(read), read.has_claimed.astype(int)]
    members[~read.is_subscription_read | (types != 0)] = int(ANY_LIBRARY)
    # Only its workers have this protocol type.
    members[types == 1] = int(JAVA)
    is_echo = flags(pc.equal(own, written)) | (flags(pc.is_null(own)) & flags(pc.is_null(written)))
    # What cannot be read may be it.
    is_echo |= ~read.is_subscription_read
    entries = ASSIGNERS[
        assignor, written_versions, data_of(written), is_echo.astype(int), read.has_partitions.astype(int)
    ]
    # What the leader wrote itself counts too.
    is_leader = np.array(read.of_member("member_id"), object) == np.array(read.column("leader"), object)[of_value]
    own_version = np.full(len(sizes), NUM_VERSIONS)
    is_read = is_leader & read.is_subscription_read
    own_version[of_value[is_read]] = versions[is_read]
    is_other = (own_version[of_value] < NUM_VERSIONS) & (own_version[of_value] != written_versions)
    entries[is_other] &= int(ANY_LIBRARY & ~OF_ONE_VERSION)
    entries[~read.is_assignment_read | read.is_omitted | (types != 0)] = int(ANY_LIBRARY)
    entries &= np.where(is_leader, members, int(ANY_LIBRARY))
    leaders = np.full(len(sizes), int(ANY_LIBRARY), np.int64)
    filled = np.flatnonzero(sizes)
    leaders[filled] = np.bitwise_and.reduceat(entries, read.starts[filled])
    return LibrarySets(members, leaders, np.where(is_leader, of_value, -1))


def versions_of(payload: pa.StructArray) -> NDArray[np.int64]:
    versions = payload.field("version").fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    return np.where((versions < 0) | (versions >= NUM_VERSIONS), NUM_VERSIONS - 1, versions)


def data_of(user_data: pa.Array) -> NDArray[np.int64]:
    size = pc.binary_length(user_data).fill_null(-1).to_numpy(zero_copy_only=False)
    found = np.full(len(size), int(Data.MORE), np.int64)
    found[size == -1] = Data.NULL
    found[size == 0] = Data.NO_BYTES
    if (size > 0).any():
        found[size == 4] = Data.FOUR_BYTES
        found[flags(pc.equal(user_data, b"\0\0\0\0"))] = Data.FOUR_ZEROS
        found[(size > 4) & flags(pc.starts_with(user_data, b"\0\1"))] = Data.VERSIONED
    return found


def racks_of(read: ClassicColumns) -> NDArray[np.int64]:
    size = pc.binary_length(read.subscription.field("rack_id")).fill_null(-1).to_numpy(zero_copy_only=False)
    return np.select([size == -1, size == 0], [int(Rack.NULL), int(Rack.EMPTY)], int(Rack.NAMED)).astype(np.int64)
