"""What the newest audit says is wrong with a group is in the answers about it, with the time of its last commit."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jobs import cli
from jobs.warehouses.warehouse import Warehouse
from tests.builders.tables.history import at, coverage, evidence, interval, rebalance
from tests.make.tables import make, write_run

Row = dict[str, Any]
Ask = Callable[..., tuple[int, str, str]]

SILENT, ALONE = {"group_id": "silent"}, {"group_id": "alone"}
# When the audits were.
EARLY, LATE = 3_000, 4_000
# The last commit of all before all clients were gone, and the one before it.
LAST, BEFORE = 3_600.5, 3_595.5


def commit(group: Row, offset: int, second: float, partition: int, **more: Any) -> Row:
    places = {"offsets_partition": 3, "record_offset": offset, "topic": "orders", "partition": partition}
    return {**group, **places, "record_time": at(second), "commit_time": at(second), "committed_offset": 7, **more}


def held(group: Row, begin: float, last: float | None, first: int, partition: int, **more: Any) -> Row:
    """From `begin` on, committed for the last time at `last`."""
    times = {"commit_time": at(begin), "last_commit_time": None if last is None else at(last)}
    whole = {**interval(begin, None, first), **group, "topic": "orders", "partition": partition, "via": "plain"}
    return {**whole, **times, "committed_offset": 7, "num_commits": 2, **more}


def verdict(group: Row, second: float, partition: int | None, verdict: str, rule: str, reason: str, **more: Any) -> Row:
    topic = None if partition is None else "orders"
    about = {**group, "group_type": "classic", "topic": topic, "partition": partition, "as_of_time": at(second)}
    return {**about, "own_verdict": verdict, "rule": rule, "reason": reason, **evidence(1, 9), **more}


STOPPED = {"since_time": at(BEFORE), "last_commit_time": at(LAST)}
WHY = "2 of 3 partitions STOP, such as orders 0: no commit for 6 min 40 s"
ROWS: dict[str, list[Row]] = {
    "group_state_intervals": [
        {**interval(0, None, 1), **SILENT, "state": "Stable", "protocol_type": "consumer", "num_members": 2},
        {**interval(0, None, 0), **ALONE, "state": "Empty", "num_members": 0},
    ],
    "membership_intervals": [
        {**interval(0, None, 1), **SILENT, "member_id": each, "client_id": each, "client_host": "/h"}
        for each in ("one", "two")
    ],
    "ownership_intervals": [
        {**interval(0, None, 1), **SILENT, "topic": "orders", "partition": partition, "member_id": member}
        | {"phase": "assigned"}
        for partition, member in ((0, "one"), (1, "one"), (2, "two"))
    ],
    "rebalances": [rebalance("silent", 1, 0, 1, trigger="group_created", members_joined=["one", "two"])],
    "offset_history": [
        # Committed again and again; the same long ago; in a transaction; of records without a time.
        held(SILENT, 100, LAST, 2, 0),
        held(SILENT, 100, BEFORE, 3, 1),
        held(SILENT, 20, 3_500, 4, 2, via="transaction"),
        held(SILENT, 0, None, 5, 3),
        held(ALONE, 50, 3_900, 6, 0),
    ],
    "offset_commits": [
        commit(SILENT, 2, 100, 0), commit(SILENT, 3, 100, 1),
        *(commit(SILENT, 100 + second, second, 0) for second in (1_000, 1_005, 1_010)),
        # Of another partition, later than asked for, in a transaction, or a tombstone.
        commit(SILENT, 1_112, 1_012, 7), commit(SILENT, 1_150, 1_050, 0), commit(ALONE, 1_113, 1_013, 0),
        commit(SILENT, 1_111, 1_011, 0, is_transactional=True), commit(SILENT, 1_114, 1_014, 0, is_tombstone=True),
    ],
    "history_coverage": [coverage(0, 9_000, 0, LATE)],
    "topic_snapshots": [
        {"captured_time": at(LATE), "topic": "orders", "partition": p, "log_end_offset": end}
        for p, end in enumerate((100, 7, 5))
    ],
    "group_verdicts": [
        verdict(SILENT, EARLY, None, "OK", "worst_partition", "3 of 3 partitions OK, such as orders 0: 0 messages"),
        verdict(SILENT, LATE, None, "STOP", "worst_partition", WHY, **STOPPED),
        verdict(SILENT, LATE, 0, "STOP", "silent", "no commit for 6 min 40 s", lag=93, **STOPPED),
        verdict(SILENT, LATE, 1, "STOP", "silent", "no commit for 6 min 45 s", lag=1_007,
                since_time=at(BEFORE), last_commit_time=at(BEFORE)),
        verdict(SILENT, LATE, 2, "OK", "caught_up", "0 messages to read", lag=0),
        verdict(ALONE, LATE, None, "UNKNOWN", "worst_partition", "1 of 1 partition UNKNOWN, such as orders 0: b"),
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    return make(tmp_path_factory.mktemp("verdicts") / "warehouse", ROWS)


@pytest.fixture
def ask(warehouse: Warehouse, capfd: pytest.CaptureFixture[str]) -> Ask:
    return asker(warehouse, capfd)


def asker(warehouse: Warehouse, capfd: pytest.CaptureFixture[str]) -> Ask:
    def asked(*words: str) -> tuple[int, str, str]:
        code = cli.main([*words, "--warehouse", str(warehouse.root)])
        done = capfd.readouterr()
        return code, done.out, done.err

    return asked


def second(number: float) -> str:
    return at(number).isoformat()


def shown(number: float) -> str:
    return at(number).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def rows(ask: Ask, *words: str) -> list[dict[str, str]]:
    code, out, _ = ask(*words, "--format", "csv")
    assert code == 0
    return list(csv.DictReader(io.StringIO(out)))


def columns(ask: Ask, *words: str, names: list[str]) -> list[list[str]]:
    return [[row[name] for name in names] for row in rows(ask, *words)]


OF_VERDICT = ["VERDICT", "VERDICT-REASON", "VERDICT-AS-OF-TIME"]


def test_groups_have_the_verdict_of_the_newest_audit_that_is_not_of_a_later_time(ask: Ask) -> None:
    names = ["GROUP", *OF_VERDICT]
    alone = "1 of 1 partition UNKNOWN, such as orders 0: b"
    late = [["alone", "UNKNOWN", alone, shown(LATE)], ["silent", "STOP", WHY, shown(LATE)]]
    assert columns(ask, "groups", names=names) == late
    assert columns(ask, "groups", "--at", second(LATE), names=names) == late
    ok = "3 of 3 partitions OK, such as orders 0: 0 messages"
    assert columns(ask, "groups", "--at", second(LATE - 0.001), names=names) == [
        ["alone", "", "", ""],
        ["silent", "OK", ok, shown(EARLY)],
    ]
    nothing = [["alone", "", "", ""], ["silent", "", "", ""]]
    assert columns(ask, "groups", "--at", second(EARLY - 0.001), names=names) == nothing


def test_the_table_of_groups_says_once_as_of_when_verdicts_are_or_that_there_is_none(ask: Ask) -> None:
    code, out, err = ask("groups")
    assert (code, err) == (0, "")
    assert [line.split() for line in out.splitlines() if not line.startswith("-")] == [
        ["GROUP", "TYPE", "STATE", "PROTOCOL", "LAST-COMMIT", "VERDICT"],
        ["alone", "Classic", "Empty", "04:05:00", "UNKNOWN"],
        ["silent", "Classic", "Stable", "consumer", "04:00:00", "STOP"],
    ]
    _, out, err = ask("groups", "--at", second(EARLY + 10))
    assert err == f"groupscope: verdicts are as of {shown(EARLY)}, of the newest audit\n"
    assert out.splitlines()[-1].split()[-1] == "OK"
    _, out, err = ask("groups", "--at", second(EARLY - 10))
    assert err == f"groupscope: verdicts at {shown(EARLY - 10)} are unknown: all audits are as of later times\n"
    assert out.split()[2:8] == ["GROUP", "TYPE", "STATE", "PROTOCOL", "LAST-COMMIT", "-" * 6]


def test_a_last_commit_of_another_day_has_its_date(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    days = {**ROWS, "history_coverage": [coverage(0, 9_000, 0, 22 * 3_600)], "group_verdicts": []}
    _, out, _ = asker(make(tmp_path / "warehouse", days), capfd)("groups")
    assert out.splitlines()[-1].split()[-1] == "2026-11-21T04:00:00"


@pytest.mark.parametrize(
    ("seconds", "last"),
    [(LATE, LAST), (LAST, LAST), (1_030, 1_010), (1_010, 1_010), (1_009.9, 1_005), (999, 100), (3_000, 1_050)],
)
def test_the_last_commit_is_that_of_the_time(ask: Ask, seconds: float, last: float) -> None:
    """Of an offset that is committed again and again, the commits themselves show when it was the last time."""
    of_partition = columns(ask, "describe", "silent", "--at", second(seconds), names=["PARTITION", "LAST-COMMIT-TIME"])
    assert of_partition[0] == ["0", shown(last)]
    assert columns(ask, "describe", "silent", "--state", "--at", second(seconds), names=["LAST-COMMIT-TIME"]) == [
        [shown(last)]
    ]
    assert columns(ask, "groups", "--at", second(seconds), names=["GROUP", "LAST-COMMIT-TIME"])[1] == [
        "silent",
        shown(last),
    ]


def test_of_commits_whose_time_is_not_known_the_first_is_shown_or_none(ask: Ask) -> None:
    """When a transaction took effect is not in its commits."""
    names = ["PARTITION", "LAST-COMMIT-TIME"]
    assert columns(ask, "describe", "silent", "--at", second(2_000), names=names)[2:] == [["2", shown(20)], ["3", ""]]


def test_describe_ends_with_the_last_commit_and_the_verdict(ask: Ask) -> None:
    standing = ["", f"Last commit  {shown(LAST)}", f"Verdict      STOP since {shown(BEFORE)}: {WHY}"]
    for words in ([], ["--wide"], ["--verbose"], ["--members"], ["--state"]):
        assert ask("describe", "silent", *words)[1].splitlines()[-3:] == standing, words
    _, out, err = ask("describe", "silent", "--at", second(EARLY + 700))
    reason = "3 of 3 partitions OK, such as orders 0: 0 messages"
    assert out.splitlines()[-1] == f"Verdict      OK as of {shown(EARLY)}: {reason}"
    assert "verdict" not in err
    _, out, _ = ask("describe", "silent", "--at", second(EARLY - 1))
    assert out.splitlines()[-1] == "Verdict      unknown: all audits are as of later times"
    _, out, _ = ask("describe", "alone", "--at", second(EARLY + 1))
    text = f"none as of {shown(EARLY)}: the group has no committed offset, and its members own no partition"
    assert out.splitlines()[-1] == f"Verdict      {text}"


def test_describe_shows_which_partitions_are_not_ok_only_if_some_are_not(ask: Ask) -> None:
    header, _, *lines = (line.split() for line in ask("describe", "silent")[1].splitlines()[:6])
    assert header[-1] == "VERDICT"
    assert [line[-1] for line in lines] == ["STOP", "STOP", "OK", "-"]
    assert "VERDICT" not in ask("describe", "silent", "--at", second(EARLY))[1]
    assert columns(ask, "describe", "silent", names=["PARTITION", *OF_VERDICT]) == [
        ["0", "STOP", "no commit for 6 min 40 s", shown(LATE)],
        ["1", "STOP", "no commit for 6 min 45 s", shown(LATE)],
        ["2", "OK", "0 messages to read", shown(LATE)],
        ["3", "", "", ""],
    ]
    assert columns(ask, "describe", "silent", "--state", names=OF_VERDICT) == [["STOP", WHY, shown(LATE)]]


def test_an_offset_beyond_the_end_has_no_lag_and_says_how_far_it_is(ask: Ask) -> None:
    names = ["PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "BEYOND-END"]
    assert columns(ask, "describe", "silent", names=names)[:3] == [
        ["0", "7", "100", "93", ""],
        ["1", "7", "7", "0", ""],
        ["2", "7", "5", "0", "2"],
    ]
    header, _, *lines = (line.split() for line in ask("describe", "silent")[1].splitlines()[:5])
    place = header.index("BEYOND-END")
    assert [line[place] for line in lines] == ["-", "-", "2"]
    # The end that was read before: the commit may be newer than the messages that were added since.
    assert "BEYOND-END" not in ask("describe", "silent", "--at", second(LATE - 1))[1]


def test_why_without_a_time_begins_with_what_is_wrong(ask: Ask) -> None:
    code, out, _ = ask("why", "silent")
    wrong = f"Verdict      STOP since {shown(BEFORE)}: {WHY}"
    group, *rest = out.splitlines()
    assert (code, group, rest[0]) == (0, "Group        silent (classic)", wrong)
    assert any(line.startswith("Rebalance    generation") for line in rest)
    at_the_end = ask("why", "silent", "--at", second(LATE))[1]
    assert at_the_end == f"At           {shown(LATE)}\n" + out.replace(wrong + "\n", "")
    document = json.loads(ask("why", "silent", "--format", "json")[1])
    names = ["verdict", "verdict_reason", "verdict_since_time", "verdict_as_of_time", "last_commit_time"]
    assert [document.pop(name) for name in names] == ["STOP", WHY, shown(BEFORE), shown(LATE), shown(LAST)]
    assert document == json.loads(ask("why", "silent", "--at", second(LATE), "--format", "json")[1])


def test_why_without_a_time_says_what_happened_to_the_group_lately(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The newest first, of the newest whole run of the gate; not what lasts, nor what happened to others."""

    def found(rank: int, at_time: float | None, text: str, **more: Any) -> Row:
        about = {"run_id": "whole", "rank": rank, "kind": "offsets_reset", "severity": "warning", **SILENT}
        return {**about, "at_time": None if at_time is None else at(at_time), "message": text, **more}

    events = [found(rank, 100 * rank, f"event {rank}") for rank in range(1, 6)]
    others = [
        found(6, None, "lasts"), found(7, 3_000, "of another", **ALONE), found(8, 3_000, "narrowed", run_id="z"),
    ]  # fmt: skip
    runs = [{"run_id": run, "suite": "s", "narrowed_by": by} for run, by in (("whole", None), ("z", "--group s"))]
    rows = {**ROWS, "gate_runs": runs, "findings": [*events, *others]}
    out = asker(make(tmp_path / "warehouse", rows), capfd)("why", "silent")[1]
    lines = [line.split(maxsplit=2) for line in out.splitlines()]
    place = next(place for place, line in enumerate(lines) if line[:1] == ["Lately"])
    assert lines[place : place + 4] == [
        ["Lately", shown(500)[11:19], "event 5"], [shown(400)[11:19], "event", "4"], [shown(300)[11:19], "event", "3"],
        ["and", "2", "more: groupscope status silent"],
    ]  # fmt: skip


