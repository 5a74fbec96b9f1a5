"""Linking in one pass says what the slow reading says, on logs by chance, wherever windows and runs are cut."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from schemas.tables import TABLES
from tests.builders.groups.offset_logs import (
    GROUPS,
    TOPICS,
    Row,
    commits_table,
    fast_facts,
    is_within_write,
    markers_table,
    random_facts,
    random_log,
    with_holes,
)
from tests.oracles.history.offset_intervals import SlowOffsets
from udfs.arrays.arrow_schema import table_schema
from udfs.arrays.nullable import NONE
from udfs.commits.group_questions import Questions
from udfs.commits.link_commits import Finished, OffsetReplay
from udfs.commits.offset_endings import OffsetFacts
from udfs.commits.shown_states import whole_state

# Its long form takes minutes.
TURNS = [*range(12), *(pytest.param(turn, marks=pytest.mark.soak) for turn in range(12, 1000))]


def plain(table: pa.Table) -> list[Row]:
    """Times as microseconds."""
    columns = [column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column for column in table.columns]
    return pa.table(columns, table.schema.names).to_pylist()


class Replayed:
    """What came out of one or more runs."""

    def __init__(self) -> None:
        self.closed: dict[str, list[Row]] = {"offset_history": [], "transactions": [], "replay_anomalies": []}
        self.open: dict[str, list[Row]] = {}
        self.liveness: list[tuple[Any, ...]] = []
        # Of offsets that are only possible: group, first offset, and where they end.
        self.possible: list[tuple[str, int, int | None]] = []
        self.state: pa.Table | None = None
        self.finished: Finished | None = None

    def add(self, tables: dict[str, pa.Table]) -> None:
        for name, table in tables.items():
            self.closed[name] += plain(table)

    def rows(self, name: str) -> list[Row]:
        return self.closed[name] + self.open.get(name, [])


def replay(
    into: Replayed, log: list[Row], facts: OffsetFacts, rng: np.random.Generator, questions: Questions | None = None
) -> None:
    """One run, in chunks of any sizes."""
    run = OffsetReplay("c", 3, into.state, questions or Questions.none(), facts)
    chunk: list[Row] = []
    for record in log:
        if "hole" in record:
            into.add(run.take(commits_table(chunk), markers_table(chunk)))
            into.add(run.hole(record["record_offset"], record["record_time"]))
            chunk = []
            continue
        chunk.append(record)
        if rng.random() < 0.1:
            into.add(run.take(commits_table(chunk), markers_table(chunk)))
            chunk = []
    into.add(run.take(commits_table(chunk), markers_table(chunk)))
    result = into.finished = run.finish()
    into.add(result.closed)
    into.open = {name: plain(table) for name, table in result.open.items()}
    into.state = whole_state(result.state, result.open["offset_history"])
    ended = [tuple(row.values()) for row in plain(result.liveness)]
    # Intervals that were open before are written again.
    into.liveness = [row for row in into.liveness if row[3] is not None] + ended
    into.possible = [row for row in into.possible if row[2] is not None] + [
        tuple(row.values()) for row in result.possible.to_pylist()
    ]


def history(row: Row) -> Row:
    """What the slow reading says about a value, in the columns of the table."""
    group, topic, partition = row["key"]
    previous, value = row["previous_offset"], row["committed_offset"]
    delta = None if previous is None else value - previous
    is_concluded = row["ended_by"] in ("expired", "deleted", "topic_deleted")
    own = {name: row[name] for name in row if name in OFFSET_HISTORY_NAMES}
    return own | {
        "cluster": "c", "group_id": group, "topic": topic, "partition": partition,
        "delta": delta if delta is None or -(2**63) <= delta < 2**63 else None,
        "via": "plain" if row["producer_id"] is None else "transaction", "evidence_partition": 3,
        "confidence": "possible" if row["is_possible"] else "likely" if is_concluded else "certain",
    }  # fmt: skip


OFFSET_HISTORY_NAMES = {column.name for column in TABLES["offset_history"].columns}


def transaction(row: Row) -> Row:
    duration = None
    if row["end_time"] is not None and row["first_time"] is not None:
        duration = max((row["end_time"] - row["first_time"]) // 1000, 0)
    return row | {
        "cluster": "c", "groups": sorted(row["groups"]), "duration_ms": duration, "evidence_partition": 3,
        "evidence_first_offset": row["first_offset"], "confidence": "certain",
    }  # fmt: skip


def ordered(rows: list[Row]) -> list[tuple[str, ...]]:
    return sorted(tuple(f"{name}={row[name]!r}" for name in sorted(row)) for row in rows)


def assert_equal(result: Replayed, slow: SlowOffsets) -> None:
    assert ordered(result.rows("offset_history")) == ordered([history(row) for row in slow.rows])
    assert ordered(result.rows("transactions")) == ordered([transaction(row) for row in slow.transactions])
    assert sorted(map(repr, result.liveness)) == sorted(map(repr, slow.liveness))
    possible = [
        (row["key"][0], row["from_record_offset"], row["to_record_offset"]) for row in slow.rows if row["is_possible"]
    ]
    assert offsets_in(result.possible, slow.log) == offsets_in(possible, slow.log)
    anomalies = sorted(
        (row["kind"], row["group_id"], row["evidence_first_offset"], row["record_offset"])
        for row in result.rows("replay_anomalies")
    )
    steps = [("clock_went_back", group, offset, offset) for group, offset in slow.steps]
    differing = [("older_rule", *each) for each in slow.differing]
    outlived = [("pending_outlived_deletion", *each) for each in slow.revived]
    assert anomalies == sorted([*steps, *differing, *outlived])


def offsets_in(spans: list[tuple[str, int, int | None]], log: list[Row]) -> set[tuple[str, int]]:
    """By group, the offsets of records before which one of its offsets was only possible."""
    offsets = [record["record_offset"] for record in log]
    return {(group, each) for group, first, last in spans for each in offsets
            if first < each and (last is None or each <= last)}  # fmt: skip


def made(rng: np.random.Generator) -> tuple[list[Row], Any]:
    size = int(rng.integers(1, 120))
    log = random_log(rng, size, float(rng.choice([0.0, 0.3, 0.9])))
    facts = random_facts(rng, log)
    return with_holes(rng, log, int(rng.integers(0, min(3, len(log)) + 1)) if rng.random() < 0.3 else 0), facts


@pytest.mark.parametrize("turn", TURNS)
def test_chunks_of_any_sizes_give_what_the_slow_reading_gives(turn: int, seed: int) -> None:
    rng = np.random.default_rng([seed, turn])
    log, facts = made(rng)
    result = Replayed()
    replay(result, log, fast_facts(facts), rng)
    assert_equal(result, SlowOffsets(log, facts))


@pytest.mark.parametrize("turn", TURNS)
def test_runs_cut_between_writes_give_what_one_run_gives(turn: int, seed: int) -> None:
    rng = np.random.default_rng([seed, turn])
    log, facts = made(rng)
    result = Replayed()
    begin = 0
    for place in range(1, len(log)):
        if rng.random() < 0.1 and not is_within_write(log, place):
            replay(result, log[begin:place], fast_facts(facts), rng)
            begin = place
    replay(result, log[begin:], fast_facts(facts), rng)
    assert_equal(result, SlowOffsets(log, facts))
    # The slow reading writes no messages.
    whole = Replayed()
    replay(whole, log, fast_facts(facts), rng)
    assert ordered(result.rows("replay_anomalies")) == ordered(whole.rows("replay_anomalies"))


def questions_at(rng: np.random.Generator, count: int, first: int, last: int) -> Questions:
    def names(of: tuple[str, ...]) -> pa.Array:
        return pa.array([of[each] for each in rng.integers(0, len(of), count)], pa.string())

    partition = rng.integers(0, 3, count).astype(np.int32)
    return Questions(names((*GROUPS, "none")), names((*TOPICS, "none")), partition, rng.integers(first, last, count))


@pytest.mark.parametrize("turn", TURNS)
def test_questions_get_what_was_so_at_their_offset_in_the_slow_reading(turn: int, seed: int) -> None:
    rng = np.random.default_rng([seed, turn])
    log, facts = made(rng)
    end = log[-1]["record_offset"]
    cut = int(rng.integers(0, len(log)))
    while cut and is_within_write(log, cut):
        cut -= 1
    result = Replayed()
    if cut:
        replay(result, log[:cut], fast_facts(facts), rng)
    # Of the run's own part of the log, and beyond.
    questions = questions_at(rng, 30, log[cut - 1]["record_offset"] + 1 if cut else 0, end + 3)
    replay(result, log[cut:], fast_facts(facts), rng, questions)
    assert result.finished is not None
    answers = result.finished.answers
    slow = SlowOffsets(log, facts)
    reported = zip(
        answers.committed, answers.last_commit_time, answers.next_commit_time, answers.newest_offset,
        answers.is_settled, strict=True,
    )  # fmt: skip
    expected = [expected_answer(log, slow, key, offset) for key, offset in keys_asked(questions)]
    assert [tuple(None if each == NONE else each for each in some) for some in reported] == expected
    assert answers.is_answered.all()


def keys_asked(questions: Questions) -> list[tuple[tuple[str, str, int], int]]:
    keys = zip(questions.group_id.to_pylist(), questions.topic.to_pylist(), questions.partition.tolist(), strict=True)
    return list(zip(keys, questions.offset.tolist(), strict=True))


def expected_answer(log: list[Row], slow: SlowOffsets, key: tuple[str, str, int], offset: int) -> tuple[Any, ...]:
    held = [
        row["committed_offset"]
        for row in slow.rows
        if row["key"] == key
        and row["from_record_offset"] <= offset
        and (row["to_record_offset"] is None or offset < row["to_record_offset"] or is_hole_at(row, offset))
    ]
    records = [r for r in log if (r.get("group_id"), r.get("topic"), r.get("partition")) == key]
    newest = [r["record_offset"] for r in records if r["record_offset"] <= offset]
    commits = [r for r in records if r.get("committed_offset") is not None]
    before = [r for r in commits if r["record_offset"] <= offset]
    after = [r for r in commits if r["record_offset"] > offset][:1]
    holes = [r["record_offset"] for r in log if "hole" in r and r["record_offset"] >= offset]
    is_cut = bool(holes) and (not after or holes[0] < after[0]["record_offset"])
    following = after if not is_cut else []
    times = time_of(before[-1:]), time_of(following)
    return (held[-1] if held else None, *times, newest[-1] if newest else None, bool(following) or is_cut)


def is_hole_at(row: Row, offset: int) -> bool:
    """A hole begins behind its offset: there the value still held."""
    return bool(row["ended_by"] == "coverage_hole" and offset == row["to_record_offset"])


def time_of(commits: list[Row]) -> int | None:
    if not commits:
        return None
    commit_time: int | None = commits[0]["commit_time"]
    record_time: int | None = commits[0]["record_time"]
    return record_time if commit_time is None else commit_time


def test_rows_come_in_the_declared_columns_and_order(rng: np.random.Generator) -> None:
    log = random_log(rng, 300, 0.3)
    run = OffsetReplay("c", 3, None, Questions.none(), OffsetFacts())
    closed = run.take(commits_table(log), markers_table(log))
    finished = run.finish()
    for table in (TABLES["offset_history"], TABLES["transactions"]):
        for tables in (closed, finished.open):
            # Names may be dictionaries of the declared type.
            result = tables[table.name].cast(table_schema(table))
            assert tables[table.name].schema.names == result.schema.names
            assert result.equals(result.sort_by([(name, "ascending") for name in table.order]))
