"""Interleaved transactions on real brokers. 3.7 reads them by rules of its own: the tables have what it shows, and by
today's rules they name each offset for which it shows another value."""

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
from tests.kafka.releases import KAFKA_3_7_NEW, KAFKA_3_9_NEW, KAFKA_4_1, KAFKA_4_3, NEWEST
from tests.runs.ingested import rows

pytestmark = pytest.mark.broker

STEPS: Final = 200
SECONDS: Final = 900
SOURCES: Final = [
    HERE / "java" / "Cluster.java",
    HERE / "java" / "sample" / "Story.java",
    *(HERE / "java" / "interleaved").glob("*.java"),
]
# Of another offsets partition than the groups of the play: nothing in theirs shows which release they are of.
EARLY: Final = HERE / "java" / "interleaved" / "EarlyMember.java"
EARLY_GROUP: Final = "preview"
OUTLIVED: Final = "pending_outlived_deletion"
OFFSETS_PARTITIONS: Final = {"offsets.topic.num.partitions": "12"}
# Group and topic partition, such as orders-2.
Key = tuple[str, str]
Row = dict[str, Any]
Plays = Callable[[int], tuple[Path, dict[Key, int]]]


def played(release, folder, seed):
    """What the broker shows in the end; its log goes to `folder`."""
    folder.mkdir()

    def play(broker):
        run(broker, NEWEST, "Interleaved", str(folder / "shown.jsonl"), str(seed), str(STEPS))
        if release is KAFKA_3_7_NEW:
            run(broker, release, "EarlyMember", EARLY_GROUP)
        broker.stop()
        copied_segments(broker, folder / "log")

    on_fresh_broker(release, folder, OFFSETS_PARTITIONS, play)
    return shown_in(folder)


def run(broker, clients, main, *arguments):
    sources = [EARLY] if main == EARLY.stem else [source for source in SOURCES if source != EARLY]
    classes = compile_java(sources, [jar_folder(jar_set) for jar_set in clients.jar_sets])
    program = kafka_command(clients, main, [broker.bootstrap, *arguments], classes, options=broker.scratch_options)
    done = subprocess.run(program, capture_output=True, text=True, check=False, timeout=SECONDS)
    if done.returncode:
        raise PlayError(broker, done.stdout + done.stderr)


def shown_in(folder):
    lines = map(json.loads, (folder / "shown.jsonl").read_text().splitlines())
    return {(line["group"], at): offset for line in lines for at, offset in line["offsets"].items()}


def replay(warehouse, log_dir, release=""):
    """`release`: the setting; none: the records decide."""
    settings = warehouse.with_suffix(".toml")
    settings.write_text(f'[broker]\nrelease = "{release}"\n')
    command(warehouse, "ingest", "--source", f"segments:{log_dir}")
    command(warehouse, "replay", "--config", str(settings))


def key_of(row):
    return row["group_id"], f"{row['topic']}-{row['partition']}"


def held(warehouse):
    return {key_of(row): row["committed_offset"] for row in rows(warehouse, "offset_history") if row["is_provisional"]}


def held_before(warehouse, topic):
    """Before the first offset of this topic in each offsets partition."""
    found = rows(warehouse, "offset_history")
    ends = {row["evidence_partition"]: row["from_record_offset"] for row in found if row["topic"] == topic}
    before = [(row, ends[row["evidence_partition"]]) for row in found]
    return {
        key_of(row): row["committed_offset"]
        for row, end in before
        if row["from_record_offset"] < end and (row["is_provisional"] or row["to_record_offset"] >= end)
    }


def older_rules(warehouse):
    kinds = {"older_rule", OUTLIVED}
    return [row for row in rows(warehouse, "replay_anomalies") if row["kind"] in kinds]


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


