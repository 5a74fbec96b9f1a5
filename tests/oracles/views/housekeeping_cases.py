"""Few rows of tables, and what views of housekeeping give of them, reckoned by hand. Times: seconds after START."""

from typing import Any

from tests.builders.tables.history import Row, at
from tests.oracles.views.activity_cases import COVERAGE, DIFF, HEADROOM, HEALTH, SPANS, VOLUME
from tests.oracles.views.failover_cases import FAILOVERS
from tests.oracles.views.housekeeping_rows import (
    DAY,
    HOUR,
    C,
    Case,
    D,
    forecast,
    gone,
    known,
    limit,
    live,
    member,
    owned,
    state,
    verdict,
)
from tests.oracles.views.now_cases import GROUPS, LAG

VERDICT = Case(
    "v_group_verdict",
    {
        "group_verdicts": [
            verdict("g", 0, "WARN", 0),
            verdict("g", 0, "OK", DAY),
            verdict("g", 0, "STOP", 9 * DAY, 5),
            verdict("g", 1, "OK", 9 * DAY, 50),
            verdict("g", None, "STOP", 9 * DAY, 55),
            verdict("h", 0, "WARN", 9 * DAY, 7),
            verdict("h", 1, "WARN", 9 * DAY, 8),
            verdict("h", 1, "WARN", 8 * DAY, 8),
            verdict("h", 1, "OK", 7 * DAY, 8),
            verdict("alone", 0, "REWIND", 9 * DAY, None),
            # Of an older as-of alone.
            verdict("gone", 0, "STOP", 8 * DAY, 900),
            {**verdict("g", 0, "UNKNOWN", 0), **D},
        ]
    },
    [
        {"cluster": "c", "rank": 1, "group_id": "g", "partition": None, "own_verdict": "STOP", "is_only_one": False,
         "num_alike": 1, "previous_verdict": None, "num_changes": 0},
        {"cluster": "c", "rank": 2, "group_id": "g", "partition": 0, "own_verdict": "STOP", "is_only_one": True,
         "num_alike": 1, "previous_verdict": "OK", "num_changes": 1},
        {"cluster": "c", "rank": 3, "group_id": "alone", "partition": 0, "own_verdict": "REWIND", "is_only_one": False},
        {"cluster": "c", "rank": 4, "group_id": "h", "partition": 1, "num_alike": 2, "is_only_one": False,
         "previous_verdict": "WARN", "num_changes": 1},
        {"cluster": "c", "rank": 5, "group_id": "h", "partition": 0, "num_alike": 2, "num_changes": 0},
        {"cluster": "c", "rank": 6, "group_id": "g", "partition": 1, "own_verdict": "OK", "is_only_one": False},
        {"cluster": "d", "rank": 1, "group_id": "g", "own_verdict": "UNKNOWN"},
    ],
)  # fmt: skip


def reset(group: str, kind: str, reread: int | None, skipped: int | None, number: int = 1, offset: int = 5) -> Row:
    moved = {"kind": kind, "messages_reread": reread, "messages_skipped": skipped, "num_partitions": number}
    lists = {"partitions": [0], "from_offsets": [1], "to_offsets": []}
    return {**C, "group_id": group, "topic": "orders", "evidence_first_offset": offset, **moved, **lists}


RESETS = Case(
    "v_offset_resets",
    {
        "offset_resets": [
            reset("gone", "deleted", None, None, 9),
            reset("one", "expired", None, None),
            reset("both", "shift", 40, 61),
            reset("back", "to_earliest", 100, 0, 3),
            reset("back", "to_latest", 0, 100, 4),
        ],
        "history_coverage": [known(HOUR)],
    },
    [
        {"rank": 1, "group_id": "both", "kind": "shift", "as_of_time": at(HOUR), "history_since_time": at(0)},
        {"rank": 2, "group_id": "back", "kind": "to_latest"},
        {"rank": 3, "group_id": "back", "kind": "to_earliest"},
        {"rank": 4, "group_id": "gone", "messages_reread": None},
        {"rank": 5, "group_id": "one", "kind": "expired"},
    ],
)


