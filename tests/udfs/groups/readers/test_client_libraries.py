"""Libraries by what their members wrote to a broker of 4.3.1: `members_of_libraries.jsonl` has the values of its log as
they are there, and which program was each client. Java's clients are of the jars that its line names, without a
client id of their own but for "mine" and "x"."""

import base64
import itertools
import json
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pytest

from tests.builders.groups.classic_audit_rows import member, sticky_data, synced, table
from tests.builders.groups.classic_log import value
from tests.builders.records.raw_records import as_records
from tests.oracles.log.table_rows import Raw
from tests.runs.group_runs import GroupLog, rows_of_runs
from udfs.decoding.decode import decode
from udfs.groups.readers.classic_columns import ClassicColumns
from udfs.groups.readers.classic_records import classic_records
from udfs.groups.readers.client_libraries import ANY_LIBRARY, FRANZ_GO, JAVA, NAMES, Libraries, library_sets, named
from udfs.log.gaps import Gaps
from udfs.rows.shape import Origin, Shaper
from udfs.topics.partition_codes import TopicCodes

LINES: Final = Path(__file__).with_name("members_of_libraries.jsonl").read_text().splitlines()
GROUPS: Final = {line["group"]: line for line in map(json.loads, LINES)}
# What all records of a client show: first without its client id, then with it. A question mark: no more than possible.
# No client id: several clients of the group have the same.
SHOWN: Final = {
    "j43-range": {"consumer-j43-range-1": ("java", "java")},
    "j43-rr": {"mine": ("java", "java")},
    "j43-sticky": {"consumer-j43-sticky-1": ("java", "java")},
    "j43-coop": {"consumer-j43-coop-1": ("java", "java"), "x": ("java", "java")},
    "o37-range": {"consumer-o37-range-1": ("java", "java")},
    "o37-coop": {"consumer-o37-coop-1": ("java", "java")},
    # Sarama writes version 1 too, but never an assignment of version 1.
    "o33-coop": {"consumer-o33-coop-1": ("java", "java")},
    "o24-range": {"consumer-o24-range-1": ("java", "java")},
    # As kafka-python writes.
    "o23-range": {"consumer-1": (None, "java")},
    "c-range": {"rdkafka": ("librdkafka", "librdkafka")},
    "c-rr": {"mine": ("librdkafka", "librdkafka")},
    "c-coop": {"rdkafka": ("librdkafka", "librdkafka"), "mine": ("librdkafka", "librdkafka")},
    "k-range": {"kafka-python-3.0.12": (None, "kafka-python")},
    "k-rr": {"kafka-python-3.0.12": (None, "kafka-python")},
    "k-sticky": {"kafka-python-3.0.12": ("kafka-python", "kafka-python")},
    "k-coop": {"kafka-python-3.0.12": ("kafka-python", "kafka-python")},
    # No leader: as Java writes.
    "f-range": {"kgo": ("franz-go?", "franz-go?"), "mine": ("java?", "java?")},
    "f-rr": {"kgo": ("franz-go?", "franz-go?")},
    "f-sticky": {"kgo": ("franz-go?", "franz-go?")},
    "f-coop": {"kgo": ("franz-go?", "franz-go?"), "mine": ("franz-go?", "franz-go?")},
    "s-range": {"sarama": ("sarama?", "sarama?"), "mine": (None, None)},
    "s-rr": {"sarama": ("sarama?", "sarama?")},
    "s-sticky": {"sarama": ("sarama?", "sarama?")},
    "js-rr": {"kafkajs": ("kafkajs?", "kafkajs?")},
    "m-cj-coop": {
        "rdkafka": ("librdkafka", "librdkafka"),
        "consumer-m-cj-coop-1": ("java", "java"),
        "kgo": ("franz-go?", "franz-go?"),
    },
    "m-jc-coop": {
        "consumer-m-jc-coop-1": ("java", "java"),
        "rdkafka": ("librdkafka", "librdkafka"),
        "kafka-python-3.0.12": ("kafka-python", "kafka-python"),
    },
    "m-jc": {
        "consumer-m-jc-1": ("java", "java"),
        "rdkafka": ("librdkafka", "librdkafka"),
        "kafka-python-3.0.12": (None, "kafka-python"),
    },
    "m-kc": {
        "kafka-python-3.0.12": (None, "kafka-python"),
        "rdkafka": ("librdkafka", "librdkafka"),
        "consumer-m-kc-1": ("java?", "java"),
    },
    "m-fs": {"kgo": ("franz-go?", "franz-go?"), "sarama": (None, "sarama?"), "consumer-m-fs-1": ("java", "java")},
    "m-sf": {"sarama": ("sarama?", "sarama?"), "kgo": ("java?", "franz-go?"), "rdkafka": ("librdkafka", "librdkafka")},
}
# Groups of which no record excludes all but one library for the leader.
UNSHOWN_LEADERS: Final = {"o23-range", "k-range", "k-rr", "m-kc"}


