"""Traps of reading commits, one by one, each by hand. Offsets are those of the log, and a record's time is its offset
in seconds."""

import numpy as np
import pyarrow as pa

from tests.builders.groups.offset_logs import (
    Row,
    commit,
    commits_table,
    deletion,
    marker,
    markers_table,
    of_transaction,
)
from tests.runs.commit_replays import Run, S, older_rules, state_after
from udfs.arrays.nullable import NONE
from udfs.commits.group_questions import Questions
from udfs.commits.link_commits import OffsetReplay
from udfs.commits.offset_endings import OffsetFacts
from udfs.commits.transactions import merged
from udfs.log.gaps import Gaps


def test_trap_13_the_deletion_of_a_group_deletes_no_offset() -> None:
    tombstones = pa.table({"group_id": ["a"], "record_time": pa.array([2 * S]).cast(pa.timestamp("us", "UTC"))})
    run = Run(commit(1), facts=OffsetFacts(group_tombstones=tombstones))
    assert run.select("from_offset", "is_open") == [(1, True)]


def test_trap_26_key_versions_0_and_1_are_one_offset_and_the_later_record_holds() -> None:
    run = Run(commit(1, key_version=1, committed_offset=10), commit(2, key_version=0, committed_offset=11))
    assert run.select("committed_offset", "is_open") == [(10, False), (11, True)]


def test_trap_27_a_plain_commit_before_the_marker_wins_over_the_transaction() -> None:
    run = Run(of_transaction(1, committed_offset=10), commit(2, committed_offset=20), marker(3))
    assert run.select("committed_offset", "via", "is_open") == [(20, "plain", True)]
    assert [(row["outcome"], row["num_commits"], row["num_superseded"]) for row in run.transactions] == [
        ("committed", 1, 1)
    ]


def test_of_two_transactions_the_one_with_the_later_record_wins_whatever_the_order_of_markers() -> None:
    log = of_transaction(1, 7, committed_offset=10), of_transaction(2, 8, committed_offset=20)
    run = Run(*log, marker(3, 8), marker(4, 7))
    assert run.select("committed_offset", "producer_id", "from_offset") == [(20, 8, 3)]
    run = Run(*log, marker(3, 7), marker(4, 8))
    assert run.select("committed_offset", "producer_id", "from_offset") == [(10, 7, 3), (20, 8, 4)]


def test_trap_28_a_marker_ends_the_transaction_of_its_producer_whatever_the_epoch() -> None:
    run = Run(of_transaction(1, 7) | {"producer_epoch": 4}, marker(2, 7) | {"producer_epoch": 5}, marker(3, 9))
    assert run.select("from_offset", "via", "producer_id") == [(2, "transaction", 7)]
    assert [(row["producer_epoch"], row["outcome"]) for row in run.transactions] == [(4, "committed")]


def test_a_transactional_commit_begins_at_its_marker_and_rests_on_both() -> None:
    run = Run(of_transaction(1, committed_offset=10), commit(2, partition=1), marker(3), commit(9))
    row = next(row for row in run.history if row["committed_offset"] == 10)
    assert (row["from_offset"], row["evidence_first_offset"], row["evidence_last_offset"]) == (3, 1, 9)
    assert row["from_time"].timestamp() == 3


def test_an_aborted_commit_makes_no_row_and_what_was_committed_before_goes_on() -> None:
    run = Run(commit(1, committed_offset=5), of_transaction(2, committed_offset=6), marker(3, kind="ABORT"))
    assert run.select("committed_offset", "is_open") == [(5, True)]
    assert [(row["outcome"], row["num_superseded"]) for row in run.transactions] == [("aborted", 0)]


def test_trap_44_a_negative_offset_is_an_offset() -> None:
    run = Run(commit(1, committed_offset=-1), commit(2, committed_offset=4))
    assert run.select("committed_offset", "previous_offset", "delta") == [(-1, None, None), (4, -1, 5)]


