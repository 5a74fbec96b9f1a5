"""Findings: which rows of hand-made tables give which, and how they are grouped, filtered, waived and carried on."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from jobs.configuration.settings import Gate, Settings
from jobs.gating.declarations.finding_files import Events, finding_files
from jobs.gating.declarations.sql_text import parameters
from jobs.gating.declarations.waivers import waivers
from jobs.gating.findings import Choice, Findings, find, finding_rows, finding_statements, num_at_or_above
from jobs.output.failure import Failure
from jobs.pages.finding_lines import finding_lines
from jobs.queries.engines.duckdb_engine import scope_of
from jobs.reporting.parts.findings import findings_of
from jobs.warehouses.warehouse import Warehouse
from schemas.words.gate import FindingKind
from tests.make.tables import NOW, Rows, make, write_run

SETTINGS = Settings(gate=Gate(needless_commits_per_day=10, record_limit_bytes=1_000))
PARAMETERS = parameters("a", NOW, NOW, SETTINGS)
ALL = Events(None, NOW)
DAY = timedelta(days=1)
Tables = Mapping[str, Sequence[Mapping[str, Any]]]
COVERED = {"history_coverage": [{"last_offset": 9, "to_time": NOW}]}
SEEN: Tables = {"topic_snapshots": [{"captured_time": NOW}]}
RESET: dict[str, Any] = {"partitions": [], "from_offsets": [], "to_offsets": [], "topic": "t", "at_time": NOW}
NOBODY: dict[str, Any] = {"members_joined": [], "members_departed": []}


def verdict(word: str) -> Tables:
    return {"group_verdicts": [{"own_verdict": word, "partition": 1, "as_of_time": NOW}]}


def verdicts(word: str, *days: int) -> list[dict[str, Any]]:
    """Of as many as-of times, so many days from now; each names its group."""
    return [
        {"own_verdict": word, "partition": 1, "as_of_time": NOW + each * DAY, "group_id": str(each)} for each in days
    ]


def storm(minutes: int) -> Tables:
    starts = [NOW - DAY + timedelta(minutes=minutes * place) for place in range(40)]
    return {"rebalances": [{**NOBODY, "assignment_offset": place, "start_time": start, "from_generation": place,
                            "to_generation": place + 1} for place, start in enumerate(starts)]}  # fmt: skip


HISTORY = {"topic": "t", "committed_offset": 10, "delta": 5, "commit_time": NOW, "last_commit_time": NOW}
COMMIT = {**HISTORY, "previous_offset": 5}
SPAN = {"topic": "t", "from_offset": 5, "to_offset": 10, "verdict": "passed", "recorded_time": NOW - DAY}
HANGING = {"outcome": "open", "first_time": NOW - timedelta(minutes=61), "groups": ["a"], "producer_id": 7}
EMPTY = {"state": "Empty", "to_offset": None, "from_time": NOW - 31 * DAY}
UNOWNED = {"assignment_audit": [{"num_unowned": 2, "verdict": "same"}]}
BROKEN = {"name": "redundant", "is_ok": False, "detail": "t-0: 2 members must own each, 1 does"}
STABLE = {"state": "Stable", "to_offset": None, "num_members": 1}
LATE = {"topic": "t", "minute_time": NOW, "day_time": NOW, "num_points": 1}
LATE_DAY = {"topic": "t", "day_time": NOW, "num_points": 1, "num_minutes": 1, "num_minutes_known": 1}
ASKED = {"own_verdict": "OK", "partition": None, "freshness_objective_ms": 5_000}
FORECAST = {"topic": "t", "expires_time": NOW + timedelta(hours=24)}
SEGMENT = {"kind": "segments", "size_bytes": 1 << 29, "offsets_partition": 3}
HOUR = {"hour_time": NOW, "num_commits": 11, "num_at_5_s": 11}
# Of each kind what gives it, and nearly the same that does not.
CASES: dict[str, tuple[Tables, Tables]] = {
    "damaged_records": (
        {"rejected_records": [{"byte_position": 5, "reason": "bad_crc", "num_records": 3}]},
        {"rejected_records": [{"byte_position": 5, "reason": "bad_crc", "cluster": "b"}]},
    ),
    "rejected_records": (
        {"rejected_records": [{"reason": "underrun"}]},
        {"rejected_records": [{"reason": "unknown_record_type"}]},
    ),
    "unknown_records": (
        {"rejected_records": [{"reason": "unknown_value_version"}]},
        {"rejected_records": [{"reason": "underrun"}]},
    ),
    "history_hole": (
        {"history_coverage": [{"last_offset": 9}, {"first_offset": 12, "last_offset": 20}]},
        {"history_coverage": [{"last_offset": 9}, {"first_offset": 12, "last_offset": 20, "offsets_partition": 1}]},
    ),
    "replay_anomaly": (
        {"replay_anomalies": [{"severity": "warning", "record_time": NOW}]},
        {"replay_anomalies": [{"severity": "warning", "record_time": NOW + DAY}]},
    ),
    "source_not_advancing": (
        {"history_coverage": [{"to_time": NOW - timedelta(hours=26)}]},
        {"history_coverage": [{"to_time": NOW - timedelta(hours=25)}], **SEEN},
    ),
    "no_snapshots": ({}, SEEN),
    "unnamed_topics": (
        {"ownership_intervals": [{"topic": None, "topic_id": "x", "to_offset": None}]},
        {"ownership_intervals": [{"topic": None, "topic_id": "x", "to_offset": 9}]},
    ),
    "partition_stopped": (verdict("STOP"), verdict("OK")),
    "partition_stalled": (verdict("STALL"), verdict("UNKNOWN")),
    "offset_rewound": (verdict("REWIND"), verdict("OK")),
    "falling_behind": (verdict("WARN"), verdict("OK")),
    "freshness_missed": (
        {
            "lag_days": [{**LATE_DAY, "time_lag_ms_max": 5_001}],
            "lag_minutes": [{**LATE, "time_lag_ms_max": 5_001}],
            "group_verdicts": [ASKED],
        },
        {
            "lag_days": [{**LATE_DAY, "time_lag_ms_max": 5_000}],
            "lag_minutes": [{**LATE, "time_lag_ms_max": 5_000}],
            "group_verdicts": [ASKED],
        },
    ),
    "hanging_transaction": (
        {"transactions": [HANGING], "offset_commits": [{"is_transactional": True, "producer_id": 7}]},
        {
            "transactions": [{**HANGING, "first_time": NOW - timedelta(minutes=59)}],
            "offset_commits": [{"is_transactional": True, "producer_id": 7}],
        },
    ),
    "rebalance_storm": (storm(1), storm(3)),
    "long_unread": (
        {"rebalances": [{**NOBODY, "longest_unread_high_ms": 60_001, "start_time": NOW}]},
        {"rebalances": [{**NOBODY, "longest_unread_high_ms": 60_000, "start_time": NOW}]},
    ),
    "offsets_expiring": (
        {"expiry_forecast": [{**FORECAST, "messages_at_risk": 1}]},
        {"expiry_forecast": [{**FORECAST, "messages_at_risk": 0}]},
    ),
    "messages_lost": (
        {"lag_points": [{"topic": "t", "lost_messages": 1}]},
        {"lag_points": [{"topic": "t", "lost_messages": 1, "snapshot_time": NOW + DAY}]},
    ),
    "offsets_reset": (
        {"offset_resets": [{**RESET, "kind": "shift"}]},
        {"offset_resets": [{**RESET, "kind": "expired"}]},
    ),
    "offsets_expired": (
        {"offset_resets": [{**RESET, "kind": "expired", "messages_reread": 1, "messages_skipped": 0}]},
        {"offset_resets": [{**RESET, "kind": "expired", "messages_reread": 0, "messages_skipped": 0}]},
    ),
    "odd_commits": (
        {"commit_findings": [{"kind": "negative", "last_time": NOW}]},
        {"commit_findings": [{"kind": "negative", "last_time": NOW, "cluster": "b"}]},
    ),
    "ungated_commits": (
        {"offset_history": [COMMIT], "gate_spans": [{**SPAN, "from_offset": 6}]},
        {"offset_history": [COMMIT], "gate_spans": [SPAN]},
    ),
    "gate_overridden": ({"gate_spans": [{**SPAN, "verdict": "overridden"}]}, {"gate_spans": [SPAN]}),
    "assignment_drift": (
        {"assignment_audit": [{"verdict": "drift", "num_different": 2, "record_time": NOW}]},
        {"assignment_audit": [{"verdict": "not_recomputable"}]},
    ),
    "assignment_defect": (
        {"assignment_audit": [{"known_defect": "KAFKA-1", "verdict": "same"}]},
        {"assignment_audit": [{"verdict": "same"}]},
    ),
    "partitions_unowned": (
        {**UNOWNED, "group_state_intervals": [STABLE]},
        {**UNOWNED, "group_state_intervals": [{**STABLE, "to_offset": 9}]},
    ),
    "group_rule_broken": (
        {"assignment_audit": [{"verdict": "same", "checks": [BROKEN]}], "group_state_intervals": [STABLE]},
        {"assignment_audit": [{"verdict": "same", "checks": [{**BROKEN, "is_ok": None}]}],
         "group_state_intervals": [STABLE]},
    ),
    "upgrade_stuck": (
        {"assignor_upgrades": [{"phase": "stuck"}]},
        {"assignor_upgrades": [{"phase": "in_progress"}]},
    ),
    "record_headroom": (
        {"classic_group_metadata": [{"record_bytes": 701}], "group_state_intervals": [STABLE]},
        {"classic_group_metadata": [{"record_bytes": 700}], "group_state_intervals": [STABLE]},
    ),
    "offsets_topic_unhealthy": (
        {"source_files": [{**SEGMENT, "source_file": name} for name in "abc"]},
        {"source_files": [{**SEGMENT, "run_id": run} for run in "abc"]},
    ),
    "commits_too_often": (
        {"commit_volume": [{**HOUR, "num_unchanged": 10}]},
        {"commit_volume": [{**HOUR, "num_unchanged": 9}]},
    ),
    "dead_group": (
        {"group_state_intervals": [EMPTY], "offset_history": [{**HISTORY, "to_offset": None,
                                                               "last_commit_time": NOW - 31 * DAY}]},
        {"group_state_intervals": [EMPTY], "offset_history": [{**HISTORY, "to_offset": None}]},
    ),
}  # fmt: skip
OF_SUITES = {"suite_error", "expectation_failed"}


def all_findings(warehouse: Warehouse, events: Events = ALL, choice: Choice | None = None) -> Findings:
    with scope_of(warehouse, finding_statements(PARAMETERS, events)) as answer:
        return find(PARAMETERS, events, Choice() if choice is None else choice, answer)


def kinds(result: Findings) -> set[str]:
    return {each.kind for each in result.findings}


def test_every_kind_has_a_file_and_a_case() -> None:
    assert {file.kind.value for file in finding_files()} == {kind.value for kind in FindingKind} - OF_SUITES
    assert CASES.keys() == {file.kind.value for file in finding_files()}


@pytest.mark.drawn(5)
@pytest.mark.parametrize("kind", CASES)
def test_a_kind_is_detected_where_it_is_and_its_statement_lists_its_rows(tmp_path: Path, kind: str) -> None:
    there, not_there = CASES[kind]
    warehouse = make(tmp_path / "there", there)
    (finding,) = (each for each in all_findings(warehouse).findings if each.kind == kind)
    assert "None" not in finding.message and finding.num_rows == 1
    with scope_of(warehouse, [finding.query]) as answer:
        names, rows = answer(finding.query)
        assert [dict(zip(names, row, strict=True))["message"] for row in rows] == [finding.message]
    assert kind not in kinds(all_findings(make(tmp_path / "not", not_there)))
    row = {**vars(finding), "run_id": "00000005-gate", "rank": 1, "waived_until_time": None}
    page, (shown,) = "\n".join(finding_lines([row])), findings_of([row], {}, ())
    assert finding.message in page and shown.message == finding.message
    assert "None" not in f"{page} {shown.evidence or ''} {shown.dump or ''}"


# Rows of these rest on commits.
OF_COMMITS = ("offset_history", "lag_points", "lag_days", "lag_minutes", "group_verdicts", "expiry_forecast",
              "offset_resets", "commit_findings")  # fmt: skip


# What a run as of an earlier time must not say: it has begun only after that time.
LATER: dict[str, Tables] = {
    "partitions_unowned": {
        "assignment_audit": [{"num_unowned": 2, "verdict": "same", "record_time": NOW + DAY}],
        "group_state_intervals": [STABLE],
    },
    "group_rule_broken": {
        "assignment_audit": [{"verdict": "same", "checks": [BROKEN], "record_time": NOW + DAY}],
        "group_state_intervals": [STABLE],
    },
    "upgrade_stuck": {"assignor_upgrades": [{"phase": "stuck", "started_time": NOW + DAY}]},
}


@pytest.mark.parametrize("kind", LATER)
def test_what_began_after_the_as_of_time_is_no_finding(tmp_path: Path, kind: str) -> None:
    assert kind not in {each.kind for each in all_findings(make(tmp_path, LATER[kind])).findings}


@pytest.mark.parametrize("kind", [kind for kind, (there, _) in CASES.items() if {*OF_COMMITS} & there.keys()])
def test_a_finding_is_no_surer_than_commits_that_may_have_been_aborted(tmp_path: Path, kind: str) -> None:
    there, _ = CASES[kind]
    unsure = {name: [{**row, "confidence": "possible"} for row in there[name]] for name in OF_COMMITS if name in there}
    warehouse = make(tmp_path, {**there, **unsure})
    (finding,) = (each for each in all_findings(warehouse).findings if each.kind == kind)
    assert finding.confidence == "possible"


MINUTE = timedelta(minutes=1)
OWNED = {"topic": "t", "to_offset": None, "group_type": "classic"}
COMMITTED = {"topic": "t", "to_offset": None}


def shown(number: int, minutes: float, **more: Any) -> list[dict[str, Any]]:
    """A snapshot of t, so many minutes ago."""
    captured = {"topic": "t", "captured_time": NOW - minutes * MINUTE, **more}
    return [{**captured, "partition": place} for place in range(number)]


def grown(**changed: Sequence[Mapping[str, Any]]) -> Tables:
    """Topic t got partitions 2 and 3 after the group's assignment, which had an owner for each."""
    rows: Tables = {
        "assignment_audit": [{"num_unowned": 0, "num_partitions": 2, "verdict": "same", "record_time": NOW - DAY}],
        "generation_members": [{"change": "kept", "subscribed_topics": ["t"], "assigned": []}],
        "group_state_intervals": [STABLE],
        "ownership_intervals": [{**OWNED, "partition": place} for place in range(2)],
        "topic_snapshots": [*shown(2, 2_000), *shown(4, 6), *shown(4, 1)],
        "topics": [{"topic": "t", "to_time": None}],
        "history_coverage": [{"to_time": NOW}],
    }
    return {**rows, **changed}