class Shown(NamedTuple):
    client_id: str
    member_id: str
    generation: int
    is_leader: bool
    # By its own subscription, and by the assignments of its group.
    own: int
    of_leader: int


def decoded_rows(group_id: str) -> pa.Table:
    """Each record in a batch of its own."""
    key = b"\0\2" + len(group_id).to_bytes(2, "big") + group_id.encode()
    values = map(base64.b64decode, GROUPS[group_id]["values"])
    raws = [Raw(offset, key, value, 10**12 + offset, batch_first_offset=offset) for offset, value in enumerate(values)]
    records = as_records(raws)
    decoded = decode(records.keys, records.values, records.is_control)
    return Shaper().tables(records, decoded, Origin("c1", 7, "r1"))["classic_group_metadata"]


@cache
def shown(group_id: str) -> list[Shown]:
    found = decoded_rows(group_id)
    sets, places, rows = library_sets(ClassicColumns(found)), itertools.count(), found.to_pylist()
    return [
        Shown(member["client_id"], member["member_id"], row["generation"], member["member_id"] == row["leader"],
              int(sets.members[next(places)]), int(of_leader))
        for row, of_leader in zip(rows, sets.leaders, strict=True)
        for member in row["members"]
    ]  # fmt: skip


def text(libraries: int, group_id: str, client_id: str | None) -> str | None:
    library, confidence = named(libraries, group_id, client_id)
    return None if library is None else library.value + {"likely": "", "possible": "?"}[str(confidence)]


def of_client(group_id: str, client_id: str) -> int:
    """By all that all its records show."""
    members = {each.member_id for each in shown(group_id) if each.client_id == client_id}
    return int(np.bitwise_and.reduce([of_member(group_id, each) for each in members]))


def of_member(group_id: str, member_id: str) -> int:
    sets = [
        each.own & (each.of_leader if each.is_leader else int(ANY_LIBRARY))
        for each in shown(group_id)
        if each.member_id == member_id
    ]
    return int(np.bitwise_and.reduce(sets))


@pytest.mark.parametrize("group_id", GROUPS)
def test_no_record_excludes_the_library_that_wrote_it(group_id: str) -> None:
    clients = GROUPS[group_id]["clients"]
    for each in shown(group_id):
        right = next(bit for bit, name in NAMES.items() if clients[each.client_id].startswith(name.value))
        assert Libraries(each.own) & right, each
        if each.is_leader:
            assert Libraries(each.of_leader) & right, each


@pytest.mark.parametrize("group_id", GROUPS)
def test_records_of_a_client_show_its_library(group_id: str) -> None:
    assert {
        client: (text(found := of_client(group_id, client), group_id, None), text(found, group_id, client))
        for client in GROUPS[group_id]["clients"]
    } == SHOWN[group_id]


@pytest.mark.parametrize("group_id", sorted(GROUPS.keys() - UNSHOWN_LEADERS))
def test_each_generation_shows_its_leaders_library(group_id: str) -> None:
    """Also after one library took over from another."""
    clients = GROUPS[group_id]["clients"]
    for each in shown(group_id):
        if each.is_leader and not (group_id == "k-sticky" and each.generation == 1):
            assert (text(each.of_leader, group_id, None) or "").rstrip("?") == clients[each.client_id].split()[0], each


@pytest.mark.parametrize("group_id", GROUPS)
def test_a_stay_has_what_all_its_records_show_however_many_runs_read_them(group_id: str) -> None:
    topics = TopicCodes()
    records = classic_records(decoded_rows(group_id), topics)
    log = GroupLog(records, Gaps(), (), False, [record.offset for _, record in records], topics)
    in_one = rows_of_runs(log, ())
    stays = [dict(row[2:]) for row in in_one if row[0] == "membership_intervals"]
    assert rows_of_runs(log, log.ends) == in_one
    assert {(stay["member_id"], stay["client_library"], stay["client_library_confidence"]) for stay in stays} == {
        (each.member_id, *named(of_member(group_id, each.member_id), group_id, each.client_id))
        for each in shown(group_id)
    }