def test_a_delta_beyond_64_bits_is_unknown() -> None:
    run = Run(commit(1, committed_offset=-(2**63)), commit(2, committed_offset=2**63 - 1))
    assert run.select("previous_offset", "delta") == [(None, None), (-(2**63), None)]


def test_trap_45_a_retention_time_of_the_request_is_kept_and_counts_before_the_brokers() -> None:
    log = commit(1, expire_time=5 * S), deletion(4), commit(6, expire_time=9 * S), deletion(9)
    run = Run(*log, facts=OffsetFacts(retention_ms=0))
    assert run.select("ended_by", "confidence") == [("tombstone_unknown", "certain"), ("expired", "likely")]
    assert [row["last_expire_time"].timestamp() for row in run.history] == [5, 9]


def test_trap_46_a_commit_without_topic_id_recreates_no_topic() -> None:
    run = Run(
        commit(1, topic_id="A", committed_offset=7), of_transaction(2, committed_offset=8), marker(3),
        commit(4, topic_id="A", committed_offset=9), commit(5, topic_id="B", committed_offset=1),
    )  # fmt: skip
    assert run.select("topic_id", "ended_by", "previous_offset") == [
        ("A", "commit", None),
        (None, "commit", 7),
        ("A", "topic_recreated", 8),
        # The value of another topic is none that held before.
        ("B", None, None),
    ]


def test_trap_47_of_one_key_twice_in_one_batch_both_hold_the_first_for_no_time() -> None:
    log = commit(1, committed_offset=3, record_time=S), commit(2, committed_offset=4, record_time=S)
    first, second = Run(*log).history
    assert (first["from_time"], first["to_time"]) == (second["from_time"], second["from_time"])
    assert (second["committed_offset"], second["is_open"]) == (4, True)


def test_trap_54_a_group_with_nothing_but_a_pending_commit_is_alive_and_has_no_offset() -> None:
    run = Run(of_transaction(1))
    assert run.history == []
    assert [(row["outcome"], row["groups"], row["is_open"]) for row in run.transactions] == [("open", ["a"], True)]
    alive = run.finished.liveness.to_pylist()
    assert [(row["group_id"], row["from_offset"], row["to_offset"]) for row in alive] == [("a", 1, None)]
    # Its transaction's end is the end of the group.
    ended = Run(marker(2, kind="ABORT"), state=run.state).finished.liveness.to_pylist()
    assert [(row["from_offset"], row["to_offset"]) for row in ended] == [(1, 2)]


def test_trap_55_a_deletion_inside_an_open_transaction_takes_the_pending_commit_with_it() -> None:
    run = Run(commit(1, committed_offset=1), of_transaction(2, committed_offset=2), deletion(3), marker(4))
    assert run.select("committed_offset", "to_offset") == [(1, 3)]
    assert [row["num_superseded"] for row in run.transactions] == [1]
    assert run.finished.liveness.to_pylist()[0]["to_offset"] == 3
    # The older coordinator keeps it when it loads the log: the row says which rule was used.
    assert older_rules(run) == [("a", "info", 2, 4)]
    # So too where the next run begins between the deletion and the marker.
    before = Run(of_transaction(2), deletion(3))
    after = Run(commit(4, group_id="b"), marker(5), state=before.state)
    assert (after.select("group_id"), older_rules(after)) == ([("b",)], [("a", "info", 2, 5)])
    assert "record 3 deleted the offset that record 2 had pending" in after.tables["replay_anomalies"][0]["message"]
    alive = Run(commit(4, partition=1), marker(5), state=before.state).finished.liveness.to_pylist()
    assert [(row["from_offset"], row["to_offset"]) for row in alive] == [(4, None)]


def test_a_deletion_in_a_transactional_batch_counts_at_once() -> None:
    run = Run(commit(1), deletion(2, is_transactional=True, producer_id=7), commit(3))
    assert run.select("from_offset", "to_offset", "previous_offset") == [(1, 2, None), (3, None, None)]


def test_a_producer_of_a_commit_outside_of_transactions_is_none() -> None:
    assert Run(commit(1, producer_id=7)).select("via", "producer_id", "is_open") == [("plain", None, True)]


