"""For how long nobody read partitions that changed hands, against a slow model that knows other tables and decoded
records alone; and the same in however many runs log and snapshots come."""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.builders.generated.log import compacted, generated, names, some_topics
from tests.make.log import LoggedBatch, write
from tests.oracles.history.unread import unlike
from tests.runs.ingested import ROOT, ingest, rows
from tests.runs.replayed_logs import HISTORY, assert_same, growing, replay, row_texts, write_part
from udfs.groups.history.reading_ends import GROWN_BASIS

SAMPLE = ROOT / "data" / "sample"
Topics = dict[str, tuple[str, int]]


def snapshots(
    chance: random.Random, topics: Topics, batches: Sequence[LoggedBatch], number: int
) -> list[dict[str, Any]]:
    """Of some of the topics each. Ends seldom rise, to offsets that members commit now and then."""
    times = sorted(record.time for batch in batches for record in batch.records)
    ends = {(name, each): 0 for name, (_, count) in topics.items() for each in range(count)}
    result = []
    for captured in sorted(chance.sample(range(times[0], times[-1] + 5_000), number)):
        for at in ends:
            ends[at] += chance.choice((0, 0, 0, 1, 2))
        listed = {name: topic for name, topic in topics.items() if chance.random() < 0.8}
        result.append({
            "captured_at": captured,
            "topics": [
                {"topic": name, "topic_id": topic_id,
                 "partitions": [{"partition": each, "log_end_offset": ends[name, each]} for each in range(count)]}
                for name, (topic_id, count) in listed.items()
            ],
            **settings(chance),
        })  # fmt: skip
    return result


def settings(chance: random.Random) -> dict[str, Any]:
    """What brokers and some groups set now. A group takes its own back now and then; who lists no groups says nothing
    of them."""

    def timeouts(before: str) -> dict[str, str]:
        return {
            f"{before}{kind}.{name}": str(1000 * chance.randint(low, high))
            for kind in ("consumer", "share", "streams")
            for name, low, high in (("session.timeout.ms", 5, 50), ("heartbeat.interval.ms", 1, 4))
            if chance.random() < 0.5
        }

    own = [{"group_id": name, "settings": timeouts("")} for name in names(3, 8) if chance.random() < 0.5]
    result = {"settings": timeouts("group."), "groups": own,
             "offsets_partitions": [{"partition": each, "leader": 1} for each in range(8)]}  # fmt: skip
    return {name: reported for name, reported in result.items() if chance.random() < 0.5}


def take_in(warehouse: Path, log: Path, some: Sequence[dict[str, Any]], step: int = 0) -> None:
    path = warehouse.with_suffix(f".{step}.jsonl")
    path.write_text("".join(json.dumps(each) + "\n" for each in some))
    ingest(warehouse, "--source", f"segments:{log}", *(("--snapshots", path) if some else ()))
    replay(warehouse)


def test_the_sample_s_moves_were_unread_for_as_long_as_the_records_show(tmp_path: Path) -> None:
    ingest(tmp_path / "w", "--source", f"segments:{SAMPLE}", "--snapshots", SAMPLE / "snapshots.jsonl")
    replay(tmp_path / "w")
    result, kinds = unlike(tmp_path / "w")
    assert result == []
    told_of = {(group_type, kind) for group_type, kind, is_told in kinds if is_told}
    # Who reads in a share group that has members, no record shows.
    assert {"classic", "consumer", "streams"} == {group_type for group_type, _ in told_of}
    assert {"moved", "returned", "assigned", "ready_to_migrate"} == {kind for _, kind in told_of}
    assert_sums(tmp_path / "w")


def test_random_logs_show_what_the_slow_model_shows(tmp_path: Path, seed: int) -> None:
    chance, topics = random.Random(seed), some_topics(random.Random(seed))
    for number in range(3):
        log = generated(chance.getrandbits(32), 3, 8, topics)
        batches = compacted(log) if number == 2 else log.batches
        write(tmp_path / f"log-{number}", 3, batches)
        take_in(tmp_path / f"w-{number}", tmp_path / f"log-{number}", snapshots(chance, topics, batches, 12))
        result, _ = unlike(tmp_path / f"w-{number}")
        assert result == [], number
        assert_sums(tmp_path / f"w-{number}")


def assert_sums(warehouse: Path) -> None:
    """Of each rebalance that is over; what moves later under the same target counts there alone."""
    moves = [row for row in rows(warehouse, "partition_moves") if row["unread_high_ms"] is not None]
    # New partitions cost no rebalance.
    moves = [row for row in moves if not row["unread_basis"].startswith(GROWN_BASIS)]
    for row in rows(warehouse, "rebalances"):
        through = row["evidence_last_offset"] if row["end_time"] is not None else 1 << 62
        mine = [
            each
            for each in moves
            if all(each[name] == row[name] for name in ("group_id", "assignment_offset"))
            and each["move_offset"] <= through
        ]
        highs = [each["unread_high_ms"] for each in mine]
        sums = (sum(each["unread_low_ms"] for each in mine), sum(highs), max(highs)) if mine else (None,) * 3
        names = ("unread_partition_low_ms", "unread_partition_high_ms", "longest_unread_high_ms")
        assert tuple(row[name] for name in names) == sums, row


def test_log_and_snapshots_may_come_in_any_number_of_runs(tmp_path: Path, rng: np.random.Generator, seed: int) -> None:
    """Snapshots of before and of after what came already among them."""
    chance, topics = random.Random(seed), some_topics(random.Random(seed))
    log = generated(seed, 3, 8, topics)
    write(tmp_path / "whole", 3, log.batches)
    some = snapshots(chance, topics, log.batches, 12)
    take_in(tmp_path / "w", tmp_path / "whole", some)
    chance.shuffle(some)
    for step, share in enumerate(growing(tmp_path / "whole", rng, 4)):
        write_part(tmp_path / "whole", tmp_path / "log", {name: max(1, number) for name, number in share.items()})
        take_in(tmp_path / "grown", tmp_path / "log", some[3 * step : 3 * step + 3], step)
    take_in(tmp_path / "grown", tmp_path / "log", some[12:], 9)
    assert_same(row_texts(tmp_path / "w", HISTORY), row_texts(tmp_path / "grown", HISTORY), "grown")