class Written(NamedTuple):
    """By the only member of a group, which so is its leader. `data`, `of_assignment`: user data."""

    assignor: str
    version: int
    data: bytes | None
    assignment_version: int
    of_assignment: bytes | None
    rack: str | None = None
    owned: str = ""


def of_only_member(written: Written) -> tuple[int, int]:
    """What its subscription shows, and what its assignment shows with it."""
    row = member("m", "a0", written.owned, topics="a", version=written.version, rack=written.rack,
                 user_data=written.data)  # fmt: skip
    row["assignment"] |= {"version": written.assignment_version, "user_data": written.of_assignment}
    sets = library_sets(ClassicColumns(table([value(1, 1, 1, [row], protocol=written.assignor)])))
    return int(sets.members[0]), int(sets.leaders[0])


LIST: Final = sticky_data("a0", 1)
NO_LIST: Final = bytes(4)


# Sets of libraries, as first letters: java, librdkafka, kafka-Python, aiokafka, sarama, franz-go, KafkaJS.
LETTERS: Final = dict(zip("JLPASFK", Libraries, strict=True))


def letters(libraries: int) -> str:
    return "any" if libraries == int(ANY_LIBRARY) else "".join(each for each, bit in LETTERS.items() if libraries & bit)


@pytest.mark.parametrize(
    ("written", "own", "as_leader"),
    [
        # Sarama by the release of brokers that its settings name, and franz-go's first releases.
        (Written("range", 0, None, 0, None), "SF", "SF"),
        (Written("roundrobin", 2, None, 0, None), "S", "S"),
        (Written("cooperative-sticky", 1, synced(3), 0, None), "JS", "S"),
        (Written("cooperative-sticky", 2, synced(3), 0, None), "S", "S"),
        (Written("sticky", 1, LIST, 0, LIST), "JS", "S"),
        # With a rack, librdkafka and franz-go write the same.
        (Written("cooperative-sticky", 3, LIST, 0, None, "r"), "LF", "F"),
        (Written("cooperative-sticky", 3, LIST, 0, LIST, "r"), "LF", "L"),
        (Written("range", 3, None, 0, None, "r"), "JF", "F"),
        (Written("range", 3, b"", 0, b"", "r"), "L", "L"),
        (Written("sticky", 3, NO_LIST, 0, None, "r"), "F", "F"),
        # librdkafka before 2.2 and before 1.6, kafka-python and aiokafka.
        (Written("range", 1, b"", 0, b""), "L", "L"),
        (Written("range", 0, b"", 0, b""), "JLPA", "JLPA"),
        (Written("cooperative-sticky", 1, b"", 0, b""), "LP", "L"),
        (Written("cooperative-sticky", 1, b"", 1, b""), "LP", "P"),
        (Written("cooperative-sticky", 1, b"", 1, b"", owned="a0"), "P", "P"),
        (Written("cooperative-sticky", 1, LIST, 0, LIST), "L", "L"),
        (Written("sticky", 0, b"", 0, b""), "JPA", "JPA"),
        (Written("sticky", 0, LIST, 0, b""), "JPAS", "JPA"),
        (Written("sticky", 0, b"\0\1" + LIST, 0, b""), "P", "P"),
        (Written("RoundRobinAssigner", 0, b"", 0, b""), "K", "K"),
        # Kafka's client beside Sarama.
        (Written("range", 1, None, 1, None), "JS", "J"),
        (Written("sticky", 1, LIST, 1, None), "JS", "J"),
        (Written("cooperative-sticky", 1, synced(3), 1, None), "JS", "J"),
        (Written("cooperative-sticky", 1, NO_LIST, 1, None), "JS", "J"),
        # Kafka Streams, and assignors of an application.
        (Written("stream", 3, b"\0\0\0\x0b" * 2, 3, b"\0\0\0\x0b"), "J", "J"),
        (Written("stream", 1, b"\0\0\0\5" * 2, 1, b"\0\0\0\5"), "J", "J"),
        (Written("stream", 0, b"\0\0\0\3" * 2, 0, b"\0\0\0\3"), "J", "J"),
        (Written("house", 3, b"x", 3, b"y"), "JF", "J"),
        (Written("house", 3, b"x", 0, b"y", "r"), "JF", "F"),
        (Written("house", 1, b"x", 1, b"y"), "JS", "J"),
        (Written("house", 0, b"x", 0, b"y"), "any", "any"),
        # Each differs in one thing from what a known library writes.
        (Written("stream", 3, None, 3, b"x"), "", ""),
        (Written("range", 3, b"", 3, None), "", ""),
        (Written("range", 3, None, 3, None, ""), "", ""),
        (Written("house", 3, None, 3, None, ""), "", ""),
        (Written("range", 3, b"x", 3, None), "", ""),
        (Written("range", 1, b"x", 1, None), "", ""),
        (Written("sticky", 1, b"", 1, None), "", ""),
        (Written("range", 0, b"x", 0, b""), "", ""),
        (Written("cooperative-sticky", 1, None, 1, None), "", ""),
        (Written("cooperative-sticky", 0, b"", 0, b""), "", ""),
        (Written("RoundRobinAssigner", 0, None, 0, b""), "", ""),
        (Written("range", 4, None, 3, None), "", ""),
        # Only the assignment does.
        (Written("range", 3, None, 4, None), "JF", ""),
        (Written("range", 3, None, 2, None), "JF", ""),
        (Written("range", 1, None, 1, b""), "JS", ""),
        (Written("range", 1, b"", 1, b""), "L", ""),
        (Written("range", 3, None, 0, b""), "JF", ""),
        (Written("range", 3, b"", 0, None, ""), "L", ""),
        (Written("cooperative-sticky", 1, synced(3), 0, b""), "JS", ""),
        (Written("cooperative-sticky", 1, b"", 0, None), "LP", ""),
        (Written("sticky", 1, LIST, 0, None), "JS", ""),
        (Written("sticky", 3, NO_LIST, 0, LIST), "F", ""),
    ],
)
def test_what_no_client_of_the_capture_wrote_shows_libraries_too(written: Written, own: str, as_leader: str) -> None:
    assert tuple(map(letters, of_only_member(written))) == (own, as_leader)