EXPIRY = Case(
    "v_expiry_forecast",
    {
        "expiry_forecast": [
            forecast("unknown", None, rule="unknown"),
            forecast("later", 5_400),
            forecast("never", None, rule="never"),
            forecast("blocked", -HOUR, blocked_by_transaction=True),
            forecast("past", -90, messages_at_risk=7),
            {**forecast("elsewhere", 10 * DAY), **D},
        ]
    },
    [
        {"cluster": "c", "rank": 1, "group_id": "past", "hours_left": -0.025, "messages_at_risk": 7},
        {"cluster": "c", "rank": 2, "group_id": "later", "hours_left": 1.5, "as_of_time": at(0)},
        {"cluster": "c", "rank": 3, "group_id": "unknown", "hours_left": None, "rule": "unknown"},
        {"cluster": "c", "rank": 4, "group_id": "blocked", "hours_left": -1.0},
        {"cluster": "d", "rank": 1, "group_id": "elsewhere", "hours_left": 240.0},
    ],
)


INVENTORY = Case(
    "v_inventory",
    {
        "history_coverage": [known(10 * DAY)],
        "gate_limits": [limit("dead_group_days", 6), limit("storm_gap_s", 9)],
        "group_state_intervals": [
            state("used", 2),
            state("dead", 0, 3 * DAY),
            state("console-consumer-123", 0),
            state("left-lately", 0, 4 * DAY),
            state("committed-lately", 0),
            state("unknown", None),
            gone(state("deleted", 0), 5),
        ],
        "offset_history": [
            live("dead", last=3 * DAY),
            live("dead", 1),
            live("dead", topic="clicks"),
            gone(live("dead", topic="views"), 70),
            live("committed-lately", last=4 * DAY),
            live("left-lately"),
            live("used"),
        ],
    },
    [
        {
            "rank": 1, "group_id": "dead", "is_dead": True, "last_commit_time": at(3 * DAY), "num_topics": 2,
            "num_offsets": 3, "since_time": at(3 * DAY), "is_tool": False, "as_of_time": at(10 * DAY),
        },
        {"rank": 2, "group_id": "left-lately", "is_dead": False, "last_commit_time": at(60)},
        {"rank": 3, "group_id": "committed-lately", "is_dead": False, "num_offsets": 1},
        # The coordinator removes it by itself.
        {"rank": 4, "group_id": "console-consumer-123", "is_dead": False, "is_tool": True, "num_offsets": 0},
        {"rank": 5, "group_id": "used", "is_dead": False, "num_members": 2},
        {"rank": 6, "group_id": "unknown", "is_dead": False, "state": None},
    ],
)  # fmt: skip
UNJUDGED = Case(
    "v_inventory",
    {
        "history_coverage": [known(100 * DAY)],
        "gate_limits": [{**limit("dead_group_days", 6), **D}],
        "group_state_intervals": [state("empty", 0), state("used", 1)],
        "offset_history": [live("empty"), live("used")],
    },
    [{"rank": 1, "group_id": "empty", "is_dead": None}, {"rank": 2, "group_id": "used", "is_dead": None}],
)
CONSUMERS = Case(
    "v_topic_consumers",
    {
        "history_coverage": [known(DAY)],
        "topics": [{**C, "topic": name, "source": "snapshot"} for name in ("orders", "clicks", "unread")],
        "offset_history": [
            live("reader"),
            live("reader", 1, last=90),
            live("reader", topic="left"),
            live("simple"),
            gone(live("streams", topic="clicks"), 70),
        ],
        "ownership_intervals": [
            owned("reader", 0, "b"),
            owned("reader", 1, "a"),
            gone(owned("reader", 2, "b"), 95),
            gone(owned("simple", 2, None), 95),
            owned("streams", 0, "s"),
            owned("streams", 0, "s", topic=None),
        ],
        "generation_members": [
            member("reader", ["clicks"], assignment=4),
            member("reader", ["orders"]),
            member("reader", ["orders", "unread"]),
            member("reader", ["left"], change="left"),
            member("streams", None),
        ],
    },
    [
        {"topic": "clicks", "group_id": "streams", "is_subscribed": None, "num_partitions_committed": 0,
         "last_seen_time": at(60), "is_committed_only": False},
        {"topic": "left", "group_id": "reader", "is_subscribed": False, "is_committed_only": True, "client_ids": None},
        {"topic": "orders", "group_id": "reader", "client_ids": ["a", "b"], "client_hosts": ["/a", "/b"],
         "first_seen_time": at(20), "last_seen_time": at(DAY), "num_partitions_committed": 2,
         "num_partitions_owned": 2, "is_subscribed": True, "is_subscribed_only": False, "is_committed_only": False},
        {"topic": "orders", "group_id": "simple", "client_ids": None, "last_seen_time": at(95), "is_subscribed": None,
         "is_committed_only": False, "as_of_time": at(DAY)},
        {"topic": "orders", "group_id": "streams", "is_subscribed": True, "is_subscribed_only": True},
        {"topic": "unread", "group_id": "reader", "is_subscribed": True, "is_subscribed_only": True,
         "first_seen_time": None, "last_seen_time": None},
    ],
)  # fmt: skip


