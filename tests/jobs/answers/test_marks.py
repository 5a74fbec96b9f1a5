"""`mark` keeps marks beside runs; `rebalances`, `why` and the report say what began within ten minutes after one.

The times of events are those of the sample's log, which its script wrote: see docs/sample.md.
"""

import csv
import io
import json
import re
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from jobs import cli
from jobs.answers.marks import current_marks, mark_before, marks_about
from jobs.recording.marks import add_mark, remove_mark
from jobs.storage.kernel_lock import KernelLock
from jobs.warehouses.any_warehouse import reading
from schemas.words.exit_codes import ExitCode
from tests.audited_sample import audited_sample
from tests.oracles.pages.documents import detail_of, document_at, rows_of

__all__ = ["audited_sample"]

pytestmark = pytest.mark.about("marks", "mark", "timeline", "stories")
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
Ask = Callable[..., str]


def run(warehouse: Path, *words: str) -> int:
    return cli.main([*words, "--warehouse", str(warehouse)])


@pytest.fixture(scope="module")
def warehouse(audited_sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With three marks, the third of them removed. A run is in progress meanwhile."""
    copy = tmp_path_factory.mktemp("marks") / "w"
    shutil.copytree(audited_sample, copy)
    with KernelLock(copy, "audit").hold(0, print):
        for words in (
            ("billing 2.4.1", "--at", "2026-11-21T17:36:22", "--group", "killed$"),
            ("network ✂ split", "--at", "2026-11-21T17:36:40"),
            ("a slip", "--at", "2026-11-21T17:36:45"),
        ):
            assert run(copy, "mark", *words) == 0
        assert run(copy, "mark", "--remove", "3") == 0
    return copy


@pytest.fixture
def ask(warehouse: Path, capfd: pytest.CaptureFixture[str]) -> Ask:
    def asked(*words: str) -> str:
        capfd.readouterr()
        assert run(warehouse, *words) == 0
        return capfd.readouterr().out

    return asked


def objects(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_a_removed_mark_is_not_listed_and_stays_in_the_table(ask: Ask) -> None:
    listed = objects(ask("mark", "--list", "--format", "json"))
    assert [(row["number"], row["mark_time"], row["text"], row["group_pattern"]) for row in listed] == [
        (1, "2026-11-21T17:36:22.000Z", "billing 2.4.1", "killed$"),
        (2, "2026-11-21T17:36:40.000Z", "network ✂ split", None),
    ]
    select = "SELECT cluster, text, removed_time >= recorded_time AS is_removed FROM marks ORDER BY recorded_time"
    assert list(csv.reader(io.StringIO(ask("sql", select, "--format", "csv"))))[1:] == [
        ["sample", "billing 2.4.1", ""],
        ["sample", "network ✂ split", ""],
        ["sample", "a slip", "true"],
    ]


def test_a_mark_that_is_there_is_not_kept_again(warehouse: Path, ask: Ask, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(warehouse, "mark", "network ✂ split", "--at", "2026-11-21T18:36:40+01:00") == 0
    assert "mark 2 is the same and is kept already" in capfd.readouterr().err
    assert len(ask("mark", "--list", "--format", "json").splitlines()) == 2


def test_each_event_has_the_newest_mark_of_the_ten_minutes_before_it(ask: Ask) -> None:
    def marked(group: str) -> list[tuple[str, str, str | None, int | None]]:
        rows = objects(ask("rebalances", group, "--format", "json"))
        return [(row["time"][11:23], row["kind"], row["after_mark"], row["after_mark_ms"]) for row in rows]

    assert marked("classic-killed") == [
        ("17:36:22.000", "mark", None, None),
        ("17:36:28.465", "rebalance", "billing 2.4.1", 6_465),
        ("17:36:40.000", "mark", None, None),
        ("17:36:45.756", "rebalance", "network ✂ split", 5_756),
        ("17:37:56.972", "coordinator_failover", "network ✂ split", 76_972),
    ]
    (mark, *_) = objects(ask("rebalances", "classic-killed", "--format", "json"))
    # No record shows it.
    assert {mark[name] for name in mark if name.startswith("evidence_")} == {None}
    # The first mark is not about it; a silence follows a mark too.
    assert marked("ledger") == [
        ("17:36:28.314", "rebalance", None, None),
        ("17:36:40.000", "mark", None, None),
        ("17:36:41.591", "silence", "network ✂ split", 1_591),
        ("17:38:00.156", "coordinator_failover", "network ✂ split", 80_156),
    ]


def test_the_timeline_has_a_line_for_a_mark_that_its_events_followed(ask: Ask) -> None:
    def marks(*flags: str) -> list[str]:
        lines = ask("rebalances", "classic-killed", "--wide", *flags).splitlines()
        return [line for line in lines if " mark " in line]

    first, second = marks()
    assert first.startswith("2026-11-21T17:36:22.000Z  2026-11-21T17:36:22.000Z  mark ")
    assert first.endswith("  billing 2.4.1: 1 event, 6.5 s after the mark")
    assert second.endswith("  network ✂ split: 2 events, the first 5.8 s after the mark")
    # Only of the events that are listed: none of them is left of the first mark.
    (line,) = marks("--from", "2026-11-21T17:37")
    assert line.endswith("  network ✂ split: 1 event, 1 min 17 s after the mark")


def test_why_says_after_which_mark_an_event_and_a_verdict_began(ask: Ask) -> None:
    event = ask("why", "classic-killed", "--at", "2026-11-21T17:36:30")
    assert '\nMark         6.5 s after the mark "billing 2.4.1"\n' in event
    document = json.loads(ask("why", "classic-killed", "--at", "2026-11-21T17:36:30", "--format", "json"))
    assert (document["after_mark"], document["after_mark_ms"]) == ("billing 2.4.1", 6_465)
    assert document["after"]["after_mark"] == "network ✂ split"
    (verdict,) = (line for line in ask("why", "ledger").splitlines() if line.startswith("Verdict"))
    assert verdict.endswith('; it began 1.6 s after the mark "network ✂ split"')


def page(warehouse: Path, folder: Path, *flags: str) -> dict[str, Any]:
    assert run(warehouse, "report", "--report", str(folder), "--group", "^(classic-killed|ledger)$", *flags) == 0
    return document_at(folder / "index.html")


def stories(document: dict[str, Any]) -> list[str]:
    """What rebalances are said to have followed."""
    details = [detail_of(document, group) for group in document["details"]]
    lines = [line for detail in details for some in detail["rebalances"]["lines"] for line in some or ()]
    return [text for label, text in lines if label == "Mark"]


def test_the_report_lists_marks_and_names_them_in_the_story(warehouse: Path, tmp_path: Path) -> None:
    document = page(warehouse, tmp_path)
    assert {'6.5 s after the mark "billing 2.4.1"', '5.8 s after the mark "network ✂ split"'} <= {*stories(document)}
    shown = {(row["text"], row["group"]) for row in rows_of(document["marks"]) if row["kind"] == "deployment"}
    assert ("network ✂ split", "classic-killed") in shown or ("network ✂ split", None) in shown
    assert {text for text, _ in shown} == {"billing 2.4.1", "network ✂ split"}


def test_a_redacted_report_and_copy_have_hashes_for_what_was_typed(warehouse: Path, tmp_path: Path) -> None:
    """And in the report the same hash for the same mark: its pattern is found in the real name of the group."""
    document = page(warehouse, tmp_path / "r", "--redact")
    text = (tmp_path / "r" / "index.html").read_text() + str(
        [detail_of(document, each) for each in document["details"]]
    )
    assert not {word for word in ("billing", "network", "killed$") if word in text}
    hashed = {row["text"] for row in rows_of(document["marks"]) if row["kind"] == "deployment"}
    (said,) = {text for text in stories(document) if text.startswith("6.5 s after")}
    assert said.removeprefix('6.5 s after the mark "').removesuffix('"') in hashed and len(hashed) == 2
    assert run(warehouse, "report", "--redact", "--copy-to", str(tmp_path / "copy")) == 0
    copied = reading(str(tmp_path / "copy")).rows("marks")
    assert copied is not None
    own = reading(str(warehouse)).rows("marks")
    assert own is not None
    kept = ["mark_time", "recorded_time", "removed_time"]
    assert copied.select(kept).sort_by("recorded_time") == own.select(kept).sort_by("recorded_time")
    texts = [text for name in ("text", "group_pattern") for text in copied.column(name).to_pylist() if text is not None]
    assert len(texts) == 4
    assert all(re.fullmatch("id-[0-9a-f]{14}", text) for text in texts)


def test_a_sentence_of_another_table_is_not_searched_for_the_text_of_a_mark(warehouse: Path, tmp_path: Path) -> None:
    copy = tmp_path / "w"
    shutil.copytree(warehouse, copy)
    assert run(copy, "mark", "partition") == 0
    assert run(copy, "report", "--redact", "--copy-to", str(tmp_path / "copy")) == 0
    findings = reading(str(tmp_path / "copy")).rows("findings")
    assert findings is not None
    assert any(" partition " in message for message in findings.column("message").to_pylist())


def test_maintain_keeps_marks_and_doctor_knows_them(
    warehouse: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "w"
    shutil.copytree(warehouse, copy)
    before = reading(str(copy)).rows("marks")
    assert run(copy, "maintain", "--keep", "1h") == 0
    assert reading(str(copy)).rows("marks") == before
    capfd.readouterr()
    assert run(copy, "doctor", "--format", "json") == 0
    assert {row["status"] for row in objects(capfd.readouterr().out)} == {"ok"}


WRONG: list[tuple[list[str], str]] = [
    (["x", "--at", "2999-01-01"], "--at 2999-01-01: is in the future; give a time up to now, which is "),
    (["x\udcff"], "TEXT: is not UTF-8; give a text in UTF-8"),
    (["--remove", "3"], "--remove 3: no mark has this number; give one that groupscope mark --list shows"),
    (["--remove", "99"], "--remove 99: no mark has this number"),
]


@pytest.mark.parametrize(("words", "expected"), WRONG, ids=[line for _, line in WRONG])
def test_wrong_usage_is_one_line_and_keeps_nothing(
    warehouse: Path, words: list[str], expected: str, capfd: pytest.CaptureFixture[str]
) -> None:
    before = reading(str(warehouse)).rows("marks")
    capfd.readouterr()
    assert run(warehouse, "mark", *words) == ExitCode.USAGE
    out, said = capfd.readouterr()
    assert (out, said.count("\n"), said.startswith(f"groupscope: {expected}")) == ("", 1, True), said
    assert reading(str(warehouse)).rows("marks") == before


def test_to_remove_a_mark_where_there_is_none_leaves_no_table(warehouse: Path, tmp_path: Path) -> None:
    copy = tmp_path / "w"
    shutil.copytree(warehouse, copy)
    shutil.rmtree(copy / "marks", ignore_errors=True)
    assert run(copy, "mark", "--remove", "1") == ExitCode.USAGE
    assert not (copy / "marks").exists()


def test_clocks_may_differ_by_a_minute(warehouse: Path, tmp_path: Path) -> None:
    copy = tmp_path / "w"
    shutil.copytree(warehouse, copy)

    def later(seconds: int) -> str:
        return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat()

    assert run(copy, "mark", "a", "--at", later(50)) == ExitCode.CLEAN
    assert run(copy, "mark", "b", "--at", later(70)) == ExitCode.USAGE


def test_marks_of_several_processes_are_all_kept_and_each_is_removed_once(warehouse: Path, tmp_path: Path) -> None:
    copy = tmp_path / "w"
    shutil.copytree(warehouse, copy)
    folder = reading(str(copy)).path("marks")

    def add(number: int) -> None:
        row = {"cluster": "other", "mark_time": NOON, "text": f"release {number}", "group_pattern": None}
        add_mark(folder, {**row, "recorded_time": NOON + timedelta(seconds=number), "removed_time": None})

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(add, [1, 2, 3, 1, 2, 3]))
        assert [row["text"] for row in current_marks(reading(str(copy)), "other")] == [
            "release 1", "release 2", "release 3",
        ]  # fmt: skip
        removed = list(pool.map(lambda number: remove_mark(folder, "other", number, NOON), [1, 1, 3]))
    # Numbers are not given again: the second removal of the first mark finds none.
    assert sorted(row["text"] for row in removed if row is not None) == ["release 1", "release 3"]
    assert [row["number"] for row in current_marks(reading(str(copy)), "other")] == [2]
    # Marks of another cluster stay as they were.
    before = reading(str(warehouse)).rows("marks", cluster="sample")
    after = reading(str(copy)).rows("marks", cluster="sample")
    assert isinstance(before, pa.Table)
    assert before.sort_by("recorded_time").equals(after.sort_by("recorded_time"))


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(-0.001, None), (0, "first"), (299.999, "first"), (300, "second"), (900, "second"), (900.001, None)],
)
def test_ten_minutes_end_after_ten_minutes(seconds: float, expected: str | None) -> None:
    """The second mark is five minutes after the first."""
    marks = [{"mark_time": NOON, "text": "first"}, {"mark_time": NOON + timedelta(minutes=5), "text": "second"}]
    mark = mark_before(marks, NOON + timedelta(seconds=seconds))
    assert (None if mark is None else mark["text"]) == expected


def test_a_pattern_may_match_anywhere_and_one_of_another_language_matches_nothing() -> None:
    patterns = [None, "ing$", "^ing", "(?<name>x)|billing"]
    marks = marks_about([{"group_pattern": each} for each in patterns], "billing")
    assert [mark["group_pattern"] for mark in marks] == [None, "ing$"]