def test_commits_of_an_archive_without_producers_are_possible() -> None:
    run = Run(commit(1, is_transactional=None), commit(2))
    assert run.select("confidence", "via") == [("possible", "plain"), ("certain", "plain")]


def test_a_producer_shows_a_transaction_where_the_archive_lacks_the_flag() -> None:
    run = Run(commit(1, is_transactional=None, producer_id=7), marker(2))
    assert run.select("from_offset", "via", "confidence") == [(2, "transaction", "certain")]


def test_equal_commits_are_one_row_with_the_last_ones_times() -> None:
    run = Run(*(commit(offset, committed_offset=8, expire_time=offset * S + 1) for offset in (1, 2, 5)), commit(7))
    row = run.history[0]
    assert (row["num_commits"], row["from_offset"], row["to_offset"]) == (3, 1, 7)
    assert [row[name].timestamp() for name in ("from_time", "to_time")] == [1, 7]
    assert [round(row[name].timestamp()) for name in ("commit_time", "last_commit_time", "last_expire_time")] == [
        1, 5, 5
    ]  # fmt: skip


def test_every_column_that_distinguishes_a_value_begins_a_row() -> None:
    same = {"committed_offset": 8, "topic_id": "A", "metadata": "m", "leader_epoch": 1}
    others: list[Row] = [{"committed_offset": 9}, {"topic_id": "B"}, {"metadata": ""}, {"leader_epoch": None}]
    for other in others:
        assert len(Run(commit(1, **same), commit(2, **(same | other)), commit(3, **same)).history) == 3, other
    producers = of_transaction(2, 7, **same), marker(3, 7), of_transaction(4, 8, **same), marker(5, 8)
    assert [row["producer_id"] for row in Run(commit(1, **same), *producers).history] == [None, 7, 8]


def test_history_time_of_a_key_never_goes_back_not_even_over_a_deletion() -> None:
    log = commit(1, record_time=9 * S), deletion(2, record_time=8 * S), commit(3, record_time=5 * S)
    run = Run(*log, commit(4, partition=1, record_time=4 * S))
    assert [(row["from_time"].timestamp(), row["to_time"] and row["to_time"].timestamp()) for row in run.history] == [
        (9, 9),
        (9, None),
        (4, None),
    ]


def test_each_step_back_of_the_clock_by_more_than_a_second_is_reported_once() -> None:
    times = [10 * S, 9 * S, 7 * S, 7 * S + 5, 12 * S]
    run = Run(*(commit(offset, record_time=time) for offset, time in enumerate(times)))
    (row,) = run.tables["replay_anomalies"]
    assert (row["record_offset"], row["kind"], row["severity"]) == (2, "clock_went_back", "info")
    assert row["message"] == "the record's time is 2,000 ms earlier than that of the group's previous commit"


def test_missing_records_leave_the_ends_of_a_value_inexact() -> None:
    run = Run(commit(1), commit(2), commit(6), commit(7), facts=OffsetFacts(Gaps([3], [5])))
    assert run.select("is_from_exact", "is_to_exact") == [(True, True), (True, False), (False, True), (True, True)]
    # Of a key that was never seen a record may be missing anywhere before.
    run = Run(commit(1), commit(6, partition=1), facts=OffsetFacts(Gaps([3], [5])))
    assert run.select("is_from_exact") == [(True,), (False,)]
    # Between a transactional commit and its marker a later commit may be missing.
    run = Run(of_transaction(1), marker(6), facts=OffsetFacts(Gaps([3], [5])))
    assert run.select("is_from_exact") == [(False,)]


