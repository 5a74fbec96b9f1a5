"""Interleaved transactions on real brokers: the tables name each offset for which 3.7 shows another value."""

import json
import subprocess
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from jobs.spark.jars import jar_folder
from tests.builders.warehouses.replayed_segments import command
from tests.drawn_cases import draw_seed
from tests.kafka.broker import kafka_command
from tests.kafka.capture import HERE
from tests.kafka.fresh_brokers import PlayError, on_fresh_broker
from tests.kafka.java_programs import compile_java
from tests.kafka.live_broker import copied_segments
from tests.kafka.records.cut_logs import batch_ends
from tests.kafka.releases import KAFKA_3_7_NEW, KAFKA_3_9_NEW, NEWEST
from tests.runs.ingested import rows

pytestmark = pytest.mark.broker

STEPS: Final = 200
SECONDS: Final = 900
SOURCES: Final = [
    HERE / "java" / "Cluster.java",
    HERE / "java" / "sample" / "Story.java",
    *(HERE / "java" / "interleaved").glob("*.java"),
]
# Group and topic partition, such as orders-2.
Key = tuple[str, str]
Row = dict[str, Any]
Plays = Callable[[int], tuple[Path, dict[Key, int]]]


def played(release, folder, seed):
    """What the broker shows in the end; its log goes to `folder`."""
    folder.mkdir()

    def play(broker):
        classes = compile_java(SOURCES, [jar_folder(jar_set) for jar_set in NEWEST.jar_sets])
        arguments = [broker.bootstrap, str(folder / "shown.jsonl"), str(seed), str(STEPS)]
        program = kafka_command(NEWEST, "Interleaved", arguments, classes, options=broker.scratch_options)
        done = subprocess.run(program, capture_output=True, text=True, check=False, timeout=SECONDS)
        if done.returncode:
            raise PlayError(broker, done.stdout + done.stderr)
        broker.stop()
        copied_segments(broker, folder / "log")

    on_fresh_broker(release, folder, {}, play)
    lines = map(json.loads, (folder / "shown.jsonl").read_text().splitlines())
    return {(line["group"], at): offset for line in lines for at, offset in line["offsets"].items()}


def replay(warehouse, log_dir):
    command(warehouse, "ingest", "--source", f"segments:{log_dir}")
    command(warehouse, "replay")


def key_of(row):
    return row["group_id"], f"{row['topic']}-{row['partition']}"


def held(warehouse):
    return {key_of(row): row["committed_offset"] for row in rows(warehouse, "offset_history") if row["is_open"]}


def older_rules(warehouse):
    return [row for row in rows(warehouse, "replay_anomalies") if row["kind"] == "older_rule"]


def named_key(row):
    return row["group_id"], row["message"].partition(":")[0]


def last_changes(warehouse):
    """Partition and offset of the last record or COMMIT of each key that some release goes by."""
    result = {}
    pending = defaultdict(set)
    for row in in_order([*rows(warehouse, "offset_commits"), *rows(warehouse, "transaction_markers")]):
        at = row["offsets_partition"], row["record_offset"]
        of_producer = row["offsets_partition"], row["producer_id"]
        if "marker" in row:
            ended = pending.pop(of_producer, set())
            result |= dict.fromkeys(ended if row["marker"] == "COMMIT" else (), at)
        elif row["is_transactional"] and not row["is_tombstone"]:
            pending[of_producer].add(key_of(row))
        else:
            result[key_of(row)] = at
    return result


def in_order(result):
    yield from sorted(result, key=lambda row: (row["offsets_partition"], row["record_offset"]))


def lasting(warehouse):
    """What is named and has not changed since."""
    changes = last_changes(warehouse)
    named = older_rules(warehouse)
    return {
        named_key(row) for row in named if changes[named_key(row)] == (row["evidence_partition"], row["record_offset"])
    }


@pytest.fixture(scope="module")
def plays(tmp_path_factory):
    """Each by its number: a folder, with the log of the broker in it, and what the broker shows."""
    first = int(draw_seed())

    @cache
    def play(number):
        folder = tmp_path_factory.mktemp("play") / "played"
        return folder, played(KAFKA_3_7_NEW, folder, first + number)

    return play


@pytest.mark.drawn_together(2)
def test_each_offset_that_differs_on_3_7_is_named_and_no_other(plays, tmp_path):
    # In some plays no offset differs in the end.
    for turn in range(5):
        folder = tmp_path / str(turn)
        folder.mkdir()
        place, shown = plays(turn)
        replay(folder / "w", place / "log")
        ours = held(folder / "w")
        different = {key for key in shown.keys() | ours.keys() if shown.get(key) != ours.get(key)}
        assert different == lasting(folder / "w")
        assert {row["severity"] for row in older_rules(folder / "w")} <= {"info"}
        if different:
            return
    raise AssertionError("no offset differs in any play")


@pytest.mark.drawn_together(2)
@pytest.mark.drawn(1)
@pytest.mark.parametrize("release", [KAFKA_3_9_NEW, NEWEST], ids=lambda release: release.name)
def test_later_releases_show_what_the_tables_say(release, tmp_path, seed):
    shown = played(release, tmp_path / "played", seed)
    replay(tmp_path / "w", tmp_path / "played" / "log")
    assert shown == held(tmp_path / "w")


@pytest.mark.drawn_together(2)
def test_what_is_named_does_not_depend_on_the_number_of_runs(plays, tmp_path):
    log_dir = plays(0)[0] / "log"
    replay(tmp_path / "whole", log_dir)
    for share in range(1, 5):
        written(log_dir, tmp_path / "growing", share / 4)
        replay(tmp_path / "parts", tmp_path / "growing")
    assert rows_as_text(tmp_path / "parts") == rows_as_text(tmp_path / "whole")
    assert rows_as_text(tmp_path / "whole")


def written(log_dir, target, share):
    for segment in log_dir.glob("__consumer_offsets-*/*.log"):
        content = segment.read_bytes()
        ends = [0, *batch_ends(content)]
        copy = target / segment.relative_to(log_dir)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(content[: ends[round(share * (len(ends) - 1))]])


def rows_as_text(warehouse):
    return sorted(repr(sorted(row.items())) for row in older_rules(warehouse))
