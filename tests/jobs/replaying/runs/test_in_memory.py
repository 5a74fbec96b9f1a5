"""History does not depend on the number of runs that a log came in: differences that there were, by hand, and random
logs."""

from collections.abc import Sequence
from typing import Any

import pytest

from tests.builders.generated.topics import KeyValue, written
from tests.builders.logs.decoded_parts import decoded
from tests.builders.logs.short_logs import LogPart, ShortLog
from tests.make.log import T0, Kept, LoggedBatch
from tests.runs.agreement import difference, differences, one_run, several_runs

LOGS, SOAKED_LOGS = 12, 10_000
TOPICS = {"t0": ("AAAAAAAAAAAAAAAAAAAAAA", 2)}
# Then age can be the reason of a deletion, and is not when it is younger.
RETENTION_MS = 3_600_000
Row = dict[str, Any]


def batch(offset: int, time: int, *pairs: KeyValue) -> LoggedBatch:
    records = tuple(Kept(offset + place, T0 + time, *pair) for place, pair in enumerate(pairs))
    return LoggedBatch(offset, records[-1].offset, records)


def commit(group: str, topic: str = "t0", partition: int = 0, position: int = 5) -> KeyValue:
    value = {"offset": position, "leader_epoch": 0, "metadata": "", "commit_timestamp": T0, "expire_timestamp": -1}
    return written(1, {"group": group, "topic": topic, "partition": partition}, value, 3)


def deletion(group: str, topic: str = "t0", partition: int = 0) -> KeyValue:
    return written(1, {"group": group, "topic": topic, "partition": partition}, None)


def history(*runs: Sequence[LoggedBatch], is_archive: bool = False) -> dict[str, list[Row]]:
    """Rows that all of these runs make, which are those that one run makes."""
    parts = (LogPart(run, some[0].base_offset, some[-1].last_offset, tuple(some)) for run, some in enumerate(runs))
    log = ShortLog(0, TOPICS, tuple(parts), RETENTION_MS, None, None, is_archive, num_slices=1)
    (tables,) = decoded([log])
    whole = one_run(log, tables).history()
    assert difference(whole, several_runs(log, tables).history()) == {}
    return {name: rows.to_pylist() for name, rows in whole.items()}


def rebalanced(group: str) -> KeyValue:
    """A value of a classic group without members, which the newer coordinator writes first."""
    value = {"protocol_type": "consumer", "generation": 1, "protocol": None, "leader": None,
             "current_state_timestamp": T0, "members": []}  # fmt: skip
    return written(2, {"group": group}, value, 3)


def removed(group: str) -> KeyValue:
    return written(2, {"group": group}, None)


def test_the_last_record_before_a_hole_may_be_the_first_of_a_group() -> None:
    replay = history([batch(0, 0, commit("g")), batch(1, 1, rebalanced("g"))], [batch(9, 9, commit("other"))])
    states = [row for row in replay["group_state_intervals"] if row["group_id"] == "g"]
    rows = [
        (row["generation_or_epoch"], row["from_record_offset"], row["to_record_offset"], row["ended_by"])
        for row in states
    ]
    assert sorted(rows, key=str) == [(1, 1, 1, "coverage_hole"), (None, 0, 1, "next_state")]


def test_a_group_before_a_hole_is_as_possible_as_its_newest_commit() -> None:
    """An archive does not say whether a commit waited for a transaction."""
    runs = [batch(0, 0, commit("g"))], [batch(1, 1, commit("g", position=6))], [batch(9, 9, commit("other"))]
    replay = history(*runs, is_archive=True)
    rows = [(row["group_id"], row["ended_by"], row["confidence"]) for row in replay["group_state_intervals"]]
    assert sorted(rows, key=str) == [("g", "coverage_hole", "possible"), ("other", None, "possible")]


def endings(result: dict[str, list[Row]]) -> list[tuple[str, str | None]]:
    rows = sorted(result["offset_history"], key=lambda row: (row["group_id"], row["partition"]))
    return [(row["group_id"], row["ended_by"]) for row in rows]


def test_offsets_and_their_group_deleted_at_one_time_but_in_two_batches_went_together() -> None:
    first = [batch(0, 0, commit("g"), commit("other"), rebalanced("g")), batch(3, 5, deletion("g"))]
    replay = history(first, [batch(4, 5, removed("g"))])
    assert endings(replay) == [("g", "deleted"), ("other", None)]


def test_offsets_of_several_groups_deleted_at_one_time_but_in_two_batches_went_with_their_topic() -> None:
    first = [batch(0, 0, commit("g"), commit("other")), batch(2, 5, deletion("g"))]
    replay = history(first, [batch(3, 5, deletion("other"))])
    assert endings(replay) == [("g", "topic_deleted"), ("other", "topic_deleted")]


def test_what_is_committed_after_a_deletion_at_the_same_time_is_no_part_of_it() -> None:
    replay = history([batch(0, 0, commit("g")), batch(1, 5, deletion("g"))], [batch(2, 5, commit("g", partition=1))])
    assert endings(replay) == [("g", "tombstone_unknown"), ("g", None)]


@pytest.mark.parametrize("number", [LOGS, pytest.param(SOAKED_LOGS, marks=pytest.mark.soak)])
def test_random_logs_have_the_history_of_one_run_however_many_they_came_in(seed: int, number: int) -> None:
    """One log again: `differences([its seed])`."""
    assert next(differences(range(seed, seed + number)), None) is None