def test_after_a_hole_nothing_is_claimed() -> None:
    run = OffsetReplay("c", 0, None, Questions.none(), OffsetFacts(Gaps([3], [9])))
    log = [commit(1), of_transaction(2)]
    run.take(commits_table(log), markers_table(log))
    closed = run.hole(2, 2 * S)
    (row,) = closed["offset_history"].to_pylist()
    assert (row["to_offset"], row["to_time"].timestamp(), row["ended_by"], row["is_to_exact"], row["is_open"]) == (
        2, 2, "coverage_hole", False, False
    )  # fmt: skip
    (transaction,) = closed["transactions"].to_pylist()
    assert (transaction["outcome"], transaction["is_open"], transaction["end_time"]) == ("open", False, None)
    # A marker behind the hole ends nothing, and the next commit has nothing before it.
    log = [marker(10), commit(11)]
    after = [*run.take(commits_table(log), markers_table(log))["transactions"].to_pylist()]
    finished = run.finish()
    assert after == []
    (row,) = finished.open["offset_history"].to_pylist()
    assert (row["from_offset"], row["is_from_exact"], row["previous_offset"]) == (11, False, None)
    alive = [(row["from_offset"], row["to_offset"]) for row in finished.liveness.to_pylist()]
    assert alive == [(1, 2), (11, None)]


def test_a_state_that_holds_no_value_any_more_answers_what_it_knows() -> None:
    first = Run(commit(1, committed_offset=5), commit(4, committed_offset=6))
    offsets = np.array([0, 3, 4, 9])
    names = pa.array(["a"] * 4), pa.array(["t"] * 4)
    result = Run(
        commit(10), state=first.state, questions=Questions(*names, np.zeros(4, np.int32), offsets)
    ).finished.answers  # fmt: skip
    # The state does not show the value at 0 and at 3; at 4 and 9 it was 6.
    assert result.is_answered.tolist() == [False, False, True, True]
    assert result.committed.tolist() == [NONE, NONE, 6, 6]
    assert result.last_commit_time.tolist() == [NONE, NONE, 4 * S - 1, 4 * S - 1]
    assert result.next_commit_time.tolist() == [10 * S - 1] * 4


def test_no_commit_follows_another_over_a_hole() -> None:
    run = OffsetReplay("c", 0, None, Questions.none(), OffsetFacts())
    run.take(commits_table([commit(1)]), markers_table([]))
    run.hole(4, None)
    asked = Questions(*(pa.array([name] * 2) for name in ("a", "t")), np.zeros(2, np.int32), np.array([4, 5]))
    result = Run(commit(10), state=state_after(run.finish()), questions=asked).finished.answers
    assert result.next_commit_time.tolist() == [NONE, 10 * S - 1]
    assert result.is_settled.all()
    assert result.committed.tolist() == [NONE, NONE]


def test_a_transaction_over_groups_of_several_slices_is_one_row() -> None:
    log = of_transaction(1, group_id="b"), of_transaction(3, group_id="b", partition=1), marker(5)
    other = of_transaction(2, group_id="a"), of_transaction(4, 8, group_id="a"), marker(5)
    tables = [
        OffsetReplay("c", 0, None, Questions.none(), OffsetFacts()).take(commits_table(some), markers_table(some))
        for some in (list(log), list(other))
    ]
    rows = merged([table["transactions"] for table in tables]).to_pylist()
    assert [(row["first_offset"], row["groups"], row["num_commits"], row["evidence_last_offset"]) for row in rows] == [
        (1, ["a", "b"], 3, 5)
    ]
    unended = [Run(*some[:-1]).finished.open["transactions"] for some in (log, other)]
    rows = merged(unended).to_pylist()
    assert [(row["producer_id"], row["groups"], row["num_commits"], row["evidence_last_offset"]) for row in rows] == [
        (7, ["a", "b"], 3, 3),
        (8, ["a"], 1, 4),
    ]


def test_a_state_that_is_newer_than_a_question_does_not_answer_it() -> None:
    state = Run(commit(1, committed_offset=5), commit(4, committed_offset=6)).state
    names = pa.array(["a", "a"]), pa.array(["t", "t"])
    questions = Questions(*names, np.zeros(2, np.int32), np.array([4, 2]), np.zeros(2, np.bool_))
    answers = Run(state=state, questions=questions).finished.answers
    assert answers.is_answered.tolist() == [True, False]
    assert answers.committed.tolist() == [6, NONE]