def unowned(folder: Path, tables: Tables) -> list[str]:
    return [each.message for each in all_findings(make(folder, tables)).findings if each.kind == "partitions_unowned"]


FOUND = "2 of 4 partitions of its topics have had no owner since 2026-11-21 02:54:00"


def test_partitions_that_a_topic_got_after_the_assignment_are_unowned(tmp_path: Path) -> None:
    assert unowned(tmp_path, grown()) == [FOUND]


@pytest.mark.parametrize(("changed", "message"), [
    # By the newest assignment there are as many.
    ({"assignment_audit": [{"num_unowned": 2, "num_partitions": 4, "verdict": "same", "record_time": NOW - DAY}]},
     FOUND.replace("21 02:54", "20 03:00")),
    # The group assigned them anew, and left them out again.
    ({"assignment_audit": [{"num_unowned": 0, "verdict": "same", "record_time": NOW - 5.5 * MINUTE}]},
     FOUND.replace("02:54:00", "02:54:30")),
    # One partition was seen later than the other.
    ({"topic_snapshots": [*shown(3, 60), *shown(4, 6), *shown(4, 1)]}, FOUND),
    # Of a cluster that never had such a partition.
    ({"offset_history": [{**COMMITTED, "partition": 2**31 - 1}, {**COMMITTED, "partition": -1}]}, FOUND),
    # What another topic of the name had.
    ({"topic_snapshots": [*shown(9, 60, topic_id="old"), *shown(4, 6, topic_id="new")]}, FOUND),
])  # fmt: skip
def test_unowned_partitions_are_counted_since_the_last_sign_of_them(
    tmp_path: Path, changed: Tables, message: str
) -> None:
    assert unowned(tmp_path, grown(**changed)) == [message]


