"""Few rows of coordinators that followed one another, and what v_failovers gives of them, reckoned by hand."""

from typing import Any

from tests.builders.tables.history import PARTITION, Row, at
from tests.oracles.views.housekeeping_rows import C, Case, D, known, state


def epoch(number: int, first: int, last: int, begin: float, end: float, partition: int = PARTITION) -> Row:
    bounds = {"first_offset": first, "last_offset": last, "from_time": at(begin), "to_time": at(end)}
    return {**C, "offsets_partition": partition, "partition_leader_epoch": number, **bounds}


def record(number: int, offset: int, seconds: float, partition: int = PARTITION, **more: Any) -> Row:
    place = {"offsets_partition": partition, "record_offset": offset, "record_time": at(seconds)}
    return {**C, **place, "partition_leader_epoch": number, "group_id": "g", **more}


def captured(seconds: float, leader: int, of_4: int = 1) -> Row:
    leaders = [{"partition": number, "leader": each} for number, each in ((0, 8), (PARTITION, leader), (4, of_4))]
    return {**C, "captured_time": at(seconds), "offsets_partitions": leaders}


def captured_epoch(seconds: float, number: int) -> Row:
    place = {"topic": "__consumer_offsets", "partition": PARTITION, "leader_epoch": number}
    return {**C, "captured_time": at(seconds), **place}


FAILOVERS = Case(
    "v_failovers",
    {
        "coordinator_epochs": [
            epoch(0, 0, 9, 0, 90), epoch(1, 10, 20, 100, 200), epoch(4, 21, 30, 205, 300),
            # Between 9 and 12 the cleaner took what was there.
            epoch(2, 0, 9, 0, 60, 4), epoch(3, 12, 20, 62, 80, 4),
            # Its clock is behind; and of the epoch before it no record counts.
            epoch(7, 5, 9, 50, 60, 5), epoch(8, 10, 12, 55, 70, 5),
            {**epoch(0, 0, 9, 0, 90), **D},
        ],
        "offset_commits": [
            record(0, 9, 90), record(0, 11, 92), record(0, 12, 93, group_id="h"), record(1, 10, 100),
            record(4, 22, 210), record(8, 11, 60, 5, group_id="late"),
            record(0, 30, 99, group_id="i", is_tombstone=True), record(6, 5, 40, 5),
            {**record(0, 30, 99), **D}, {**record(9, 30, 99), "partition_leader_epoch": None},
        ],
        "classic_group_metadata": [
            # A static member came back before and after the first two of these.
            record(0, 5, 20, generation=4), record(0, 10, 91, generation=5), record(0, 13, 94, generation=5),
            record(0, 14, 95, generation=4), record(0, 15, 96, group_id="new", generation=0),
        ],
        "group_state_intervals": [
            state("g", 2, 3), state("empty", 0, 3), {**state("joining", 1, 3), "evidence_partition": 4}
            | {"state": "PreparingRebalance", "to_record_offset": 12}, {**state("later", 1), "from_record_offset": 21},
            {**state("late", 1), "evidence_partition": 5},
        ],
        "rebalances": [
            {**C, "group_id": "g", "evidence_partition": PARTITION, "assignment_offset": 23},
            {**C, "group_id": "late", "evidence_partition": 5, "assignment_offset": 10},
        ],
        # Of two the clock is wrong: one names its leader epoch, and the other contradicts the first about partition 4.
        "cluster_snapshots": [
            captured(50, 1), captured(55, 1, of_4=2), captured(150, 2), captured(155, 1), captured(203, 9),
            captured(301, 1),
        ],
        "topic_snapshots": [captured_epoch(50, 0), captured_epoch(155, 4), captured_epoch(301, 4)],
        "history_coverage": [{**known(300), "offsets_partition": each} for each in (PARTITION, 4, 5)],
    },
    [
        {
            "cluster": "c", "rank": 1, "offsets_partition": 3, "failover_time": at(100), "old_leader_epoch": 0,
            "new_leader_epoch": 1, "old_coordinator": 1, "new_coordinator": 2, "last_record_time": at(90),
            "gap_ms": 10_000, "is_gap_exact": True, "num_groups": 2, "failure_case": "after_sync",
            "failure_case_confidence": "certain", "num_records_lost": 7, "num_commits_lost": 2,
            "num_generations_lost": 1, "num_deletions_lost": 1, "num_markers_lost": 0, "num_groups_lost": 4,
            "groups": ["g", "h", "i", "new"], "first_lost_time": at(91), "last_lost_time": at(99),
            "evidence_partition": 3, "evidence_first_offset": 10, "evidence_last_offset": 30,
            "as_of_time": at(301), "history_since_time": at(0),
        },
        {
            "rank": 2, "offsets_partition": 5, "new_leader_epoch": 7, "old_leader_epoch": None, "gap_ms": None,
            "last_record_time": None, "num_commits_lost": 1, "num_generations_lost": 0, "failure_case": None,
        },
        {
            "rank": 3, "offsets_partition": 3, "new_leader_epoch": 4, "old_leader_epoch": 1, "old_coordinator": 2,
            "new_coordinator": 1, "num_groups": 2, "num_records_lost": 0, "groups": None, "failure_case": "stable",
            "failure_case_confidence": "likely", "gap_ms": 5_000, "evidence_last_offset": 21, "first_lost_time": None,
        },
        {
            "rank": 4, "offsets_partition": 4, "new_leader_epoch": 3, "num_groups": 1, "failure_case": "joining",
            "old_coordinator": None, "new_coordinator": None, "gap_ms": 2_000, "is_gap_exact": False,
        },
        {
            "rank": 5, "offsets_partition": 5, "new_leader_epoch": 8, "num_groups": 1, "failure_case": None,
            "failure_case_confidence": None, "gap_ms": None, "is_gap_exact": None,
        },
    ],
)  # fmt: skip