def gate_run(number: int, narrowed_by: str | None = None, cluster: Row = C) -> tuple[list[Row], Row]:
    """Of two suites, and the row of `runs`."""
    about = {**cluster, "run_id": f"{number:08}"}
    suites = [{**about, "suite": suite, "narrowed_by": narrowed_by} for suite in ("a", "b")]
    return suites, {**about, "job": "gate", "as_of_time": at(number * HOUR)}


def finding(number: int, rank: int, cluster: Row = C, **more: Any) -> Row:
    return {**cluster, "run_id": f"{number:08}", "rank": rank, "first_seen_time": at(HOUR), **more}


RUNS_OF_GATE = [
    gate_run(1), gate_run(2), gate_run(3, "--group x"),
    gate_run(1, "--since 2026", D), gate_run(2, "--until 2026", D),
]  # fmt: skip
FOUND = Case(
    "v_findings",
    {
        "gate_runs": [row for suites, _ in RUNS_OF_GATE for row in suites],
        # Beside those of the gate, another job of the same run; and one of the gate that judged nothing anew.
        "runs": [*(run for _, run in RUNS_OF_GATE), {**C, "run_id": f"{2:08}", "job": "lag", "as_of_time": at(DAY)},
                 {**C, "run_id": f"{4:08}", "job": "gate", "as_of_time": at(DAY)}],
        "findings": [
            finding(1, 1, message="of an older run"),
            finding(2, 3, message="condition", is_new=None),
            finding(2, 1, message="event", at_time=at(30), since_time=at(HOUR), is_new=True),
            finding(2, 2, message="since", since_time=at(HOUR + 1), is_new=False, waived_until_time=at(DAY)),
            finding(3, 1, message="narrowed"),
            finding(1, 1, D, message="older narrowed"),
            finding(2, 1, D, message="newer narrowed"),
        ],
    },
    [
        {"cluster": "c", "rank": 1, "message": "event", "age_ms": (2 * HOUR - 30) * 1000, "is_new": True,
         "as_of_time": at(2 * HOUR), "narrowed_by": None},
        {"cluster": "c", "rank": 2, "message": "since", "age_ms": (HOUR - 1) * 1000, "is_new": False,
         "waived_until_time": at(DAY)},
        {"cluster": "c", "rank": 3, "message": "condition", "age_ms": HOUR * 1000, "is_new": None},
        {"cluster": "d", "rank": 1, "message": "newer narrowed", "narrowed_by": "--until 2026"},
    ],
)  # fmt: skip


CASES = (
    VERDICT, RESETS, EXPIRY, VOLUME, HEALTH, INVENTORY, UNJUDGED, CONSUMERS, COVERAGE, HEADROOM, SPANS, DIFF, FOUND,
    GROUPS, LAG, FAILOVERS,
)  # fmt: skip