@pytest.mark.parametrize("changed", [
    # A rebalance may still follow: in the time of the snapshots, of the log, or of the newest assignment.
    {"topic_snapshots": [*shown(2, 60), *shown(4, 4), *shown(4, 1)]},
    {"history_coverage": [{"to_time": NOW - 2 * MINUTE}]},
    {"history_coverage": [{"to_time": NOW - 2 * MINUTE}, {"to_time": NOW, "offsets_partition": 1}]},
    {"assignment_audit": [{"num_unowned": 0, "verdict": "same", "record_time": NOW - 4 * MINUTE}]},
    # After the as-of time, or of a topic that was made anew, or that is gone.
    {"topic_snapshots": [*shown(2, 60), *shown(4, -1)]},
    {"topic_snapshots": [*shown(4, 60, topic_id="old"), *shown(4, 3, topic_id="new")]},
    {"topics": [{"topic": "t", "to_time": NOW}]},
    # Records name partitions that the newest snapshot does not have.
    {"offset_history": [{**COMMITTED, "partition": 4}]},
    {"ownership_intervals": [{**OWNED, "partition": place} for place in (0, 1, 4)]},
    # Nobody subscribes to the topic any more.
    {"generation_members": [{"change": "kept", "subscribed_topics": ["other"], "assigned": []}]},
    {"generation_members": [{"change": "left", "subscribed_topics": ["t"], "assigned": []}]},
    # Members may have more than is known.
    {"generation_members": [{"change": "kept", "subscribed_topics": ["t"], "assigned": None}]},
    {"ownership_intervals": [{**OWNED, "partition": 0}, {**OWNED, "topic": None, "partition": 1}]},
    # Members of share groups get no partition that is not ready.
    {"ownership_intervals": [{**OWNED, "group_type": "share"}]},
    {"group_state_intervals": [{**STABLE, "state": "PreparingRebalance"}]},
    {"group_state_intervals": [{**STABLE, "num_members": None}]},
    {"ownership_intervals": [{**OWNED, "partition": place} for place in range(4)]},
])  # fmt: skip
def test_what_does_not_prove_that_partitions_are_unowned_is_no_finding(tmp_path: Path, changed: Tables) -> None:
    assert unowned(tmp_path, grown(**changed)) == []