def lasting(warehouse, *kinds):
    """What is named, if a kind is given with that kind, and has not changed since."""
    changes = last_changes(warehouse)
    named = [row for row in older_rules(warehouse) if not kinds or row["kind"] in kinds]
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
def test_by_todays_rules_each_offset_that_differs_on_3_7_is_named_and_no_other(plays, tmp_path):
    # In some plays no offset differs in the end.
    for turn in range(5):
        folder = tmp_path / str(turn)
        folder.mkdir()
        place, shown = plays(turn)
        replay(folder / "w", place / "log", "4.3")
        ours = held(folder / "w")
        different = {key for key in shown.keys() | ours.keys() if shown.get(key) != ours.get(key)}
        assert different == lasting(folder / "w")
        assert {row["severity"] for row in older_rules(folder / "w")} <= {"info"}
        named = rows_as_text(folder / "w")
        # The setting, or what a record in another offsets partition shows.
        for release in ("3.7-new", ""):
            replay(folder / "w", place / "log", release)
            assert held(folder / "w") == shown
            assert rows_as_text(folder / "w") == named
        if different:
            return
    raise AssertionError("no offset differs in any play")


@pytest.mark.drawn_together(2)
@pytest.mark.drawn(1)
@pytest.mark.parametrize(
    "release",
    [KAFKA_3_9_NEW, NEWEST, *(pytest.param(each, marks=pytest.mark.soak) for each in (KAFKA_4_1, KAFKA_4_3))],
    ids=lambda release: release.name,
)
def test_later_releases_show_what_the_tables_say(release, tmp_path, seed):
    shown = played(release, tmp_path / "played", seed)
    replay(tmp_path / "w", tmp_path / "played" / "log")
    assert shown == held(tmp_path / "w")
    # Whichever of these brokers wrote it, what was pending when it was deleted stays deleted.
    assert lasting(tmp_path / "w", OUTLIVED).isdisjoint(shown)


@pytest.mark.drawn_together(2)
def test_what_is_named_does_not_depend_on_the_number_of_runs(plays, tmp_path):
    log_dir = plays(0)[0] / "log"
    replay(tmp_path / "whole", log_dir)
    for share in range(1, 5):
        written(log_dir, tmp_path / "growing", share / 4)
        replay(tmp_path / "parts", tmp_path / "growing")
    assert rows_as_text(tmp_path / "parts") == rows_as_text(tmp_path / "whole")
    assert rows_as_text(tmp_path / "whole")
    assert history(tmp_path / "parts") == history(tmp_path / "whole")


@pytest.mark.soak
@pytest.mark.drawn_together(2)
@pytest.mark.drawn(1)
def test_a_release_that_takes_over_has_what_its_own_rules_give_and_had_not_before(tmp_path, seed):
    """3.7 until the end of the play, then 4.1 on the same log."""
    folder = tmp_path / "upgraded"
    folder.mkdir()

    def play(broker):
        run(broker, NEWEST, "Interleaved", str(folder / "shown.jsonl"), str(seed), str(STEPS))
        run(broker, KAFKA_3_7_NEW, "EarlyMember", EARLY_GROUP)
        (folder / "after").mkdir()
        broker.release = KAFKA_4_1
        broker.restart(OFFSETS_PARTITIONS)
        run(broker, NEWEST, "Interleaved", str(folder / "after" / "shown.jsonl"), "0", "0", "touched")
        broker.stop()
        copied_segments(broker, folder / "log")

    on_fresh_broker(KAFKA_3_7_NEW, folder, OFFSETS_PARTITIONS, play)
    replay(tmp_path / "w", folder / "log")
    assert held(tmp_path / "w") == shown_in(folder / "after")
    assert held_before(tmp_path / "w", "touched") == shown_in(folder)


def written(log_dir, target, share):
    for segment in log_dir.glob("__consumer_offsets-*/*.log"):
        content = segment.read_bytes()
        ends = [0, *batch_ends(content)]
        copy = target / segment.relative_to(log_dir)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(content[: ends[round(share * (len(ends) - 1))]])


def rows_as_text(warehouse):
    return sorted(repr(sorted(row.items())) for row in older_rules(warehouse))


def history(warehouse):
    return sorted(repr(sorted(row.items())) for row in rows(warehouse, "offset_history"))
