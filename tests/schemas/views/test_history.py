"""Views over the history equal what a slow reading of the same rows gives; DuckDB runs them here, Spark in
tests/jobs/queries/test_engines.py."""

from collections import Counter
from datetime import timedelta
from typing import Any

import duckdb
import numpy as np
import pytest

from jobs.answers.events import timeline
from schemas.tables import TABLES
from schemas.views import VIEWS
from schemas.words import enumerations
from schemas.words.assignments import ClientLibrary, Verdict
from schemas.words.enumerations import words_of
from schemas.words.gate import ExportedMetric
from schemas.words.history import RebalanceTrigger
from tests.make.tables import NOW, filled
from tests.oracles.views.rebalances import Rows
from tests.oracles.views.views import SLOW

READ = sorted({table for name in SLOW for table in VIEWS[name].reads})


def random_history(rng: np.random.Generator, number: int) -> Rows:
    """Few groups of few members, some within minutes of one another; what may be NULL sometimes is."""

    def one_of(*choices: Any) -> Any:
        return choices[rng.integers(len(choices))]

    def count() -> int | None:
        return one_of(None, int(rng.integers(5)))

    rows: Rows = {name: [] for name in READ}
    # In some histories nearly nobody comes or goes.
    changes = one_of(("joined", "left", "kept", "restarted"), ("kept",) * 40 + ("joined", "left", "restarted"))
    assignors = one_of((None,), (None, "range", "sticky"))
    for setting, values in (("storm_rebalances", (3, 5)), ("storm_gap_s", (60, 300)), ("dead_group_days", (1,))):
        rows["gate_limits"].append({"cluster": "a", "setting": setting, "value": one_of(*values)})
        rows["gate_limits"].append({"cluster": "b", "setting": setting, "value": one_of(*values)})
    clock = NOW - timedelta(days=3)
    for offset in range(number):
        clock += timedelta(seconds=one_of(0, 1, 20, 20, 60, 300, 1_000))
        start = one_of(None, *[clock] * 9)
        length = one_of(None, int(rng.integers(20_000)))
        key = {"cluster": one_of("a", "b"), "group_id": one_of("g", "h"), "assignment_offset": offset}
        evidence = {"evidence_partition": 0, "evidence_first_offset": offset // 2, "evidence_last_offset": offset}
        rows["rebalances"].append(
            {
                **key,
                **evidence,
                "group_type": one_of("classic", "consumer"),
                "start_time": start,
                "end_time": None if start is None or length is None else start + timedelta(milliseconds=length),
                "duration_ms": length,
                "trigger": one_of(*RebalanceTrigger).value,
                "outcome": one_of("completed", "open"),
                "confidence": one_of("certain", "likely"),
                "from_generation": one_of(None, offset - int(rng.integers(-2, 4))),
                "to_generation": offset,
                "is_follow_up": one_of(True, False, False),
                "assignor_before": one_of(*assignors),
                "assignor_after": one_of(*assignors),
                "members_joined": one_of([], ["m1"]),
                "members_departed": [],
                "leader_after": one_of(None, "m1", "m2"),
                **{name: count() for name in ("num_moved", "num_returned", "num_withheld", "num_partitions")},
                **{name: count() for name in ("unpersisted_rounds", "sync_ms", "stopped_partition_ms")},
                "num_ready_to_migrate": count(),
                **{name: count() for name in ("unread_partition_low_ms", "unread_partition_high_ms")},
                "longest_unread_high_ms": count(),
            }
        )
        rows["assignment_audit"].append(
            {
                **key,
                **evidence,
                "group_type": "classic",
                "assignor": one_of(None, "range", "sticky"),
                "generation_or_epoch": offset,
                "record_time": start,
                "verdict": one_of(*Verdict).value,
                "known_defect": one_of(None, None, "KAFKA-1"),
                "confidence": "certain",
                **{name: count() for name in ("num_different", "num_owned_twice", "num_unowned")},
                **{name: count() for name in ("moves_made", "moves_needed")},
            }
        )
        for member in range(int(rng.integers(3))):
            who = {"member_id": f"m{member}", "group_instance_id": one_of(None, None, None, "i")}
            rows["generation_members"].append({**key, **who, "change": one_of(*changes)})
        for partition in range(int(rng.integers(3))):
            move = {"topic": "t", "partition": partition, "kind": one_of("lost", "moved"), "commit_gap_ms": count()}
            times = {"move_offset": offset, "move_time": start, "to_member_id": one_of(None, None, "m")}
            rows["partition_moves"].append({**key, **move, **times, "role": one_of(None, None, None, "standby")})
        for partition in range(int(rng.integers(2))):
            # Mostly of a static member that came back without a rebalance.
            back = {"assignment_offset": offset + one_of(0, number), "move_offset": offset, "move_time": start}
            move = {"topic": "u", "partition": partition, "kind": one_of("returned", "returned", "moved")}
            unread = {"unread_low_ms": count(), "unread_high_ms": count(), "idle_ms": count(), "to_member_id": "m"}
            rows["partition_moves"].append({**key, **back, **move, **unread, "group_type": "classic"})
        first_time = one_of(None, NOW - timedelta(milliseconds=int(rng.integers(10**9))))
        reported = {
            "first_offset": offset,
            "outcome": one_of("open", "aborted"),
            "groups": ["g"],
            "producer_id": int(rng.integers(9)),
        }
        rows["transactions"].append({"cluster": key["cluster"], **evidence, **reported, "first_time": first_time})
    for member in ("m0", "m1", "m0"):
        stay = {"cluster": "a", "group_id": one_of("g", "h"), "member_id": member}
        who = {"client_id": one_of(None, "c", "d"), "client_host": one_of(None, "/h", "/i")}
        gone = {
            "to_record_offset": one_of(None, number // 3, number - 1),
            "leave_kind": one_of("left", "static_expired_likely"),
        }
        library = one_of(*ClientLibrary, None)
        by_bytes = {
            "evidence_partition": 0,
            "from_record_offset": one_of(0, number // 4),
            "client_library": library,
            "client_library_confidence": None if library is None else one_of("likely", "possible"),
        }
        rows["membership_intervals"].append({**stay, **who, **gone, **by_bytes})
    for days, group in ((1, "h"), (0, "g")):
        word = {"own_verdict": one_of("DOWN", "OK"), "as_of_time": NOW - timedelta(days=days)}
        rows["group_verdicts"].append({"cluster": "a", "group_id": group, **word})
    for cluster in ("a", "b"):
        for group in ("g", "h"):
            members, end = (0, None) if group == "g" else one_of((1, None), (0, 9))
            state = {"cluster": cluster, "group_id": group, "num_members": members, "to_record_offset": end}
            rows["group_state_intervals"].append(state)
    half = number // 2
    for first, last, complete in ((0, half, one_of(None, half // 2)), (half + 1, number - 2, half + 1)):
        stretch = {"cluster": "a", "first_offset": first, "last_offset": last, "complete_from_offset": complete}
        rows["history_coverage"].append({**stretch, "from_time": NOW - timedelta(days=12), "to_time": NOW})
    rows["topic_snapshots"].append({"cluster": "a", "captured_time": NOW + timedelta(hours=int(rng.integers(-5, 5)))})
    return {name: filled(TABLES[name], some).to_pylist() for name, some in rows.items()}


def by_duckdb(view: str, rows: Rows) -> list[dict[str, Any]]:
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    for name in VIEWS[view].reads:
        connection.register(name, filled(TABLES[name], rows[name]))
    return [dict(row) for row in connection.sql(VIEWS[view].sql).to_arrow_table().to_pylist()]


def expected(view: str, rows: Rows) -> list[dict[str, Any]]:
    names = [column.name for column in VIEWS[view].columns]
    return [{name: row[name] for name in names} for row in SLOW[view](rows)]


@pytest.mark.parametrize("number", [0, 6, 300])
@pytest.mark.parametrize("view", SLOW)
def test_a_view_equals_a_slow_reading_of_the_same_rows(rng: np.random.Generator, view: str, number: int) -> None:
    rows = random_history(rng, number)
    assert by_duckdb(view, rows) == expected(view, rows)


def test_among_many_rebalances_there_are_storms(rng: np.random.Generator) -> None:
    """Else the test above compares nothing with nothing."""
    kinds: Counter[str] = Counter()
    for _ in range(60):
        kinds.update(row["kind"] for row in expected("v_rebalance_storms", random_history(rng, 300)))
        if {*kinds} == {*enumerations.enumerations()["StormKind"].words} and kinds.total() > 10:
            return
    pytest.fail(str(kinds))


def test_every_word_of_the_history_is_in_v_enums_with_its_meaning() -> None:
    rows = by_duckdb("v_enums", {})
    assert len({(row["table_name"], row["column_name"], row["value"]) for row in rows}) == len(rows)
    known = {name: {column.name for column in of.columns} for name, of in (TABLES | VIEWS).items()}
    known["groupscope rebalances"] = set(timeline.COLUMNS)
    for row in rows:
        columns = known[row["table_name"]]
        # Words of a list's structs are named by the column and the field.
        assert row["column_name"].split(".")[0] in columns
    # Code names only what is declared, with all its values.
    assert all(words_of(each) for each in enumerations.Meant.__subclasses__())
    without_column = [name for name, each in enumerations.enumerations().items() if not each.places]
    assert without_column == [ExportedMetric.__name__]
    states = {row["value"]: row["proposal_state"] for row in rows if row["proposal_state"]}
    # As the proposal names them (Initialize is never written).
    assert states == {
        "Empty": "Stable (no members)",
        "PreparingRebalance": "Joining",
        "CompletingRebalance": "AwaitingSync",
        "Stable": "Stable (active)",
        "deleted": "Down",
    }


def test_partitions_that_nobody_has_count_unless_their_group_was_stopped_on_purpose() -> None:
    rows: Rows = {name: [] for name in READ}
    rows["history_coverage"].append({"from_time": NOW - timedelta(days=1), "to_time": NOW})
    for group, kind, verdict in (("timed out", "session_timeout_likely", "OK"), ("stopped", "left", "OK"),
                                 ("down", "left", "DOWN"), ("back", "session_timeout_likely", "OK")):  # fmt: skip
        of_group = {"group_id": group, "assignment_offset": 5, "evidence_first_offset": 4, "evidence_last_offset": 5}
        rows["rebalances"].append({**of_group, "unread_partition_high_ms": None})
        rows["membership_intervals"].append({"group_id": group, "to_record_offset": 5, "leave_kind": kind})
        rows["group_verdicts"].append({"group_id": group, "own_verdict": verdict, "as_of_time": NOW})
        rows["group_state_intervals"].append({"group_id": group, "num_members": int(group == "back")})
        gone = {"kind": "revoked", "move_offset": 5, "topic": "t", "move_time": NOW - timedelta(seconds=90)}
        rows["partition_moves"].extend({**of_group, **gone, "partition": each} for each in (0, 1))
    rows["rebalances"].append({"group_id": "short", "assignment_offset": 6, "unread_partition_high_ms": 100})
    ranked = by_duckdb("v_rebalances", rows)
    assert [(row["group_id"], row["unread_so_far_ms"]) for row in ranked] == [
        ("down", 180_000), ("timed out", 180_000), ("short", None), ("back", None), ("stopped", 180_000),
    ]  # fmt: skip
