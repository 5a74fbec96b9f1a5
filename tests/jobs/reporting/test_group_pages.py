"""Groups on pages of their own: workers write what one process writes."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from jobs.command_line.values import GroupChoice
from jobs.engine.local import LocalEngine
from jobs.output.failure import Failure
from jobs.output.zones import in_zone
from jobs.redacting.redaction import Key, NoRedaction
from jobs.reporting.group_pages import write_by_workers
from jobs.reporting.page_files import write_group_pages
from jobs.reporting.parts.group_parts import GroupsToDraw
from jobs.reporting.report import Report, report_of
from jobs.storage.places.local_place import LocalPlace
from jobs.warehouses.any_warehouse import reading
from schemas.words.exit_codes import ExitCode

KEY = Key(b"0123456789abcdef", is_kept=True)


@contextmanager
def small_report(warehouse: Path, key: Key | None = None) -> Iterator[Report]:
    """Most groups have no room on its first page."""
    with report_of(reading(str(warehouse)), "sample", GroupChoice(), most_bytes=400_000, key=key) as report:
        yield report


@pytest.fixture(scope="module")
def workers() -> Iterator[LocalEngine]:
    with LocalEngine("tests", 2, is_debug=False, job="report") as engine:
        yield engine


def files_of(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in (folder / "groups").iterdir()}


@pytest.mark.parametrize(("key", "zone"), [(None, UTC), (KEY, ZoneInfo("Asia/Kolkata"))])
def test_workers_write_the_pages_that_one_process_writes(
    key: Key | None,
    zone: tzinfo,
    audited_sample: Path,
    tmp_path: Path,
    workers: LocalEngine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Some in full and some in brief, in every task.
    monkeypatch.setattr("jobs.reporting.report.MOST_IN_FULL", 12)
    with in_zone(zone), small_report(audited_sample, key) as report:
        assert 0 < report.others.groups.num_in_full < len(report.others.groups.groups)
        here = write_group_pages(LocalPlace(tmp_path / "here"), report.groups)
        there = write_by_workers(report.others, reading(str(audited_sample)), LocalPlace(tmp_path / "there"), workers)
    assert len(workers.workers) == 2
    assert files_of(tmp_path / "there") == files_of(tmp_path / "here")
    assert there == here
    shown = b"17:39:31.689; times are UTC" if zone is UTC else b"23:09:31.689; times are in Asia/Kolkata"
    assert all(shown in page for page in files_of(tmp_path / "there").values())
    assert here.names == files_of(tmp_path / "here").keys() and len(here.names) > 10


def test_a_folder_that_workers_cannot_write_to_is_named(
    audited_sample: Path, tmp_path: Path, workers: LocalEngine
) -> None:
    (tmp_path / "file").write_text("")
    with small_report(audited_sample) as report, pytest.raises(Failure) as failure:
        write_by_workers(report.others, reading(str(audited_sample)), LocalPlace(tmp_path / "file" / "r"), workers)
    assert failure.value.code == ExitCode.FINDINGS
    expected = "Not a directory; give a folder that can be written to"
    assert str(failure.value) == f"--report {tmp_path}/file/r: {expected}"


def test_groups_are_dealt_in_turn_and_none_is_lost() -> None:
    names = [f"g{number}" for number in range(11)]
    whole = GroupsToDraw("w", "c", NoRedaction(), names, 5, {}, dict.fromkeys(names, ()), None)
    hands = whole.without(1).dealt(3)
    assert [(hand.groups, hand.num_in_full) for hand in hands] == [
        (["g1", "g4", "g7", "g10"], 2),
        (["g2", "g5", "g8"], 1),
        (["g3", "g6", "g9"], 1),
    ]
    assert [list(hand.findings) for hand in hands] == [list(hand.groups) for hand in hands]
    assert len(whole.dealt(20)) == 11
    assert whole.without(7).num_in_full == 0
