"""Reports of several files: links, sizes, workers, and what is left of an earlier one."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from jobs import cli
from jobs.command_line.values import GroupChoice
from jobs.engine.local import LocalEngine
from jobs.output.failure import Failure
from jobs.output.zones import in_zone
from jobs.redacting.redaction import Key
from jobs.reporting import write_report as writing
from jobs.reporting.report import pages_of
from jobs.storage.places.local_place import LocalPlace
from jobs.warehouses.any_warehouse import reading
from schemas.words.exit_codes import ExitCode
from tests.builders.warehouses.for_reports import FINDING, judged, state
from tests.make.tables import NOW, Rows
from tests.oracles.pages.documents import detail_of, document_at, document_of, rows_of

# Most groups of the sample have no room on its first page.
SMALL = 500_000
KEY = Key(b"0123456789abcdef", is_kept=True)


@pytest.fixture(scope="module")
def workers() -> Iterator[LocalEngine]:
    with LocalEngine("tests", 2, is_debug=False, job="report") as engine:
        yield engine


def write(warehouse: Path, folder: Path, most: int = SMALL, **more: Any) -> writing.WrittenReport:
    return writing.write_report(
        reading(str(warehouse)), "sample", GroupChoice(), LocalPlace(folder), most_bytes=most, **more
    )


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*.html")}


def test_groups_without_findings_are_on_pages_beside_the_first_one(audited_sample: Path, tmp_path: Path) -> None:
    (tmp_path / "groups").mkdir()
    for name in ("part-900.html", "group-of-before-1.html", "mine.html"):
        (tmp_path / "groups" / name).write_text("before")
    report = write(audited_sample, tmp_path, most=650_000)
    index = document_at(tmp_path / "index.html")
    groups = rows_of(index["groups"])
    assert report.num_pages > 0 and report.num_bytes == sum(map(len, files_of(tmp_path).values())) - len("before")
    assert {file.name for file in (tmp_path / "groups").iterdir()} == {"mine.html"} | {
        (row["page"] or "").removeprefix("groups/") for row in groups if row["page"]
    }
    places: list[str] = []
    for row in groups:
        page = index if row["page"] is None else document_at(tmp_path / row["page"])
        assert row["id"] in page["details"]
        places.append(row["page"] or "")
        if row["page"]:
            (own,) = (each for each in rows_of(page["groups"]) if each["id"] == row["id"])
            assert page["about"]["back"] == "../index.html" and own["rank"] == row["rank"]
            assert page["tiles"] == [] and page["map"] is None
    # Those with findings are on the first page.
    assert [bool(row["critical"] or row["warning"]) for row in groups] == [place == "" for place in places]
    assert {*index["map"]["states"]} == {row["id"] for row in groups}
    # All of them, when there is room.
    assert write(audited_sample, tmp_path, most=15_000_000).num_pages == 0
    assert [file.name for file in (tmp_path / "groups").iterdir()] == ["mine.html"]


def test_no_file_is_larger_than_it_may_be(audited_sample: Path, tmp_path: Path) -> None:
    words = ["report", "--warehouse", str(audited_sample), "--report", str(tmp_path / "r"), "--split", str(SMALL)]
    assert cli.main(words) == ExitCode.CLEAN
    files = files_of(tmp_path / "r")
    assert len(files) > 1 and max(map(len, files.values())) <= SMALL


def test_no_file_is_larger_where_groups_have_many_findings_and_marks(tmp_path: Path) -> None:
    names = [f"group-{number}" for number in range(60)]
    findings = [FINDING | {"group_id": each, "message": "m" * 9_000} for each in names for _ in range(3)]
    resets = [
        {
            "group_id": each,
            "topic": "t" * 200,
            "partition": 0,
            "kind": "to_latest",
            "at_time": NOW + timedelta(hours=at),
        }
        for each in names
        for at in range(90)
    ]
    tables: dict[str, Rows] = {
        "findings": [row | {"rank": rank} for rank, row in enumerate(findings, 1)],
        "group_state_intervals": [state(each) for each in names], "offset_resets": resets,
    }  # fmt: skip
    judged(tmp_path / "w", tables)
    writing.write_report(reading(str(tmp_path / "w")), "a", GroupChoice(), LocalPlace(tmp_path / "r"))
    document, most = document_at(tmp_path / "r" / "index.html"), 3_500_000
    about = {"mark": "a", "has_kept_key": False}
    pages = dict(pages_of(document, dict.fromkeys(names, "d" * 60_000), {*names[:5]}, about, most))
    assert len(pages) > 2 and max(len(page.encode()) for page in pages.values()) <= most
    shown = [name for page in pages.values() for name in document_of(page)["details"]]
    assert sorted(shown) == sorted(names)


@pytest.mark.parametrize("is_redacted", [False, True])
def test_workers_make_the_pages_that_one_process_makes(
    is_redacted: bool, audited_sample: Path, tmp_path: Path, workers: LocalEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = KEY if is_redacted else None
    with in_zone(ZoneInfo("Asia/Kolkata")):
        here = write(audited_sample, tmp_path / "r", key=key)
        files = files_of(tmp_path / "r")
        monkeypatch.setattr(writing, "LEAST_FOR_WORKERS", 1)
        there = write(audited_sample, tmp_path / "r", key=key, engine=workers)
    assert len(workers.workers) == 2 and there == here
    again = files_of(tmp_path / "r")
    assert again.keys() == files.keys()
    for name, page in files.items():
        first, second = document_of(page.decode()), document_of(again[name].decode())
        assert first["details"].keys() == second["details"].keys()
        for group in first["details"]:
            assert detail_of(first, group) == detail_of(second, group)
        # Bytes of redacted ones may differ in the order of words.
        assert is_redacted or again[name] == page
    assert document_at(tmp_path / "r" / "index.html")["about"]["zone"] == "Asia/Kolkata"


def test_a_folder_that_cannot_be_written_to_is_named(audited_sample: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Failure) as failure:
        write(audited_sample, tmp_path / "file" / "r")
    assert failure.value.code == ExitCode.FINDINGS
    expected = "Not a directory; give a folder that can be written to"
    assert str(failure.value) == f"--report {tmp_path}/file/r: {expected}"


def test_a_report_is_the_same_each_time_and_small(audited_sample: Path, tmp_path: Path) -> None:
    write(audited_sample, tmp_path / "r", most=15_000_000)
    first = files_of(tmp_path / "r")
    write(audited_sample, tmp_path / "r", most=15_000_000)
    assert files_of(tmp_path / "r") == first
    assert sum(map(len, first.values())) <= 800_000