@pytest.mark.parametrize(("ms", "message"), [(999, "999 ms"), (1_000, "1.0 s"), (8_345, "8.4 s"), (10_900, "10.9 s"),
                                          (11_514, "11.6 s"), (1_999_901, "2000.0 s")])  # fmt: skip
def test_the_longest_unread_time_is_never_rounded_down(tmp_path: Path, ms: int, message: str) -> None:
    warehouse = make(tmp_path, {"rebalances": [{**NOBODY, "longest_unread_high_ms": ms, "start_time": NOW}]})
    settings = Settings(gate=Gate(max_unread_ms=998))
    filled = parameters("a", NOW, NOW, settings)
    with scope_of(warehouse, finding_statements(filled, ALL)) as answer:
        (finding,) = (each for each in find(filled, ALL, Choice(), answer).findings if each.kind == "long_unread")
    assert finding.message.startswith(f"a partition may have been unread for up to {message}: ")


def test_ungated_commits_are_those_of_the_view(tmp_path: Path) -> None:
    """Of partition 0 only the end was validated, of 1 the override had ended, of 2 the newest result is a failure. All
    of 3 passed; of another topic nothing was ever validated."""
    ended = {"verdict": "overridden", "until_time": NOW - timedelta(hours=1)}
    spans = [
        {"partition": 0, "from_offset": 900},
        {"partition": 1, **ended},
        {"partition": 2},
        {"partition": 2, "verdict": "failed", "recorded_time": NOW - timedelta(hours=1)},
        {"partition": 3},
    ]
    commit = {**HISTORY, "previous_offset": 0, "committed_offset": 1_000, "delta": 1_000}
    commits = [{**commit, "partition": place, "from_offset": place} for place in range(4)]
    tables = {
        "offset_history": [*commits, {**commit, "topic": "other", "from_offset": 4}],
        "gate_spans": [{**SPAN, "from_offset": 0, "to_offset": 1_000, **each} for each in spans],
    }
    warehouse = make(tmp_path, tables)
    (found,) = (each for each in all_findings(warehouse).findings if each.kind == "ungated_commits")
    assert (found.num_rows, found.harm) == (3, 2_900)
    in_view = "SELECT partition, num_ungated_messages FROM v_ungated_commits WHERE is_topic_gated"
    with scope_of(warehouse, [found.query, in_view]) as answer:
        names, rows = answer(found.query)
        listed = [dict(zip(names, row, strict=True)) for row in rows]
        assert sorted((row["partition"], row["harm"]) for row in listed) == sorted(answer(in_view).rows)
    assert {row["message"] for row in listed if row["partition"] == 0} == {
        "t-0: the commit of offset 1000 has 1000 messages, and no passed validation covers 900 of them"
    }