def test_why_says_what_is_wrong_with_a_group_without_events(ask: Ask) -> None:
    code, out, err = ask("why", "alone")
    assert (code, out) == (
        0,
        "Group        alone (classic)\nVerdict      UNKNOWN: 1 of 1 partition UNKNOWN, such as orders 0: b\n",
    )
    assert err == "groupscope: group alone: the data has no rebalance, restart or failover\n"
    assert ask("why", "alone", "--at", second(LATE))[:2] == (2, "")


def test_a_verdict_that_is_ok_is_no_answer_to_why(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    early = [row for row in ROWS["group_verdicts"] if row["as_of_time"] == at(EARLY)]
    ask = asker(make(tmp_path / "warehouse", {**ROWS, "group_verdicts": early}), capfd)
    assert "Verdict" not in ask("why", "silent")[1]
    assert [row["kind"] for row in rows(ask, "rebalances", "silent")] == ["rebalance"]


def silences(ask: Ask, *words: str) -> list[list[str]]:
    events = rows(ask, "rebalances", "silent", *words)
    assert [row["kind"] for row in events] == sorted(
        (row["kind"] for row in events), key=["rebalance", "silence"].index
    )
    return [[row["time"], row["end_time"], row["detail"]] for row in events if row["kind"] == "silence"]


def test_a_silence_is_a_line_of_the_timeline_at_the_last_commit(ask: Ask) -> None:
    detail = (
        "no commit since 04:00:00 in 2 of 3 partitions, as of 04:06:40; 1,100 messages wait; member one; orders:0,1"
    )
    assert silences(ask) == [[shown(LAST), "", detail]]
    *shown_line, shown_detail = ask("rebalances", "silent")[1].splitlines()[-1].split(maxsplit=4)
    assert shown_line == [shown(LAST), "silence", "-", "-"]
    assert detail.startswith(shown_detail.removesuffix("…"))
    assert len(shown_detail) > len("no commit since 04:00:00 in 2 of 3 partitions")
    # It lasts, and had not begun.
    assert silences(ask, "--from", second(LATE)) == silences(ask)
    assert silences(ask, "--to", second(LAST - 1)) == []


def by_rules(rules: list[str]) -> list[Row]:
    """Of partitions 0, 1, …; the last commit of each is a second later than that of the one before."""
    stopped = ["OK" if rule == "caught_up" else "STOP" for rule in rules]
    of_partitions = (
        verdict(SILENT, LATE, partition, of, rule, "r", last_commit_time=at(LAST + partition), lag=partition)
        for partition, (of, rule) in enumerate(zip(stopped, rules, strict=True))
    )
    return [verdict(SILENT, LATE, None, "STOP", "worst_partition", "r", last_commit_time=at(LAST + 2)), *of_partitions]


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (by_rules(["group_silent"] * 3), [(2, "04:00:02 in all 3 partitions; 3 messages wait")]),
        # Of what is caught up nothing waits, and it is as silent.
        (by_rules(["group_silent", "caught_up", "group_silent"]), [
            (2, "04:00:02 in all 3 partitions; 2 messages wait"),
        ]),
        (by_rules(["member_silent", "member_silent", "caught_up"]), [
            (1, "04:00:01 in 2 of 3 partitions; 1 message waits; member one; orders:0,1"),
        ]),
        (by_rules(["silent"] * 3), [(2, "04:00:02 in all 3 partitions; 3 messages wait")]),
        (by_rules(["silent", "member_silent", "member_silent"]), [
            (2, "04:00:02 in all 3 partitions; 3 messages wait"),
        ]),
        (by_rules(["caught_up", "silent", "silent"]), [
            (1, "04:00:01 in orders:1; 1 message waits; member one"),
            (2, "04:00:02 in orders:2; 2 messages wait; member two"),
        ]),
        (by_rules(["member_silent", "silent", "caught_up"]), [
            (0, "04:00:00 in orders:0; 0 messages wait; member one"),
            (1, "04:00:01 in orders:1; 1 message waits; member one"),
        ]),
        (by_rules(["silent"]), [(0, "04:00:00 in its only partition; 0 messages wait")]),
        (by_rules(["stands_still", "never_committed", "caught_up"]), []),
    ],
)  # fmt: skip
def test_of_whom_a_silence_is(
    verdicts: list[Row], expected: list[tuple[int, str]], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ask = asker(make(tmp_path / "warehouse", {**ROWS, "group_verdicts": verdicts}), capfd)
    said = [[shown(LAST + later), "", f"no commit since {text}"] for later, text in expected]
    assert [[*times, text.replace(", as of 04:06:40", "")] for *times, text in silences(ask)] == said


@pytest.mark.parametrize("absent", [False, True])
def test_without_verdicts_the_answers_have_none(
    absent: bool, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    warehouse = make(tmp_path / "warehouse")
    known = {name: each for name, each in ROWS.items() if name != "group_verdicts"}
    write_run(warehouse, "run-0001", known, absent=frozenset({"group_verdicts"}) if absent else frozenset())
    ask = asker(warehouse, capfd)
    code, out, err = ask("groups")
    assert (code, err, "VERDICT" in out) == (0, "", False)
    code, out, err = ask("describe", "silent")
    assert (code, err, out.splitlines()[-2:]) == (0, "", ["", f"Last commit  {shown(LAST)}"])
    assert "Verdict" not in ask("why", "silent")[1]
    assert ask("why", "alone")[0] == 2
    assert silences(ask) == []
    assert [row["VERDICT"] for row in rows(ask, "groups")] == ["", ""]
