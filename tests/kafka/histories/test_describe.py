"""`groups`, `describe` and `offsets` say of an instant what kafka-consumer-groups said then."""

import argparse
import json
import re
from datetime import timedelta

import pytest

from jobs import cli
from jobs.answers.history import open_history, state_at
from jobs.answers.states.description import group_state, members, offsets
from jobs.command_line.values import EPOCH
from jobs.output.rows import cell_text
from tests.builders.warehouses.replayed_segments import command, replay
from tests.kafka.broker import running
from tests.kafka.kafka_tools import tool
from tests.kafka.live_broker import ingest_live, play
from tests.kafka.observations import observations_of
from tests.kafka.releases import NEWEST
from tests.oracles.history.agreement import SLACK_US
from tests.oracles.history.at_instant import Replayed

pytestmark = pytest.mark.broker

CONSUMER_GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
ANSWERS = {"--offsets": offsets, "--members": members, "--state": group_state}
# Topics grow while the tool asks for one group after the other; of a broker at rest they are compared below.
WRITTEN_MEANWHILE = frozenset({"LOG-END-OFFSET", "LAG"})
Rows = list[dict[str, str]]


def printed(text):
    """Each table of the tool's output: names of columns, and rows by where the columns stand."""
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        header, *lines = block.splitlines()
        if not header.startswith("GROUP "):
            continue
        matches = list(re.finditer(r"COORDINATOR \(ID\)|\S+", header))
        names = [match[0] for match in matches]
        starts = [match.start() for match in matches]
        cuts = list(zip(starts, [*starts[1:], None], strict=True))
        yield names, [{n: line[a:b].strip() for n, (a, b) in zip(names, cuts, strict=True)} for line in lines]


def in_any_order(rows, but=frozenset()):
    """The tool gives members in the order of a hash map."""
    return sorted(repr({name: row[name] for name in row if name not in but}) for row in rows)


def shown(history, what, group, at_us, is_verbose):
    at = EPOCH + timedelta(microseconds=at_us)
    answer = ANSWERS[what](history, state_at(history, group, at), at, is_verbose)
    rows = ([cell_text(value) if value is not None else "-" for value in row] for row in answer.rows)
    return answer.names, [dict(zip(answer.names, row, strict=True)) for row in rows]


def test_describe_says_what_the_tool_said_while_groups_of_every_kind_were_at_work(tmp_path):
    observations = observations_of(NEWEST)
    (tmp_path / "snapshots.jsonl").write_text(json.dumps(snapshot(observations.lines)))
    warehouse = tmp_path / "warehouse"
    replayed = replay(warehouse, observations.log_dir, "--snapshots", str(tmp_path / "snapshots.jsonl"))
    arguments = argparse.Namespace(warehouse=str(warehouse), cluster=None, debug=False)
    history = open_history(arguments)
    compared = set()
    for line in observations.of_kind("tool"):
        what = line["arguments"][2]
        for names, rows in printed(line["text"]):
            if not rows:
                continue
            group = rows[0]["GROUP"]
            ours = [
                shown(history, what, group, at, "--verbose" in line["arguments"])
                for at in instants(replayed, group, line["asked_ms"] * 1000, line["answered_ms"] * 1000)
            ]
            theirs = in_any_order(rows, WRITTEN_MEANWHILE)
            assert names in [result for result, _ in ours]
            reported = [in_any_order(result, WRITTEN_MEANWHILE) for _, result in ours]
            assert theirs in reported, (line["arguments"], theirs, reported)
            compared.add((what, group))
    assert len(compared) > 20


def instants(replayed, group, first, last):
    """One for each stretch without change that the answer may be about."""
    return [last, *(bound for bound in replayed.bounds(group) if first - SLACK_US < bound <= last), first - SLACK_US]


def snapshot(lines):
    """Names of topics, and the one broker, as the tool names it."""
    result = (re.findall(r"(\S+):(\d+)  \((\d+)\)", line["text"]) for line in lines if line["kind"] == "tool")
    ((host, port, number),) = {match for matches in result for match in matches}
    topics = [
        {"topic": line["topic"], "topic_id": line["topic_id"], "partitions": [{"partition": 0, "log_end_offset": 0}]}
        for line in lines
        if line["kind"] == "topic"
    ]
    return {
        "captured_at": min(line["asked_ms"] for line in lines if line["kind"] == "look"),
        "topics": topics,
        "brokers": [{"host": host, "port": int(port), "id": int(number), "rack": None}],
        "offsets_partitions": [{"partition": number, "leader": 1} for number in range(50)],
    }