def headroom_warehouse(root: Path, settings: Mapping[str, str]) -> Warehouse:
    """A consumer group whose targets are two records of one batch, and a deleted group."""
    tables: Tables = {
        "classic_group_metadata": [
            {"group_id": "deleted", "record_bytes": 999},
            {"group_id": "deleted", "record_offset": 1, "is_tombstone": True},
        ],
        "target_assignment_members": [
            {"group_id": "modern", "record_bytes": 400, "record_offset": place, "batch_first_offset": 2}
            for place in (2, 3)
        ],
        "group_state_intervals": [
            {**STABLE, "group_id": "modern"},
            {"group_id": "deleted", "state": "Stable", "to_offset": 1},
        ],
        "cluster_snapshots": [{"captured_time": NOW, "settings": list(settings.items())}],
    }
    return make(root, tables)


@pytest.mark.parametrize(
    ("settings", "limit"),
    [({"offsets.retention.minutes": "1"}, 1_000), ({"message.max.bytes": "1142"}, 1_142)],
)
def test_record_headroom_is_about_groups_of_the_view_and_a_snapshots_limit_wins(
    tmp_path: Path, settings: Mapping[str, str], limit: int
) -> None:
    warehouse = headroom_warehouse(tmp_path, settings)
    found = [each for each in all_findings(warehouse).findings if each.kind == "record_headroom"]
    assert [(each.group_id, each.evidence_first_offset, each.evidence_last_offset) for each in found] == [
        ("modern", 2, 3)
    ]
    assert found[0].message.endswith(f" has 800 bytes; brokers accept up to {limit}")
    in_view = "SELECT DISTINCT group_id FROM record_headroom"
    with scope_of(warehouse, [in_view]) as answer:
        assert list(answer(in_view).rows) == [("modern",)]


