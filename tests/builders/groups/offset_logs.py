"""Logs of commits by chance, as both readings take them: dictionaries for the slow one, tables for the fast one."""

from typing import Any

import numpy as np
import pyarrow as pa

from schemas.tables import TABLES
from tests.oracles.history.offset_intervals import Facts
from udfs.arrays.arrow_schema import table_schema
from udfs.commits.offset_endings import OffsetFacts
from udfs.log.gaps import Gaps

Row = dict[str, Any]
GROUPS, TOPICS = ("a", "b", "group-c"), ("t", "u")
IDS = (None, "id-one", "id-two")


def commit(offset: int, **fields: Any) -> Row:
    result = {
        "record_offset": offset, "record_time": offset * 1_000_000, "group_id": "a", "topic": "t", "partition": 0,
        "topic_id": None, "committed_offset": offset, "leader_epoch": None, "commit_time": offset * 1_000_000 - 1,
        "expire_time": None, "is_tombstone": False, "is_transactional": False, "producer_id": None,
        "producer_epoch": None, "metadata": "", "key_version": 1,
    } | fields  # fmt: skip
    if result["is_tombstone"]:
        result |= dict.fromkeys(
            ("committed_offset", "leader_epoch", "topic_id", "commit_time", "expire_time", "metadata")
        )
    return result


def deletion(offset: int, **fields: Any) -> Row:
    return commit(offset, is_tombstone=True, **fields)


def of_transaction(offset: int, producer: int = 7, **fields: Any) -> Row:
    return commit(offset, is_transactional=True, producer_id=producer, producer_epoch=0, **fields)


def marker(offset: int, producer: int = 7, kind: str = "COMMIT", **fields: Any) -> Row:
    return {
        "record_offset": offset,
        "record_time": offset * 1_000_000,
        "producer_id": producer,
        "marker": kind,
    } | fields


def random_log(rng: np.random.Generator, size: int, share_of_transactions: float) -> list[Row]:
    log: list[Row] = []
    offset, time = int(rng.integers(0, 3)), 10_000_000
    # Copies of the log have the flag; parts of some logs are from archives without it.
    shares = share_of_transactions, float(rng.choice([0.05, 0.5]))
    for _ in range(size):
        log.append(random_record(rng, offset, None if rng.random() < 0.02 else time, *shares))
        offset += 1 if rng.random() < 0.9 else int(rng.integers(2, 5))
        if rng.random() < 0.6:
            time += int(rng.integers(-1_500_000, 0)) if rng.random() < 0.1 else int(rng.integers(1, 900_000))
    return log


def random_record(rng: np.random.Generator, offset: int, time: int | None, share: float, share_unknown: float) -> Row:
    """`share` of commits is of transactions; of `share_unknown` no flag says so."""
    producer = int(rng.integers(1, 4))
    if rng.random() < share / 2:
        return marker(offset, producer, "COMMIT" if rng.random() < 0.7 else "ABORT", record_time=time)
    fields: Row = {
        "record_time": time,
        "group_id": GROUPS[rng.choice(3, p=(0.6, 0.2, 0.2))],
        "topic": TOPICS[rng.integers(2)],
        "partition": int(rng.integers(2)),
    }
    is_transactional = bool(rng.random() < share)
    if is_transactional:
        fields |= {"producer_id": producer, "producer_epoch": int(rng.integers(3))}
    reported = None if rng.random() < share_unknown else is_transactional
    fields["is_transactional"] = reported
    if rng.random() < 0.2:
        return deletion(offset, **fields)
    return commit(
        offset,
        **fields,
        topic_id=IDS[rng.choice(3, p=(0.4, 0.4, 0.2))],
        committed_offset=int(rng.choice([-5, 1, 2, 2, 2, 2**62, -(2**62) - 2**61])),
        leader_epoch=[None, 0, 4][rng.choice(3, p=(0.6, 0.3, 0.1))],
        commit_time=None if time is None or rng.random() < 0.05 else time - int(rng.integers(1000)),
        expire_time=None if time is None or rng.random() < 0.8 else time + int(rng.integers(5_000_000)),
        metadata=("", "x")[rng.choice(2, p=(0.9, 0.1))],
    )


