"""Few rows of tables, and what the views of the present give of them, reckoned by hand."""

from typing import Any

from tests.builders.tables.history import PARTITION, Row, at, rebalance
from tests.oracles.views.housekeeping_rows import DAY, HOUR, C, Case, D, ends, gone, live, owned, state
from tests.oracles.views.housekeeping_rows import verdict as judged

AS_OF = {"as_of_time": at(9 * DAY)}


def verdict(group: str, partition: int | None, own: str, seconds: float, lag: int | None = None, **more: Any) -> Row:
    return judged(group, partition, own, seconds, lag, **{"evidence_partition": PARTITION, **more})


VERDICTS: list[Row] = [
    # Of an older as-of alone.
    verdict("stopped", None, "OK", 8 * DAY, 0),
    verdict("stopped", None, "STOP", 9 * DAY, 55, since_time=at(HOUR), rule="worst_partition", time_lag_ms=9),
    verdict("stopped", 0, "STOP", 9 * DAY, 50, rule="silent"),
    verdict("stopped", 1, "OK", 9 * DAY, 5),
    verdict("stopped", 2, "UNKNOWN", 9 * DAY),
    verdict("down", None, "DOWN", 9 * DAY, 3),
    verdict("down", 0, "STOP", 9 * DAY, 3),
    # Has records in two offsets partitions: those that it wrote last count.
    verdict("moved", None, "OK", 9 * DAY, 1, last_commit_time=at(60), evidence_partition=4),
    verdict("moved", None, "STOP", 9 * DAY, 999, last_commit_time=at(50), evidence_partition=5),
    verdict("moved", 0, "OK", 9 * DAY, 1, last_commit_time=at(60), evidence_partition=4),
    verdict("moved", 0, "STOP", 9 * DAY, 999, last_commit_time=at(50), evidence_partition=5),
    {**verdict("stopped", None, "UNKNOWN", 8 * DAY), **D},
]
# It was deleted; Burrow still counts its commits.
GONE: Row = verdict("ended", None, "OK", 9 * DAY, rule="worst_partition")
GROUPS = Case(
    "v_groups_now",
    {
        "group_verdicts": [*VERDICTS, GONE],
        "group_state_intervals": [
            gone(state("stopped", 0), 9 * DAY),
            state("stopped", 2, 9 * DAY, group_type="consumer"),
            # A later one, that the audit did not know, and one that had ended by then.
            state("later", 1, 9 * DAY + 1),
            gone(state("ended", 1), 9 * DAY),
            state("no-offsets", 4),
        ],
        "rebalances": [
            {**C, **rebalance("stopped", 1, 5, 6, trigger="group_created", trigger_detail="m joined")},
            {**C, **rebalance("stopped", 2, 70, 80, trigger="member_left", trigger_detail="m left")},
            {**C, **rebalance("stopped", 3, 9 * DAY + 1, 9 * DAY + 2, trigger="member_joined")},
        ],
    },
    [
        {"cluster": "c", "rank": 1, "group_id": "down", "own_verdict": "DOWN", "state": None, "num_members": None,
         "lag": 3, "num_partitions": 1, "num_not_ok": 1, "last_rebalance_time": None, **AS_OF},
        {"rank": 2, "group_id": "stopped", "own_verdict": "STOP", "rule": "worst_partition", "since_time": at(HOUR),
         "state": "Stable", "num_members": 2, "group_type": "consumer", "lag": 55, "time_lag_ms": 9,
         "num_partitions": 3, "num_not_ok": 2, "last_rebalance_time": at(70), "last_rebalance_trigger": "member_left",
         "last_rebalance_detail": "m left", **AS_OF},
        {"rank": 3, "group_id": "moved", "own_verdict": "OK", "lag": 1, "num_partitions": 1, "num_not_ok": 0},
        {"rank": 4, "group_id": "no-offsets", "own_verdict": None, "num_members": 4, "num_partitions": 0, **AS_OF},
        {"cluster": "d", "rank": 1, "group_id": "stopped", "own_verdict": "UNKNOWN", "as_of_time": at(8 * DAY)},
    ],
)  # fmt: skip
LAG = Case(
    "v_lag_now",
    {
        "group_verdicts": [
            *VERDICTS,
            verdict("stopped", 3, "WARN", 9 * DAY, 7, topic_id="old"),
        ],
        "offset_history": [
            gone(live("stopped", committed_offset=1), HOUR),
            live("stopped", from_time=at(HOUR), from_record_offset=8, committed_offset=50),
            live("stopped", from_time=at(9 * DAY + 1), from_record_offset=9, committed_offset=90),
            live("moved", evidence_partition=4, committed_offset=99),
            live("moved", evidence_partition=5, committed_offset=1),
        ],
        "ownership_intervals": [
            owned("stopped", 0, "one", phase="assigned"),
            owned("stopped", 1, "two", phase="held"),
            owned("stopped", 2, "three", phase="assigned", role="standby"),
            gone(owned("down", 0, "four", phase="assigned"), 8 * DAY),
        ],
        "topic_snapshots": [
            ends(0, 70, seconds=HOUR), ends(0, 100, seconds=2 * HOUR), ends(0, None, seconds=3 * HOUR),
            ends(0, 900, seconds=9 * DAY + 1), ends(0, 8, 3, topic_id="new"),
        ],
    },
    [
        {"cluster": "c", "rank": 1, "group_id": "stopped", "partition": 0, "committed_offset": 50,
         "log_end_offset": 100, "end_time": at(2 * HOUR), "owner_member_id": "m-one", "owner_client_id": "one",
         "owner_client_host": "/one", "own_verdict": "STOP", "rule": "silent", "lag": 50, **AS_OF},
        {"rank": 2, "group_id": "down", "partition": 0, "committed_offset": None, "owner_member_id": None},
        {"rank": 3, "group_id": "stopped", "partition": 3, "topic_id": "old", "log_end_offset": None, "lag": 7},
        {"rank": 4, "group_id": "stopped", "partition": 2, "own_verdict": "UNKNOWN", "owner_member_id": None},
        {"rank": 5, "group_id": "stopped", "partition": 1, "own_verdict": "OK", "owner_member_id": None},
        {"rank": 6, "group_id": "moved", "partition": 0, "committed_offset": 99, "own_verdict": "OK"},
    ],
)  # fmt: skip