def test_record_headroom_is_silent_below_the_limit_of_a_snapshot(tmp_path: Path) -> None:
    warehouse = headroom_warehouse(tmp_path, {"message.max.bytes": "1143"})
    assert "record_headroom" not in kinds(all_findings(warehouse))


def test_groups_wait_for_a_transaction_that_committed_for_them_and_not_for_an_earlier_one(tmp_path: Path) -> None:
    """The producer, with the same epoch, committed for another group before."""
    commits = [
        {"is_transactional": True, "producer_id": 7, "record_offset": place, "group_id": group}
        for place, group in ((4, "done"), (5, "waits"), (9, "waits too"))
    ]
    result = all_findings(
        make(tmp_path, {**SEEN, "transactions": [{**HANGING, "first_offset": 5}], "offset_commits": commits})
    )
    of_kind = {each.group_id for each in result.findings if each.kind == "hanging_transaction"}
    assert of_kind == {"waits", "waits too"}


def test_a_quiet_log_has_no_finding(tmp_path: Path) -> None:
    assert all_findings(make(tmp_path, {**COVERED, **SEEN})).findings == []


def resets(*groups: str) -> Tables:
    return {**SEEN, "offset_resets": [
        {**RESET, "kind": "shift", "group_id": group, "messages_reread": place, "evidence_first_offset": place}
        for place, group in enumerate(groups)
    ]}  # fmt: skip


def test_rows_of_a_group_and_topic_are_one_finding_that_names_the_worst(tmp_path: Path) -> None:
    (finding,) = all_findings(make(tmp_path, resets("g", "g", "g"))).findings
    assert (finding.num_rows, finding.evidence_first_offset) == (3, 2)
    assert "2 messages are read again" in finding.message and "the worst of 3" in finding.message


