"""The commands that read the history, over tables made by hand: rows at the edges of intervals, what is missing, and
the one line that says why there is no answer. That they say what Kafka's tool says: tests/kafka/histories."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from jobs import cli
from jobs.offsets import tool_cell
from jobs.warehouses.warehouse import Warehouse
from tests.builders.tables.history import at
from tests.builders.warehouses.billing_history import ROWS
from tests.make.tables import make, write_run


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
    header = ["GROUP", "TYPE", "STATE", "PROTOCOL", "LAST-COMMIT-TIME", "VERDICT", "VERDICT-REASON"]
    header.append("VERDICT-AS-OF-TIME")
    nothing = [""] * 4
    assert rows(ask, "groups", "--at", second(41)) == [
        header,
        ["billing", "Classic", "Stable", "consumer", *nothing],
        ["offsets alone", "Classic", "Empty", "", *nothing],
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
            ["modern", "Consumer", "Stable", "consumer", *nothing],
        ]
    assert rows(ask, "groups", "--type", "consumer", "--state", "Empty") == [header]


def test_offsets_stand_as_kafka_orders_them_members_of_most_partitions_first(ask: Ask) -> None:
    result = rows(ask, "describe", "billing", "--at", second(42))
    names = ["GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CONSUMER-ID", "HOST"]
    # Programs learn how old the snapshot is; tables have the columns of Kafka's tool.
    of_verdict = ["VERDICT", "VERDICT-REASON", "VERDICT-AS-OF-TIME"]
    own = ["SNAPSHOT-TIME", "BEYOND-END", "LAST-COMMIT-TIME", *of_verdict]
    assert result[0] == [*names, "CLIENT-ID", *own]
    assert [row[9:] for row in result[1:]] == [
        ["2026-11-21T03:00:30.000Z", *[""] * 5],
        ["2026-11-21T03:00:15.000Z", *[""] * 5],
        ["2026-11-21T03:00:30.000Z", *[""] * 5],
        [""] * 6,
    ]
    result = [row[:9] for row in result]
    wide = ask("describe", "billing", "--wide", "--at", second(42))[1]
    assert wide.splitlines()[1].split() == [*names, "CLIENT-ID"]
    assert result[1:] == [
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


def test_while_a_classic_group_rebalances_kafka_shows_the_assignments_before(ask: Ask) -> None:
    result = rows(ask, "describe", "billing", "--at", second(40.5))
    assert [row[2:3] + row[6:9] for row in result[1:]] == [
        *([partition, "one", "/10.0.0.1", "c1"] for partition in ("0", "1", "2")),
        ["7", "", "", ""],
    ]
    assert [row[-1] for row in rows(ask, "describe", "billing", "--members", "--at", second(40.5))] == [
        "#PARTITIONS",
        "3",
    ]
    assert "Warning: Consumer group 'billing' is rebalancing." in ask("describe", "billing", "--at", second(40.5))[2]


def test_a_lag_is_unknown_where_the_group_has_read_on_since_the_snapshot(ask: Ask) -> None:
    result = rows(ask, "describe", "connect", "--at", second(60))
    # The other was beyond the end when the snapshot was taken: Kafka's tool shows -8 as its lag.
    assert [row[3:6] + row[10:11] for row in result[1:]] == [["200", "131", "", ""], ["130", "122", "0", "8"]]


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
    own = ["CLIENT-LIBRARY", "CLIENT-LIBRARY-CONFIDENCE"]
    names = ["CURRENT-EPOCH", "CURRENT-ASSIGNMENT", "TARGET-EPOCH", "TARGET-ASSIGNMENT", "UPGRADED"]
    assert header[5:] == [*names, *own]
    # A topic whose name nobody knows stands with its id; what is held or being given up is still the member's own.
    assert one[4:] == ["3", "7", "orders:1,4;refunds:3", "7", "id-2:0;orders:1,2", "true", "", ""]
    assert old[4:] == ["1", "", "orders:0", "7", "", "false", "java", "possible"]
    by_number = rows(ask, "describe", "modern", "--at", second(60))
    assert [row[6] for row in by_number[1:]] == ["one", "one", "one", "old"]


def test_targets_of_a_streams_group_are_what_its_active_tasks_read(ask: Ask) -> None:
    row = rows(ask, "describe", "words", "--members", "--verbose", "--at", second(64))[1]
    assert row[-3] == "text:0,1;words-by-key:2"


def test_the_state_has_coordinator_and_assignor_as_kafka_writes_them(ask: Ask) -> None:
    names = ["GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE", "#MEMBERS"]
    assert [row[:5] for row in rows(ask, "describe", "billing", "--state", "--at", second(41))] == [
        names,
        ["billing", "host-1:9092  (1)", "range", "Stable", "2"],
    ]
    assert rows(ask, "describe", "billing", "--state", "--at", second(14))[1][1] == ""
    verbose = rows(ask, "describe", "modern", "--state", "--verbose", "--at", second(60))
    assert verbose[0][4:7] == ["GROUP-EPOCH", "TARGET-ASSIGNMENT-EPOCH", "#MEMBERS"]
    # No record names an assignor: the broker's default.
    assert verbose[1][1:7] == ["host-2:9092  (2)", "uniform", "Stable", "7", "7", "2"]


def test_offsets_are_the_csv_that_a_reset_takes(ask: Ask) -> None:
    assert ask("offsets", "billing", "--at", second(44.999)) == (
        0,
        "orders,0,100\norders,1,-1\norders,7,7\n",
        "groupscope: at 2026-11-21T03:00:44.999Z\n"
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


@pytest.mark.parametrize(
    ("topic", "cell"), [("-orders", "-orders"), ("a.b_c-1", "a.b_c-1"), ("=1+1", "'=1+1"), ("a,b", '"a,b"')]
)
def test_a_topic_is_in_that_csv_as_kafka_has_it(topic: str, cell: str) -> None:
    assert tool_cell(topic) == cell


def test_the_owner_is_reported_for_each_group(ask: Ask) -> None:
    def owners(*words: str) -> list[tuple[str, str]]:
        lines = ask("owner", *words, "--format", "json")[1].splitlines()
        return [(row["group_id"], row["member_id"]) for row in map(json.loads, lines)]

    assert owners("orders", "1", "--at", second(40)) == [("billing", "one")]
    assert owners("orders", "1", "--at", second(55)) == [("billing", "two"), ("modern", "one")]
    assert owners("orders", "1", "--at", second(55), "--group", "modern") == [("modern", "one")]
    # Known, and nobody's then.
    code, out, err = ask("owner", "orders", "0", "--at", second(5), "--format", "csv")
    assert (code, out.count("\n")) == (0, 1)
    assert "orders-0 had no owner in any group" in err
    code, out, err = ask("owner", "orders", "1", "--at", second(40), "--group", "modern", "--format", "csv")
    assert (code, out.count("\n")) == (0, 1)
    assert "orders-1 had no owner in group modern at 2026-11-21T03:00:40.000Z\n" in err
    # It had one before.
    err = ask("owner", "orders", "2", "--at", second(75))[2]
    assert err.startswith("groupscope: orders-2 had no owner in any group at 2026-11-21T03:01:15.000Z; the last one ")
    assert err.endswith(
        "was one of group billing, client c1 at 10.0.0.1, until 2026-11-21T03:01:00.000Z; nobody has it since then\n"
    )


def test_two_instants_differ_by_what_changed(ask: Ask) -> None:
    result = rows(ask, "diff", "billing", "--from", second(39), "--to", second(50))
    assert result == [
        ["what", "member_id", "topic", "partition", "before", "after", "delta"],
        ["generation_or_epoch", "", "", "", "1", "2", ""],
        ["num_members", "", "", "", "1", "2", ""],
        ["member", "two", "", "", "", "c2@/10.0.0.2", ""],
        ["owner", "", "orders", "1", "one", "two", ""],
        ["owner", "", "orders", "5", "", "one revoking", ""],
        ["offset", "", "orders", "0", "100", "90", "-10"],
    ]
    assert rows(ask, "diff", "billing", "--from", second(20), "--to", second(20)) == result[:1]


def test_why_shows_the_rebalance_that_covers_the_time_with_the_events_around_it(ask: Ask) -> None:
    code, out, _ = ask("why", "billing", "--at", second(40.2))
    first, *lines = (line.split(maxsplit=1) for line in out.splitlines())
    assert (code, first) == (0, ["At", "2026-11-21T03:00:40.200Z"])
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
    document = json.loads(ask("why", "billing", "--at", second(40.2), "--format", "json")[1])
    (member,) = document["members"]
    assert {name: member[name] for name in ("generation", "session_timeout_ms", "subscribed_topics")} == {
        "generation": 2,
        "session_timeout_ms": 45_000,
        "subscribed_topics": ["orders"],
    }
    assert "member_epoch" not in member


def test_offsets_warn_of_what_a_reset_leaves_and_of_members_that_it_waits_for(ask: Ask) -> None:
    code, out, err = ask("offsets", "connect", "--at", second(60))
    assert (code, err) == (0, "groupscope: at 2026-11-21T03:01:00.000Z\n")
    _, out, err = ask("offsets", "modern", "--at", second(60))
    assert out == "orders,0,5\n"
    assert (
        "orders-3: no offset was committed at 2026-11-21T03:01:00.000Z, later ones are committed. A reset by this "
        "CSV keeps" in err
    )
    assert "group modern has 2 active members at 2026-11-21T03:01:40.000Z. Kafka refuses a reset" in err


@pytest.mark.parametrize(
    ("words", "message"),
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
        (["groups", "--at", "noon"], "--at 'noon': give ISO 8601 such as 2026-11-21T03:00 or 2026-11-21, a time "),
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
        (
            ["owner", "orders", "1", "--group", "biling"],
            'no group "biling"; did you mean "billing"? '
            "(5 groups: groupscope groups lists the 4 at the end of the data)",
        ),
        (
            ["groups", "--cluster", "b"],
            'no cluster "b" (1 cluster: a)',
        ),
    ],
)
def test_what_has_no_answer_is_reported_in_one_line(ask: Ask, words: list[str], message: str) -> None:
    code, out, err = ask(*words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"groupscope: {message}")


def test_after_the_newest_record_the_answer_is_that_of_the_newest_and_says_so(ask: Ask) -> None:
    code, out, err = ask("groups", "--at", "2030-01-01")
    assert (code, err) == (
        0,
        "groupscope: --at 2030-01-01: data ends at 2026-11-21T03:01:40.000Z; showing the last known state\n",
    )
    assert out == "At 2030-01-01T00:00:00.000Z\n" + ask("groups")[1]


@pytest.mark.parametrize(
    ("as_of", "shown"),
    [
        ([160], "2026-11-21T03:02:40.000Z"),
        ([160, 130], "2026-11-21T03:02:10.000Z"),
        # Of an earlier time than the newest record.
        ([160, 50], "2026-11-21T03:01:40.000Z"),
    ],
)
def test_now_is_the_as_of_time_of_the_newest_run_or_a_later_record(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], as_of: list[float], shown: str
) -> None:
    warehouse = make(tmp_path / "warehouse", ROWS)
    for number, seconds in enumerate(as_of, 2):
        about = {"job": "lag", "as_of_time": round(at(seconds).timestamp() * 1000)}
        write_run(warehouse, f"run-{number:04}", {}, about=about, absent=frozenset(ROWS))
    # Those of other jobs mean something else: since when history is kept.
    about = {"job": "maintain", "as_of_time": round(at(5).timestamp() * 1000)}
    write_run(warehouse, "run-0009", {}, about=about, absent=frozenset(ROWS))
    assert cli.main(["groups", "--at", "now", "--warehouse", str(warehouse.root)]) == 0
    assert capfd.readouterr().out.startswith(f"At {shown}\n")


def test_a_warehouse_without_history_says_what_makes_it(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    make(tmp_path / "warehouse", {"offset_commits": [{}]})
    assert cli.main(["groups", "--warehouse", str(tmp_path / "warehouse")]) == 23
    assert capfd.readouterr().err.endswith("run `groupscope replay`\n")
