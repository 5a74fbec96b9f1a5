"""Why offsets were removed, case by case, each by hand."""

from typing import Any

import pyarrow as pa

from tests.builders.groups.offset_logs import (
    Row,
    commit,
    commits_table,
    deletion,
    markers_table,
)
from tests.runs.commit_replays import Run, S
from udfs.commits.group_questions import Questions
from udfs.commits.link_commits import OffsetReplay
from udfs.commits.offset_endings import OffsetFacts, topic_deletions

TIME = pa.timestamp("us", "UTC")


def facts(**known: Any) -> OffsetFacts:
    tables = {
        name: pa.table(
            {
                column: pa.array(values, pa.int64()).cast(TIME) if column.endswith("_time") else pa.array(values)
                for column, values in columns.items()
            }
        )
        for name, columns in known.items()
        if name != "retention_ms"
    }
    return OffsetFacts(retention_ms=known.get("retention_ms"), **tables)


def ends(result: Run) -> list[tuple[str, str]]:
    return [(row["ended_by"], row["confidence"]) for row in result.history if not row["is_open"]]


WEEK_MS = 7 * 24 * 3_600_000


def test_an_offset_that_goes_when_its_retention_is_over_has_expired() -> None:
    late = WEEK_MS * 1000
    log = commit(1, commit_time=S), deletion(2, record_time=S + late)
    assert ends(Run(*log, facts=facts(retention_ms=WEEK_MS))) == [("expired", "likely")]
    early = commit(1, commit_time=S), deletion(2, record_time=S + late - 1)
    assert ends(Run(*early, facts=facts(retention_ms=WEEK_MS))) == [("tombstone_unknown", "certain")]
    # A group is deleted by the same sweep once its last offset has expired.
    swept = facts(retention_ms=WEEK_MS, group_tombstones={"group_id": ["a"], "record_time": [S + late]})
    assert ends(Run(*log, facts=swept)) == [("expired", "likely")]


def test_in_an_emptied_group_age_counts_from_when_it_became_empty() -> None:
    log = commit(1, commit_time=S), deletion(5, record_time=20 * S)
    empty: Row = {"group_id": ["a"], "from_offset": [3], "since_time": [12 * S]}
    to_offset = pa.array([None], pa.int64())
    known = {"empty_groups": empty | {"to_offset": to_offset}, "retention_ms": 10_000}
    assert ends(Run(*log, facts=facts(**known))) == [("tombstone_unknown", "certain")]
    assert ends(Run(*log, facts=facts(**(known | {"retention_ms": 8_000})))) == [("expired", "likely")]
    # It had members again before: then the commit's own age counts.
    over = {"empty_groups": empty | {"to_offset": [4]}, "retention_ms": 10_000}
    assert ends(Run(*log, facts=facts(**over))) == [("expired", "likely")]


def test_an_offset_that_goes_with_its_group_before_its_time_was_deleted() -> None:
    with_group = facts(retention_ms=WEEK_MS, group_tombstones={"group_id": ["a", "b"], "record_time": [5 * S, 2 * S]})
    assert ends(Run(commit(1), deletion(2, record_time=5 * S), facts=with_group)) == [("deleted", "likely")]
    assert ends(Run(commit(1), deletion(2), facts=with_group)) == [("tombstone_unknown", "certain")]


def test_one_offset_of_a_topic_that_goes_alone_was_deleted_by_name() -> None:
    two = commit(1), commit(2, partition=1)
    assert ends(Run(*two, deletion(3), facts=facts(retention_ms=WEEK_MS))) == [("deleted", "likely")]
    # Where age may be the reason it may be that.
    assert ends(Run(*two, deletion(3))) == [("tombstone_unknown", "certain")]
    # Both of one write go as a whole topic, whatever stays of others.
    both = deletion(3, record_time=3 * S), deletion(4, partition=1, record_time=3 * S)
    log = *two, commit(2, topic="u"), *both
    assert ends(Run(*log, facts=facts(retention_ms=WEEK_MS))) == [("tombstone_unknown", "certain")] * 2


def test_offsets_of_a_topic_that_go_in_several_groups_at_once_went_with_the_topic() -> None:
    gone = [deletion(3, record_time=9 * S), deletion(4, group_id="b", record_time=9 * S)]
    log = commit(1), commit(2, group_id="b"), *gone
    deletions = topic_deletions(commits_table(gone))
    run = Run(*log, facts=OffsetFacts(topic_deletions=deletions, retention_ms=0))
    assert ends(run) == [("topic_deleted", "likely")] * 2
    # One group alone, or one group at two times: no sign of a topic's deletion.
    assert topic_deletions(commits_table(gone[:1])).num_rows == 0
    assert topic_deletions(commits_table([gone[0], gone[1] | {"record_time": 8 * S}])).num_rows == 0
    # With the group: then the group was deleted, though the topic's name went too.
    tombstones = pa.table({"group_id": ["a", "b"], "record_time": pa.array([9 * S, 9 * S]).cast(TIME)})
    run = Run(*log, facts=OffsetFacts(topic_deletions=deletions, group_tombstones=tombstones))
    assert ends(run) == [("deleted", "likely")] * 2
    # Another offset of the topic stays: then the topic stays.
    run = Run(commit(0, partition=1), *log, facts=OffsetFacts(topic_deletions=deletions, retention_ms=WEEK_MS))
    assert ends(run) == [("deleted", "likely"), ("topic_deleted", "likely")]


def test_a_write_that_deletes_is_judged_whole_though_chunks_cut_it() -> None:
    log = [commit(1), commit(2, partition=1), deletion(3, record_time=S), deletion(4, partition=1, record_time=S)]
    run = OffsetReplay("c", 0, None, Questions.none(), OffsetFacts(retention_ms=WEEK_MS))
    closed = [run.take(commits_table(log[:3]), markers_table([])), run.take(commits_table(log[3:]), markers_table([]))]
    closed.append(run.finish().closed)
    ended_bys = [row["ended_by"] for tables in closed for row in tables["offset_history"].to_pylist()]
    assert ended_bys == ["tombstone_unknown"] * 2


def test_a_commit_after_the_last_deletion_of_a_write_leaves_the_reason_as_it_is() -> None:
    """Only offsets that outlive the deletion show that it was one by name."""
    log = commit(1), deletion(3), commit(4, partition=1, record_time=3 * S)
    run = Run(*log, facts=OffsetFacts(retention_ms=10**9))
    assert run.select("partition", "ended_by") == [(0, "tombstone_unknown"), (1, None)]