def test_nobody_is_said_to_have_moved_offsets_of_a_topic_that_was_created_again(tmp_path: Path) -> None:
    reset = {**RESET, "kind": "truncation", "actor": "member", "messages_reread": None, "messages_skipped": None}
    (finding,) = all_findings(make(tmp_path, {**SEEN, "offset_resets": [reset]})).findings
    assert finding.message.endswith(
        "were moved because the topic was truncated or created again: "
        "how many messages are read again or skipped is not known"
    )


def test_groups_that_are_not_wanted_make_no_findings_and_those_of_tools_are_counted(tmp_path: Path) -> None:
    warehouse = make(tmp_path, resets("billing", "billing-test", "orders", "console-consumer-1", "it's\\"))
    result = all_findings(warehouse, choice=Choice("ing|it", "test", ("console-consumer-[0-9]+",)))
    assert {each.group_id for each in result.findings} == {"billing", "it's\\"}
    assert result.num_of_tools == 1
    odd = next(each.query for each in result.findings if each.group_id == "it's\\")
    with scope_of(warehouse, [odd]) as answer:
        assert len(list(answer(odd).rows)) == 1


def test_only_events_of_the_time_count_and_what_goes_on_always_does(tmp_path: Path) -> None:
    warehouse = make(tmp_path, {**resets("g"), **verdict("STOP")})
    assert kinds(all_findings(warehouse)) == {"offsets_reset", "partition_stopped"}
    assert kinds(all_findings(warehouse, Events(NOW, NOW))) == {"partition_stopped"}
    assert kinds(all_findings(warehouse, Events(None, NOW - DAY))) == {"partition_stopped"}


VERDICTS = {
    "partition_stopped": "STOP",
    "partition_stalled": "STALL",
    "offset_rewound": "REWIND",
    "falling_behind": "WARN",
}


@pytest.mark.parametrize("kind", VERDICTS)
def test_verdicts_count_as_of_the_run_whatever_later_runs_add(tmp_path: Path, kind: str) -> None:
    """A run may be about an earlier time than the run before. Without verdicts of its own time the newest before
    count."""
    for days, expected in (((-2, -1, 0, 1), "0"), ((-2, -1, 1), "-1")):
        warehouse = make(tmp_path / expected, {"group_verdicts": verdicts(VERDICTS[kind], *days)})
        (finding,) = (each for each in all_findings(warehouse).findings if each.kind == kind)
        assert finding.group_id == expected
        write_run(warehouse, "run-0002", {"group_verdicts": verdicts(VERDICTS[kind], 2)})
        assert groups_listed(warehouse, finding.query) == [expected]


def groups_listed(warehouse: Warehouse, query: str) -> list[str]:
    with scope_of(warehouse, [query]) as answer:
        names, rows = answer(query)
        return [str(row[list(names).index("group_id")]) for row in rows]


def point(hours: int, committed: int, start: int | None, group: str = "g") -> dict[str, Any]:
    """Lag at a snapshot so many hours from now."""
    lost = None if start is None else max(start - committed, 0)
    about = {"group_id": group, "topic": "t", "snapshot_time": NOW + timedelta(hours=hours)}
    return {**about, "committed_offset": committed, "log_start_offset": start, "lost_messages": lost}


def committed(offset: int, hours: int, to_hours: int | None = None, group: str = "g") -> dict[str, Any]:
    ended = {} if to_hours is None else {"to_offset": 9, "to_time": NOW + timedelta(hours=to_hours)}
    about = {"group_id": group, "topic": "t", "from_time": NOW + timedelta(hours=hours), "from_offset": offset}
    return {**about, "committed_offset": offset, "is_open": to_hours is None, **ended}


def losses(folder: Path, points: Rows, offsets: Rows, events: Events = ALL) -> list[tuple[str, bool]]:
    """What is said, and whether it still lasts."""
    result = all_findings(make(folder, {"lag_points": points, "offset_history": offsets}), events).findings
    of_kind = [each for each in result if each.kind == "messages_lost"]
    assert all(each.num_rows == 1 for each in of_kind)
    return [(each.message.partition(" ")[2].partition(" ")[0], each.at_time is None) for each in of_kind]