RESET = ("--reset-offsets", "--group", "modern")
PLAYED = ("ClassicGroups.rebalanced:range", "ConsumerGroups.rebalanced", "Commits.byAdmin", "Transactions.interleaved")


def test_of_a_broker_at_rest_every_column_is_equal_and_a_past_instant_can_be_put_back(tmp_path, capfd):
    warehouse = tmp_path / "warehouse"
    (tmp_path / "broker").mkdir()
    with running(NEWEST, tmp_path / "broker") as broker:
        play(broker, tmp_path / "played", *PLAYED)
        ingest_live(warehouse, broker)
        command(warehouse, "replay")
        assert_lists_the_same(broker, warehouse, capfd)
        assert assert_describes_the_same(broker, warehouse, capfd) >= {"modern", "classic-range"}
        before = current_offsets(broker, "modern")
        tool(broker, CONSUMER_GROUPS, *RESET, "--all-topics", "--shift-by", "-1", "--execute")
        after = current_offsets(broker, "modern")
        ingest_live(warehouse, broker)
        command(warehouse, "replay")
        assert dict(csv_rows(ask(capfd, warehouse, "offsets", "modern"))) == after
        path = tmp_path / "offsets.csv"
        path.write_text(ask(capfd, warehouse, "offsets", "modern", "--at", str(instant_before(warehouse))))
        tool(broker, CONSUMER_GROUPS, *RESET, "--from-file", str(path), "--execute")
        assert current_offsets(broker, "modern") == before != after


def ask(capfd, warehouse, *words):
    capfd.readouterr()
    assert cli.main([*words, "--warehouse", str(warehouse)]) == 0
    return capfd.readouterr().out


def assert_lists_the_same(broker, warehouse, capfd):
    ((names, theirs),) = printed(tool(broker, CONSUMER_GROUPS, "--list", "--type", "--state"))
    ours = [json.loads(line) for line in ask(capfd, warehouse, "groups", "--format", "json").splitlines()]
    of_consumers = [row for row in ours if row["PROTOCOL"] in ("", "consumer")]
    assert names == list(ours[0])[:3]
    assert in_any_order(theirs) == in_any_order([{name: row[name] for name in names} for row in of_consumers])


def assert_describes_the_same(broker, warehouse, capfd):
    """Of every group that has something to show: returns which."""
    result = set()
    for what in ANSWERS:
        more = [] if what == "--offsets" else ["--verbose"]
        for names, rows in printed(tool(broker, CONSUMER_GROUPS, "--describe", "--all-groups", what, *more)):
            if rows:
                group = rows[0]["GROUP"]
                ours = ask(capfd, warehouse, "describe", group, what, *more, "--format", "json")
                assert in_any_order(as_tables(ours, names)) == in_any_order(map(without_negative_lag, rows))
                result.add(group)
    return result


def without_negative_lag(row):
    """Of a commit beyond the end of its log."""
    return row | {"LAG": "0"} if row.get("LAG", "").startswith("-") and row["LAG"] != "-" else row


def as_tables(text, names):
    """JSON lines as the tool writes values."""
    result = map(json.loads, text.splitlines())
    return [{name: "-" if row[name] is None else str(row[name]) for name in names} for row in result]


def current_offsets(broker, group):
    ((_, rows),) = printed(tool(broker, CONSUMER_GROUPS, "--describe", "--group", group))
    return {(row["TOPIC"], int(row["PARTITION"])): int(row["CURRENT-OFFSET"]) for row in rows}


def csv_rows(text):
    for line in text.splitlines():
        topic, partition, offset = line.split(",")
        yield (topic, int(partition)), int(offset)


def instant_before(warehouse):
    """The last millisecond before the newest row of the group."""
    rows = Replayed.of(warehouse).rows("offset_history", "modern")
    return max(int(row["from_time"]) for row in rows) // 1000 - 1
