"""The commands that read the history, over tables made by hand: rows at the edges of intervals, what is missing, and
the one line that says why there is no answer. That they say what Kafka's tool says: tests/kafka/histories."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jobs import cli
from jobs.warehouses.warehouse import Warehouse
from tests.builders.tables.history import at, coverage, interval, rebalance
from tests.builders.warehouses.by_hand import make

GROUP = {"group_id": "billing"}
ONE = {"member_id": "one", "client_id": "c1", "client_host": "/10.0.0.1"}
TWO = {"member_id": "two", "client_id": "c2", "client_host": "/10.0.0.2", "group_instance_id": "second"}
STATE = {**GROUP, "protocol_type": "consumer", "num_members": 0}
MODERN = {"group_id": "modern", "group_type": "consumer"}
STREAMS = {"group_id": "words", "group_type": "streams"}
OWNED = {**GROUP, "topic": "orders", "phase": "assigned"}
PAYLOAD = {"version": 3, "owned_partitions": [], "generation_id": 1, "rack_id": None, "user_data": None}
SUBSCRIBED = {
    "rebalance_timeout_ms": 300_000,
    "session_timeout_ms": 45_000,
    "subscription": {**PAYLOAD, "topics": ["orders"]},
    "assignment": None,
    "subscription_bytes": b"",
    "assignment_bytes": b"",
    "payload_json": None,
}
COMMIT = {**GROUP, "topic": "orders", "via": "plain", "num_commits": 1}


def subtopology(number: str, sources: list[str], repartitioned: list[str]) -> dict[str, Any]:
    topics = [{"name": name, "partitions": 0, "replication_factor": -1, "topic_configs": []} for name in repartitioned]
    nothing = ("source_topic_regex", "state_changelog_topics", "repartition_sink_topics", "copartition_groups")
    return {"subtopology_id": number, "source_topics": sources, "repartition_source_topics": topics} | {
        name: [] for name in nothing
    }


ROWS: dict[str, list[dict[str, Any]]] = {
    # Empty, one member, two members after a rebalance, deleted, then there again behind a hole.
    "group_state_intervals": [
        {**interval(0, 10, 0), **STATE, "state": "Empty", "generation_or_epoch": 0},
        {**interval(10, 40, 2), **STATE, "state": "Stable", "generation_or_epoch": 1, "assignor": "range"}
        | {"num_members": 1},
        {**interval(40, 41, 9), **STATE, "state": "CompletingRebalance", "generation_or_epoch": 2, "num_members": 2},
        {**interval(41, 60, 9), **STATE, "state": "Stable", "generation_or_epoch": 2, "assignor": "range"}
        | {"num_members": 2},
        {**interval(60, 70, 14, "deleted"), **STATE, "state": "Empty", "generation_or_epoch": 3},
        {**interval(80, 90, 20, "coverage_hole"), **STATE, "state": "Empty", "generation_or_epoch": 0},
        {**interval(99, None, 50), **STATE, "state": "Empty", "generation_or_epoch": 5},
        {**interval(0, None, 1), "group_id": "offsets alone", "state": "Empty", "num_members": 0},
        {**interval(50, None, 10), **MODERN, "state": "Stable", "generation_or_epoch": 7, "num_members": 2},
        {**interval(62, 66, 30, "deleted"), **STREAMS, "state": "Stable", "generation_or_epoch": 3, "num_members": 1},
        {**interval(50, None, 11), "group_id": "connect", "state": "Empty", "protocol_type": "connect"}
        | {"num_members": 0},
    ],
    "membership_intervals": [
        {**interval(10, 60, 2, "left_or_timed_out"), **GROUP, **ONE, "leave_kind": "left_or_timed_out"},
        {**interval(41, 60, 9, "left_or_timed_out"), **GROUP, **TWO, "leave_kind": "left_or_timed_out"},
        {**interval(50, None, 10), **MODERN, **ONE, "group_type": "consumer"},
        {**interval(50, None, 10), **MODERN, "member_id": "old", "group_type": "consumer"},
        {**interval(62, 66, 30, "group_deleted"), **STREAMS, **ONE},
        # Of records without times, and over.
        {**interval(0, 1, 2), **GROUP, "member_id": "timeless", "from_time": None, "to_time": None},
    ],
    "ownership_intervals": [
        *({**interval(10, 60, 2, "revoked"), **OWNED, **ONE, "partition": p} for p in (0, 2)),
        {**interval(10, 41, 2, "reassigned"), **OWNED, **ONE, "partition": 1},
        {**interval(41, 60, 9, "revoked"), **OWNED, **TWO, "partition": 1},
        {**interval(41, 60, 9, "revoked"), **OWNED, **ONE, "partition": 5, "phase": "revoking"},
        {**interval(50, None, 10), **MODERN, **ONE, "topic": "orders", "partition": 1, "phase": "assigned"},
        {**interval(50, None, 10), **MODERN, **ONE, "topic": "refunds", "partition": 3, "phase": "held"},
        {**interval(50, None, 10), **MODERN, **ONE, "topic": "orders", "partition": 4, "phase": "revoking"},
        {**interval(50, None, 10), **MODERN, **ONE, "topic": "orders", "partition": 5, "phase": "assigned"}
        | {"role": "standby"},
        {**interval(50, None, 10), **MODERN, "member_id": "old", "topic": "orders", "partition": 0}
        | {"phase": "assigned"},
    ],
    "offset_history": [
        {**interval(12, 45, 3, "commit"), **COMMIT, "partition": 0, "committed_offset": 100, "leader_epoch": 4},
        {**interval(45, 70, 12, "deleted"), **COMMIT, "partition": 0, "committed_offset": 90},
        {**interval(13, 70, 4, "deleted"), **COMMIT, "partition": 1, "committed_offset": -1, "topic_id": "new"},
        {**interval(14, 70, 5, "deleted"), **COMMIT, "partition": 7, "committed_offset": 7, "topic_id": "new"},
        {**interval(31, None, 7), **COMMIT, "group_id": "connect", "partition": 1, "committed_offset": 200},
        {**interval(10, None, 2), **COMMIT, "group_id": "connect", "partition": 2, "committed_offset": 130},
        {**interval(5, None, 1), **COMMIT, "group_id": "offsets alone", "partition": 0, "committed_offset": 1},
        {**interval(55, None, 12), **COMMIT, **MODERN, "partition": 0, "committed_offset": 5},
        {**interval(65, None, 13), **COMMIT, **MODERN, "partition": 3, "committed_offset": 1},
    ],
    "rebalances": [
        rebalance("billing", 2, 9, 10, from_generation=None, trigger="group_created", members_joined=["one"]),
        rebalance("billing", 9, 40, 41, from_generation=1, to_generation=2, members_joined=["two"], num_moved=1)
        | {"trigger_detail": "member two (10.0.0.2) joined"}
        | {"num_partitions": 3, "stopped_partition_ms": 1000, "leader_after": "two", "mode": "eager"},
    ],
    "classic_group_metadata": [
        {**GROUP, "offsets_partition": 3, "record_offset": 9, "record_time": at(41), "generation": 2}
        | {"members": [{**ONE, "group_instance_id": None, **SUBSCRIBED}, {**TWO, **SUBSCRIBED}]}
    ],
    "generation_members": [
        {**GROUP, "group_type": "classic", "assignment_offset": offset, "member_id": member, "change": "joined"}
        | {"assigned": [{"topic": "orders", "topic_id": None, "partitions": partitions}]}
        for offset, member, partitions in ((2, "one", [2, 0, 1]), (2, "gone", [3]), (9, "one", [0, 2]))
    ],
    "partition_moves": [
        {**GROUP, "group_type": "classic", "assignment_offset": 9, "topic": "orders", "partition": 1, "kind": "moved"}
        | {"from_member_id": "one", "to_member_id": "two", "idle_ms": 1000, "commit_gap_ms": 32000},
        {**GROUP, "group_type": "classic", "assignment_offset": 9, "topic": "orders", "partition": 0, "kind": "lost"}
        | {"from_member_id": "one", "to_member_id": "one"},
    ],
    "history_coverage": [coverage(0, 30, 0, 90), coverage(50, 60, 99, 100)],
    "topic_snapshots": [
        *({"captured_time": at(15), "topic": "orders", "partition": p, "log_end_offset": 120 + p} for p in range(4)),
        *({"captured_time": at(30), "topic": "orders", "partition": p, "log_end_offset": 130 + p} for p in (0, 1)),
        {"captured_time": at(30), "topic": "orders", "partition": 7, "log_end_offset": 9, "topic_id": "old"},
        {"captured_time": at(55), "topic": "orders", "partition": 0, "log_end_offset": 999},
    ],
    "cluster_snapshots": [
        {"captured_time": at(second), "offsets_partitions": [{"partition": 3, "leader": broker}]}
        | {"brokers": [{"id": broker, "host": f"host-{broker}", "port": 9092, "rack": None}]}
        for second, broker in ((15, 1), (42, 2))
    ],
    "target_assignment_metadata": [
        {
            **MODERN,
            "offsets_partition": 3,
            "record_offset": offset,
            "record_time": at(second),
            "assignment_epoch": epoch,
        }
        for offset, second, epoch in ((11, 50, 6), (12, 51, 7), (13, 99.5, 8))
    ]
    + [  # Of another kind of group that had the name.
        {**MODERN, "offsets_partition": 3, "record_offset": 12, "record_time": at(52), "assignment_epoch": 99}
        | {"group_type": "share"},
    ],
    "current_member_assignments": [
        {**MODERN, "offsets_partition": 3, "record_offset": 12, "record_time": at(51), **ONE, "member_epoch": 7},
    ],
    "target_assignment_members": [
        {**MODERN, "offsets_partition": 3, "record_offset": 11, "record_time": at(50), "member_id": "one"}
        | {"topic_partitions": [{"topic_id": "id-1", "partitions": [2, 1]}, {"topic_id": "id-2", "partitions": [0]}]},
        {**STREAMS, "offsets_partition": 3, "record_offset": 31, "record_time": at(62), "member_id": "one"}
        | {"active_tasks": [{"subtopology_id": "0", "partitions": [1, 0]}, {"subtopology_id": "1", "partitions": [2]}]}
        | {"standby_tasks": [{"subtopology_id": "1", "partitions": [3]}]},
    ],
    "streams_group_topologies": [
        {"group_id": "words", "offsets_partition": 3, "record_offset": offset, "record_time": at(second)}
        | {"subtopologies": [subtopology("0", [source], []), subtopology("1", [], ["words-by-key"])]}
        for offset, second, source in ((29, 61, "before"), (30, 62, "text"), (33, 65, "later"))
    ],
    "group_member_metadata": [
        {**MODERN, "offsets_partition": 3, "record_offset": 9, "record_time": at(50), **ONE},
        {**MODERN, "offsets_partition": 3, "record_offset": 10, "record_time": at(50), "member_id": "old"}
        | {"classic_member": {"session_timeout_ms": 1, "supported_protocols": []}},
    ],
    "topics": [{"topic": "orders", "topic_id": "id-1", "source": "snapshot", "is_open": True}],
}


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    return make(tmp_path_factory.mktemp("history") / "warehouse", ROWS)


Ask = Callable[..., tuple[int, str, str]]


@pytest.fixture
def ask(warehouse: Warehouse, capfd: pytest.CaptureFixture[str]) -> Ask:
    def asked(*words: str) -> tuple[int, str, str]:
        code = cli.main([*words, "--warehouse", str(warehouse.root)])
        done = capfd.readouterr()
        return code, done.out, done.err

    return asked


def second(number: float) -> str:
    return at(number).isoformat()


def rows(ask: Ask, *words: str) -> list[list[str]]:
    code, out, _ = ask(*words, "--format", "csv")
    assert code == 0
    return list(csv.reader(io.StringIO(out)))


def test_groups_are_those_of_the_instant_by_name(ask: Ask) -> None:
    header = ["GROUP", "TYPE", "STATE", "PROTOCOL"]
    assert rows(ask, "groups", "--at", second(41)) == [
        header,
        ["billing", "Classic", "Stable", "consumer"],
        ["offsets alone", "Classic", "Empty", ""],
    ]
    # Deleted at second 70: no longer there at that very moment.
    assert [row[0] for row in rows(ask, "groups", "--at", second(70))] == [
        "GROUP",
        "connect",
        "modern",
        "offsets alone",
    ]
    for kind, state in (("consumer", "Stable"), ("Consumer", "STABLE")):
        assert rows(ask, "groups", "--type", kind, "--state", state) == [
            header,
            ["modern", "Consumer", "Stable", "consumer"],
        ]


def test_offsets_stand_as_kafka_orders_them_members_of_most_partitions_first(ask: Ask) -> None:
    found = rows(ask, "describe", "billing", "--at", second(42))
    names = ["GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CONSUMER-ID", "HOST"]
    # Programs are told by how old a snapshot it is; tables have the columns of Kafka's tool.
    assert found[0] == [*names, "CLIENT-ID", "SNAPSHOT-TIME"]
    assert [row.pop() for row in found[1:]] == [
        "2026-11-21T03:00:30.000Z",
        "2026-11-21T03:00:15.000Z",
        "2026-11-21T03:00:30.000Z",
        "",
    ]
    wide = ask("describe", "billing", "--wide", "--at", second(42))[1]
    assert wide.splitlines()[0].split() == [*names, "CLIENT-ID"]
    assert found[1:] == [
        ["billing", "orders", "0", "100", "130", "30", "one", "/10.0.0.1", "c1"],
        # Of the snapshot before, since the nearest has not this partition; never committed.
        ["billing", "orders", "2", "", "122", "", "one", "/10.0.0.1", "c1"],
        # Committed as -1, of which the tool shows nothing.
        ["billing", "orders", "1", "", "131", "", "two", "/10.0.0.2", "c2"],
        # Nobody's, and of another topic than the snapshot's.
        ["billing", "orders", "7", "7", "", "", "", "", ""],
    ]
    verbose = rows(ask, "describe", "billing", "--verbose", "--at", second(42))
    assert [row[3:5] for row in verbose[:3]] == [["LEADER-EPOCH", "CURRENT-OFFSET"], ["4", "100"], ["", ""]]


def test_a_table_has_hyphens_as_kafka_prints_them_and_says_whose_end_offsets_they_are(ask: Ask) -> None:
    code, out, err = ask("describe", "billing", "--at", second(42))
    assert code == 0
    assert out.splitlines()[-1].split() == ["orders", "7", "7", "-", "-", "-", "-", "-"]
    code, wide, _ = ask("describe", "billing", "--wide", "--at", second(42))
    assert wide.splitlines()[-1].split() == ["billing", "orders", "7", "7", "-", "-", "-", "-", "-"]
    assert err == (
        "groupscope: LOG-END-OFFSET and LAG use end offsets of 2026-11-21T03:00:30.000Z, the newest snapshot "
        "before 2026-11-21T03:00:42.000Z\n"
    )


def test_while_a_classic_group_rebalances_kafka_tells_the_assignments_before(ask: Ask) -> None:
    found = rows(ask, "describe", "billing", "--at", second(40.5))
    assert [row[2:3] + row[6:9] for row in found[1:]] == [
        *([partition, "one", "/10.0.0.1", "c1"] for partition in ("0", "1", "2")),
        ["7", "", "", ""],
    ]
    assert [row[-1] for row in rows(ask, "describe", "billing", "--members", "--at", second(40.5))] == [
        "#PARTITIONS",
        "3",
    ]
    assert "Warning: Consumer group 'billing' is rebalancing." in ask("describe", "billing", "--at", second(40.5))[2]


def test_a_lag_is_unknown_where_the_group_has_read_on_since_the_snapshot(ask: Ask) -> None:
    found = rows(ask, "describe", "connect", "--at", second(60))
    # The other was beyond the end when the snapshot was taken: Kafka's tool says so too.
    assert [row[3:6] for row in found[1:]] == [["200", "131", ""], ["130", "122", "-8"]]


def test_members_have_a_column_for_instances_only_where_one_is_static(ask: Ask) -> None:
    assert rows(ask, "describe", "billing", "--members", "--at", second(20)) == [
        ["GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS"],
        ["billing", "one", "/10.0.0.1", "c1", "3"],
    ]
    # What is being revoked does not count.
    assert rows(ask, "describe", "billing", "--members", "--at", second(41)) == [
        ["GROUP", "CONSUMER-ID", "GROUP-INSTANCE-ID", "HOST", "CLIENT-ID", "#PARTITIONS"],
        ["billing", "one", "", "/10.0.0.1", "c1", "2"],
        ["billing", "two", "second", "/10.0.0.2", "c2", "1"],
    ]


def test_members_of_a_consumer_group_have_epochs_and_targets_of_the_instant(ask: Ask) -> None:
    header, old, one = rows(ask, "describe", "modern", "--members", "--verbose", "--at", second(60))
    assert header[5:] == ["CURRENT-EPOCH", "CURRENT-ASSIGNMENT", "TARGET-EPOCH", "TARGET-ASSIGNMENT", "UPGRADED"]
    # A topic whose name nobody knows stands with its id; what is held or being given up is still the member's own.
    assert one[4:] == ["3", "7", "orders:1,4;refunds:3", "7", "id-2:0;orders:1,2", "true"]
    assert old[4:] == ["1", "", "orders:0", "7", "", "false"]
    by_number = rows(ask, "describe", "modern", "--at", second(60))
    assert [row[6] for row in by_number[1:]] == ["one", "one", "one", "old"]


def test_targets_of_a_streams_group_are_what_its_active_tasks_read(ask: Ask) -> None:
    row = rows(ask, "describe", "words", "--members", "--verbose", "--at", second(64))[1]
    assert row[-1] == "text:0,1;words-by-key:2"


def test_the_state_has_coordinator_and_assignor_as_kafka_writes_them(ask: Ask) -> None:
    names = ["GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE", "#MEMBERS"]
    assert rows(ask, "describe", "billing", "--state", "--at", second(41)) == [
        names,
        ["billing", "host-1:9092  (1)", "range", "Stable", "2"],
    ]
    assert rows(ask, "describe", "billing", "--state", "--at", second(14))[1][1] == ""
    verbose = rows(ask, "describe", "modern", "--state", "--verbose", "--at", second(60))
    assert verbose[0][4:] == ["GROUP-EPOCH", "TARGET-ASSIGNMENT-EPOCH", "#MEMBERS"]
    # No record names an assignor: the broker's default.
    assert verbose[1][1:] == ["host-2:9092  (2)", "uniform", "Stable", "7", "7", "2"]


def test_offsets_are_the_csv_that_a_reset_takes(ask: Ask) -> None:
    assert ask("offsets", "billing", "--at", second(44.999)) == (
        0,
        "orders,0,100\norders,1,-1\norders,7,7\n",
        "groupscope: orders-1 at -1: is negative, as the group committed it; kafka-consumer-groups sets the "
        "earliest offset instead\n",
    )
    assert ask("offsets", "billing", "--at", second(45))[1].splitlines()[0] == "orders,0,90"
    code, out, err = ask("offsets", "billing", "--at", second(85))
    assert (code, out) == (0, "")
    assert err.endswith("group billing had no committed offset at 2026-11-21T03:01:25.000Z\n")
    assert rows(ask, "offsets", "offsets alone") == [["orders", "0", "1"]]
    as_json = ask("offsets", "offsets alone", "--format", "json")[1]
    assert json.loads(as_json) == {"topic": "orders", "partition": 0, "offset": 1}


def test_the_owner_is_told_for_each_group(ask: Ask) -> None:
    def owners(*words: str) -> list[tuple[str, str]]:
        lines = ask("owner", *words, "--format", "json")[1].splitlines()
        return [(row["group_id"], row["member_id"]) for row in map(json.loads, lines)]

    assert owners("orders", "1", "--at", second(40)) == [("billing", "one")]
    assert owners("orders", "1", "--at", second(55)) == [("billing", "two"), ("modern", "one")]
    # Known, and nobody's then.
    code, out, err = ask("owner", "orders", "0", "--at", second(5), "--format", "csv")
    assert (code, out.count("\n")) == (0, 1)
    assert "orders-0 had no owner in any group" in err


def test_two_instants_differ_by_what_changed(ask: Ask) -> None:
    found = rows(ask, "diff", "billing", "--from", second(39), "--to", second(50))
    assert found == [
        ["what", "member_id", "topic", "partition", "before", "after", "delta"],
        ["generation_or_epoch", "", "", "", "1", "2", ""],
        ["num_members", "", "", "", "1", "2", ""],
        ["member", "two", "", "", "", "c2@/10.0.0.2", ""],
        ["owner", "", "orders", "1", "one", "two", ""],
        ["owner", "", "orders", "5", "", "one revoking", ""],
        ["offset", "", "orders", "0", "100", "90", "-10"],
    ]
    assert rows(ask, "diff", "billing", "--from", second(20), "--to", second(20)) == found[:1]


def test_why_shows_the_rebalance_that_covers_the_time_with_the_events_around_it(ask: Ask) -> None:
    code, out, _ = ask("why", "billing", "--at", second(40.2))
    lines = [line.split(maxsplit=1) for line in out.splitlines()]
    assert code == 0
    assert lines[0] == ["Group", "billing (classic)"]
    assert lines[1][0] == "Story"
    assert lines[1][1].startswith("03:00:40 member two (10.0.0.2) joined; 1 of 3 partitions moved")
    facts = lines.index(["Rebalance", "generation 1 to 2, completed"])
    assert lines[facts : facts + 3] == [
        ["Rebalance", "generation 1 to 2, completed"],
        ["Trigger", "member_joined (certain): member two (10.0.0.2) joined"],
        ["Time", "from 2026-11-21T03:00:40.000Z or earlier to 2026-11-21T03:00:41.000Z: at least 1.0 s"],
    ]
    assert "two (client c2, host /10.0.0.2, instance second)" in out
    assert "orders-1 moved: from one to two, unowned for 1.0 s; commits before and after are 32.0 s apart" in out
    assert "orders-0 lost: one came back and was assigned it again\n" in out
    assert "Evidence     __consumer_offsets-3, record 9\n" in out
    assert ["Before", "2026-11-21T03:00:09.000Z rebalance to generation 1, group_created"] in lines
    assert ["After", "2026-11-21T03:01:10.000Z deletion: was Empty at generation 3"] in lines
    table = rows(ask, "why", "billing", "--at", second(51))
    assert dict(zip(*table, strict=True))["to_generation"] == "2"


@pytest.mark.parametrize(
    ("seconds", "generation", "words"),
    [
        # Before the first one there was: an answer in the future beats none.
        (1, 1, "; began 8.0 s after 2026-11-21T03:00:01.000Z"),
        (39.9, 2, "; began 100 ms after 2026-11-21T03:00:39.900Z"),
        (40, 2, "1.0 s\n"),
        (41, 2, "1.0 s\n"),
        (46, 2, "; ended 5.0 s before 2026-11-21T03:00:46.000Z"),
    ],
)
def test_why_shows_the_nearest_event_in_either_direction(ask: Ask, seconds: float, generation: int, words: str) -> None:
    out = ask("why", "billing", "--at", second(seconds))[1]
    assert f" to {generation}, completed" in out
    assert words in next(line + "\n" for line in out.splitlines() if line.startswith("Time"))


def test_members_have_the_fields_of_their_type(ask: Ask) -> None:
    told = json.loads(ask("why", "billing", "--at", second(40.2), "--format", "json")[1])
    (member,) = told["members"]
    assert {name: member[name] for name in ("generation", "session_timeout_ms", "subscribed_topics")} == {
        "generation": 2,
        "session_timeout_ms": 45_000,
        "subscribed_topics": ["orders"],
    }
    assert "member_epoch" not in member


def test_offsets_warn_of_what_a_reset_leaves_and_of_members_that_it_waits_for(ask: Ask) -> None:
    code, out, err = ask("offsets", "connect", "--at", second(60))
    assert (code, err) == (0, "")
    _, out, err = ask("offsets", "modern", "--at", second(60))
    assert out == "orders,0,5\n"
    assert (
        "orders-3: no offset was committed at 2026-11-21T03:01:00.000Z, later ones are committed. A reset by this "
        "CSV keeps" in err
    )
    assert "group modern has 2 active members at 2026-11-21T03:01:40.000Z. Kafka refuses a reset" in err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["describe", "biling"],
            'no group "biling"; did you mean "billing"? '
            "(5 groups: groupscope groups lists the 4 at the end of the data)",
        ),
        (
            ["describe", "billing", "--at", second(75)],
            "group billing at 2026-11-21T03:01:15.000Z: it did not exist any more; it was deleted at "
            "2026-11-21T03:01:10.000Z; "
            "the group is known again from 2026-11-21T03:01:20.000Z",
        ),
        (
            ["offsets", "billing", "--at", second(95)],
            "group billing at 2026-11-21T03:01:35.000Z: records after 2026-11-21T03:01:30.000Z are missing from "
            "the warehouse; the group is "
            "known again from 2026-11-21T03:01:39.000Z",
        ),
        (
            ["diff", "billing", "--from", second(1), "--to", second(95)],
            "group billing at 2026-11-21T03:01:35.000Z: records after 2026-11-21T03:01:30.000Z are missing from "
            "the warehouse; the group is "
            "known again from 2026-11-21T03:01:39.000Z",
        ),
        (
            ["diff", "billing", "--from", second(2), "--to", second(1)],
            "--from 2026-11-21T03:00:02.000Z is after --to 2026-11-21T03:00:01.000Z; give a --from that",
        ),
        (
            ["describe", "modern", "--at", second(49)],
            "group modern at 2026-11-21T03:00:49.000Z: it did not exist yet; the group is known from "
            "2026-11-21T03:00:50.000Z",
        ),
        (
            ["groups", "--at", "2026-11-20"],
            "--at 2026-11-20: data begins at 2026-11-21T03:00:00.000Z; give a later time",
        ),
        # Seconds, which are no unit of ours.
        (
            ["groups", "--at", "1795282600"],
            "--at 1795282600 (milliseconds: 1970-01-21T18:41:22.600Z): data begins at 2026-11-21T03:00:00.000Z; give",
        ),
        (["groups", "--at", "noon"], "--at 'noon': give ISO 8601 such as 2026-11-21T03:00 or 2026-11-21, milli"),
        (["why", "offsets alone"], "group offsets alone: the data has no rebalance, restart or failover"),
        (
            ["rebalances", "billing", "--from", second(2), "--to", second(1)],
            "--from 2026-11-21T03:00:02.000Z is after --to 2026-11-21T03:00:01.000Z",
        ),
        (
            ["rebalances", "biling"],
            'no group "biling"; did you mean "billing"? '
            "(5 groups: groupscope groups lists the 4 at the end of the data)",
        ),
        (["owner", "order", "1"], 'no topic "order"; did you mean "orders"? (2 topics: '),
        (
            ["owner", "orders", "8"],
            "topic orders has no partition 8; give a partition from 0 to 7",
        ),
        (["groups", "--state", "stabel"], "argument --state: invalid choice: 'stabel' (choose from "),
        (["groups", "--nope"], "no flag --nope; see groupscope groups --help"),
        (["groups", "--formt", "csv"], "no flag --formt (did you mean --format?); see groupscope groups --help"),
        (["owner", "orders", "x"], "argument PARTITION: 'x'; give a partition's number"),
        (
            ["groups", "--cluster", "b"],
            'no cluster "b" (1 cluster: a)',
        ),
    ],
)
def test_what_has_no_answer_is_told_in_one_line(ask: Ask, words: list[str], told: str) -> None:
    code, out, err = ask(*words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"groupscope: {told}")


def test_after_the_newest_record_the_answer_is_that_of_the_newest_and_says_so(ask: Ask) -> None:
    code, out, err = ask("groups", "--at", "2030-01-01")
    assert (code, err) == (
        0,
        "groupscope: --at 2030-01-01: data ends at 2026-11-21T03:01:40.000Z; showing the last known state\n",
    )
    assert out == ask("groups")[1]


def test_a_warehouse_without_history_says_what_makes_it(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    make(tmp_path / "warehouse", {"offset_commits": [{}]})
    assert cli.main(["groups", "--warehouse", str(tmp_path / "warehouse")]) == 23
    assert capfd.readouterr().err.endswith("run `groupscope replay`\n")