def test_a_payload_that_cannot_be_read_excludes_nothing() -> None:
    row = member("m", None, topics="a", is_read=False)
    sets = library_sets(ClassicColumns(table([value(1, 1, 1, [row]), value(2, 2, 2, [])])))
    assert [*sets.members.tolist(), *sets.leaders.tolist()] == [int(ANY_LIBRARY)] * 3


def test_a_leader_may_have_repeated_user_data_that_cannot_be_read() -> None:
    leader, unread = member("l", "a0", topics="a", rack="", user_data=b""), member("m", "a1", is_read=False)
    leader["assignment"] |= {"version": 0, "user_data": b""}
    unread["assignment"] = {"version": 0, "partitions": [], "user_data": b"x"}
    sets = library_sets(ClassicColumns(table([value(1, 1, 1, [leader, unread])])))
    assert letters(int(sets.leaders[0])) == "L"


def test_workers_of_connect_use_kafkas_client() -> None:
    row = member("m", None, topics="a", is_read=False)
    sets = library_sets(ClassicColumns(table([value(1, 1, 1, [row], protocol="sessioned", protocol_type="connect")])))
    assert text(int(sets.members[0]), "g", "connect-1") == "java"


@pytest.mark.parametrize(
    ("client_id", "library"),
    [
        ("consumer-g-1", "java?"), ("consumer-g-static", "java?"), ("consumer-7", "java?"), ("consumer-h-1", None),
        ("app-1b2c-StreamThread-1-consumer", "java?"), ("connector-consumer-sink-0", "java?"),
        ("rdkafka", "librdkafka?"), ("rdkafka-1", None), ("kafka-python-3.0.12", "kafka-python?"),
        ("kafka-python-orders", None), ("aiokafka-0.11.0", "aiokafka?"), ("sarama", "sarama?"), ("kgo", "franz-go?"),
        ("kafkajs", "kafkajs?"), ("orders", None), (None, None),
    ],
)  # fmt: skip
def test_a_default_client_id_alone_makes_a_library_possible(client_id: str | None, library: str | None) -> None:
    assert text(int(ANY_LIBRARY), "g", client_id) == library


def test_a_client_id_counts_only_beside_bytes_that_do_not_exclude_its_library() -> None:
    of_java, none = int(JAVA | FRANZ_GO), 0
    assert text(of_java, "g", "rdkafka") == "java?"
    assert text(of_java, "g", "kgo") == "franz-go?"
    assert text(of_java, "g", "consumer-g-1") == "java"
    assert text(none, "g", "kgo") is None