def test_messages_that_a_group_lost_count_once_after_it_has_moved_on(tmp_path: Path) -> None:
    """Its newest snapshot shows no loss: it was reset to the start of the log, and reads on."""
    points = [point(-4, 60, 0), point(-3, 100, 500), point(-2, 90, 500), point(-1, 560, 500), point(0, 590, 500)]
    offsets = [committed(100, -4, -2), committed(90, -2, -1), committed(590, -1)]
    assert losses(tmp_path / "first", points, offsets) == [("410", False)]
    earlier = Events(NOW - timedelta(hours=2), NOW)
    assert losses(tmp_path / "later", points, offsets, earlier) == []


def test_a_loss_stands_until_a_snapshot_or_a_commit_shows_that_it_does_not(tmp_path: Path) -> None:
    """A snapshot may lack where logs begin, or be of other topics only; a group may be deleted."""
    points, since = [point(-3, 100, 500), point(-1, 100, None), point(0, 7, 0, "other")], Events(NOW, NOW)
    assert losses(tmp_path / "stands", points, [committed(100, -4)], since) == [("400", True)]
    assert losses(tmp_path / "over", points, [committed(100, -4, -2), committed(500, -2)], since) == []
    assert losses(tmp_path / "deleted", points, [committed(100, -4, -2)], since) == []
    # Both are later than the as-of time.
    after = [committed(100, -4, 1), committed(500, 1)]
    assert losses(tmp_path / "later", [*points, point(1, 500, 500)], after, since) == [("400", True)]
    assert losses(tmp_path / "read on", [*points, point(0, 500, 500)], [committed(100, -4)], since) == []


WAIVER = """
[[waivers]]
kind = "offsets_reset"
group = "bill.*"
reason = "planned"
who = "ada"
until = 2026-12-01
"""


def test_a_waived_finding_is_last_and_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "waivers.toml").write_text(WAIVER)
    findings = all_findings(make(tmp_path / "w", resets("orders", "billing"))).findings
    rows = finding_rows(findings, {}, NOW, {findings[0].key: NOW - DAY}, waivers(tmp_path / "groupscope.toml"))
    assert [(row["rank"], row["group_id"], row["waiver"]) for row in rows] == [
        (1, "orders", None),
        (2, "billing", "planned (ada)"),
    ]
    assert f"{rows[1]['waived_until_time']:%Y-%m-%d}" == "2026-12-01"
    assert (num_at_or_above(rows, "warning"), num_at_or_above(rows, "critical")) == (1, 0)
    first = {row["group_id"]: row["first_seen_time"] for row in rows}
    assert first[findings[0].group_id] == NOW - DAY and NOW in first.values()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (WAIVER.replace("group =", "grup ="), "number 1: grup: no such key, the nearest is group"),
        (WAIVER.replace("offsets_reset", "offset_reset"), "no kind of finding, the nearest is offsets_reset"),
        (WAIVER.replace('reason = "planned"', ""), "reason is missing; add it"),
        (WAIVER.replace('"planned"', '" "'), "number 1: reason = ' '; give a text that is not empty"),
        (WAIVER.replace('"ada"', '""'), "number 1: who = ''; give a text that is not empty"),
        (WAIVER.replace('"ada"', "5"), "number 1: who = 5; give a text"),
        (WAIVER.replace("2026-12-01", "2026-13-01"), "; write it as TOML"),
        (WAIVER.replace("2026-12-01", '"soon"'), "until = 'soon'; give a date or time"),
        (WAIVER.replace("2026-12-01", "3"), "until = 3; give a date or time"),
        (WAIVER.replace("2026-12-01", "9999-12-31T23:59:59-12:00"), "until = 9999-12-31 23:59:59-12:00; give a date"),
        (WAIVER.replace("2026-12-01", "'0001-01-01T00:00+01:00'"), "until = 0001-01-01 00:00:00+01:00; give a date"),
        (WAIVER.replace("bill.*", "("), "; give a regular expression"),
        (WAIVER.replace("[[waivers]]", "[[waiver]]"), "waiver: no such section"),
        ("waivers = 1", "waivers must be sections [[waivers]]"),
        ("=", "; write it as TOML"),
    ],
)
def test_a_wrong_file_of_waivers_is_reported_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "waivers.toml").write_text(text)
    with pytest.raises(Failure) as failure:
        waivers(tmp_path / "groupscope.toml")
    assert failure.value.code == 2
    assert message in str(failure.value) and "waivers.toml" in str(failure.value) and "\n" not in str(failure.value)