def with_holes(rng: np.random.Generator, log: list[Row], count: int) -> list[Row]:
    """Between writes: a stretch that was read ends with whole batches."""
    result = list(log)
    for place in sorted(rng.choice(len(log), count, replace=False).tolist(), reverse=True):
        if place and not is_within_write(log, place):
            before = log[place - 1]
            hole = {"hole": True, "record_offset": before["record_offset"], "record_time": before["record_time"]}
            result.insert(place, hole)
    return result


def is_within_write(log: list[Row], place: int) -> bool:
    """Whether commits before and after the place may be of one write."""
    before = [each for each in log[:place] if "marker" not in each and "hole" not in each][-1:]
    after = [each for each in log[place:] if "marker" not in each and "hole" not in each][:1]
    return bool(before and after and before[0]["record_time"] == after[0]["record_time"])


def random_facts(rng: np.random.Generator, log: list[Row]) -> Facts:
    known = {record["record_offset"] for record in log}
    missing = set(range(max(known) + 1)) - known
    tombstones = [record for record in log if record.get("is_tombstone") and record["record_time"] is not None]
    some = [record for record in tombstones if rng.random() < 0.3]
    empty: list[tuple[str, int, int | None, int | None]] = []
    for group in GROUPS[:2]:
        first, middle, last = sorted(rng.integers(0, max(known) + 2, 3).tolist())
        since = log[len(log) // 3]["record_time"]
        empty.append((group, first, middle, since))
        empty.append((group, last, None, None if rng.random() < 0.5 else since))
    return Facts(
        missing if rng.random() < 0.8 else set(),
        None if rng.random() < 0.2 else int(rng.choice([0, 1000, 5000])),
        {(record["group_id"], record["record_time"]) for record in some[: len(some) // 2]},
        empty,
        [(record["topic"], record["record_time"] - 10, record["record_time"] + 5) for record in some[len(some) // 2 :]],
    )


def commits_table(log: list[Row]) -> pa.Table:
    return table_of(
        [record for record in log if "marker" not in record and "hole" not in record], TABLES["offset_commits"]
    )


def markers_table(log: list[Row]) -> pa.Table:
    return table_of([record for record in log if "marker" in record], TABLES["transaction_markers"])


def table_of(rows: list[Row], declared: Any) -> pa.Table:
    schema = table_schema(declared)
    # Columns that a replay does not read are left empty.
    columns = []
    for name, kind in zip(schema.names, schema.types, strict=True):
        values = [row.get(name) for row in rows]
        columns.append(
            pa.array(values, pa.int64()).cast(kind) if pa.types.is_timestamp(kind) else pa.array(values, kind)
        )
    return pa.table(dict(zip(schema.names, columns, strict=True)))


def fast_facts(facts: Facts) -> OffsetFacts:
    """The same facts as the fast reading takes them."""
    time = pa.timestamp("us", "UTC")

    def table(rows: list[tuple[Any, ...]], **kinds: pa.DataType) -> pa.Table:
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(kinds)
        return pa.table(
            {
                name: pa.array(values, pa.int64()).cast(kind) if kind == time else pa.array(values, kind)
                for (name, kind), values in zip(kinds.items(), columns, strict=True)
            }
        )

    return OffsetFacts(
        gaps_of(facts.missing),
        facts.retention_ms,
        table(sorted(facts.group_tombstones), group_id=pa.string(), record_time=time),
        table(
            facts.empty_groups,
            group_id=pa.string(),
            from_record_offset=pa.int64(),
            to_record_offset=pa.int64(),
            since_time=time,
        ),
        table(facts.topic_deletions, topic=pa.string(), from_time=time, to_time=time),
    )


def gaps_of(missing: set[int]) -> Gaps:
    firsts = [offset for offset in sorted(missing) if offset - 1 not in missing]
    lasts = [offset for offset in sorted(missing) if offset + 1 not in missing]
    return Gaps(firsts, lasts)
