"""The report that an audit writes: where, when, and what happens where it cannot be written."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from jobs import cli
from jobs.configuration.settings import Settings, options_of
from jobs.storage.places.addresses import storage_at
from jobs.storage.stored_files import read_whole
from schemas.words.exit_codes import ExitCode
from tests.builders.logs.segments import COMMIT_KEY, COMMIT_V3, GROUP_KEY, GROUP_V3, batch, segment
from tests.builders.storages.kinds import elsewhere
from tests.oracles.pages.documents import document_at, document_of, said
from tests.runs.ingested import ROOT, rows

__all__ = ["elsewhere"]

RECORDS = [(COMMIT_KEY, COMMIT_V3), (GROUP_KEY, GROUP_V3)]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("log")
    (folder / "groupscope.toml").write_text("[gate]\nmax_source_age_hours = 0\n")
    segment(folder, batch(10, RECORDS), partition=3)
    return folder


def audit(log: Path, warehouse: object, *flags: str) -> int:
    words = ["audit", "--source", f"segments:{log}", "--config", str(log / "groupscope.toml")]
    return cli.main([*words, "--warehouse", str(warehouse), *flags])


def report_line(out: str) -> str:
    (line,) = (line for line in out.splitlines() if line.startswith("Report "))
    return line.removeprefix("Report").strip()


@pytest.mark.drawn_together(8)
def test_an_audit_writes_the_report_and_one_without_anything_new_leaves_it(
    log: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    index = tmp_path / "r" / "index.html"
    flags = ("--report", str(tmp_path / "r"))
    assert audit(log, tmp_path / "w", *flags) == ExitCode.CLEAN
    assert report_line(capfd.readouterr().out) == str(index)
    about = document_at(index)["about"]
    assert (about["verdict"], about["exit_code"]) == ("Clean", 0)
    assert not any("has not run" in said(each) for each in document_at(index)["notices"])
    first = index.stat().st_ino
    assert audit(log, tmp_path / "w", *flags) == ExitCode.CLEAN
    assert report_line(capfd.readouterr().out) == f"{index} (unchanged)"
    assert index.stat().st_ino == first


@pytest.mark.drawn_together(8)
def test_a_narrowed_audit_writes_no_page_and_no_file_and_a_report_says_what_it_shows(
    log: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    index, metrics = tmp_path / "r" / "index.html", tmp_path / "x.prom"
    flags = ("--report", str(tmp_path / "r"), "--prometheus", str(metrics))
    narrow = ("--exclude-group", "^none$")

    def notices() -> list[str]:
        assert cli.main(["report", "--warehouse", str(tmp_path / "w"), *flags[:2]]) == ExitCode.CLEAN
        return [text for each in document_at(index)["notices"] if "narrowed by" in (text := said(each))]

    assert audit(log, tmp_path / "w", *flags, *narrow) == ExitCode.CLEAN
    narrowed = "not written, and no Prometheus file: the run is narrowed by --exclude-group '^none$'"
    assert report_line(capfd.readouterr().out) == narrowed
    assert not index.exists() and not metrics.exists()
    # While there is no whole run, this one is shown.
    (notice,) = notices()
    assert notice.endswith("the run was narrowed by --exclude-group '^none$', and there is no whole one.")
    assert audit(log, tmp_path / "w", *flags) == ExitCode.CLEAN
    assert index.exists() and metrics.exists() and notices() == []
    before = index.stat().st_ino, metrics.stat().st_ino
    capfd.readouterr()
    assert audit(log, tmp_path / "w", *flags, *narrow, "--until", "2026-01-01") == ExitCode.CLEAN
    assert report_line(capfd.readouterr().out) == f"{narrowed} --until 2026-01-01T00:00:00Z"
    assert (index.stat().st_ino, metrics.stat().st_ino) == before
    (notice,) = notices()
    assert notice.startswith("The newest run, of ") and notice.endswith("its findings are not shown here.")


@pytest.mark.drawn_together(8)
@pytest.mark.drawn(1)
@pytest.mark.parametrize("change", ["more records", "another warehouse at the same place", "deleted"])
def test_what_changes_the_report_makes_the_next_audit_write_it(
    change: str, log: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(log, tmp_path / "log")
    flags = ["--report", str(tmp_path / "r")]
    assert audit(tmp_path / "log", tmp_path / "w", *flags) == ExitCode.CLEAN
    match change:
        case "more records":
            segment(tmp_path / "log", batch(10, RECORDS) + batch(20, RECORDS[:1]), partition=3)
        case "another warehouse at the same place":
            shutil.rmtree(tmp_path / "w")
        case "deleted":
            shutil.rmtree(tmp_path / "r")
    capfd.readouterr()
    assert audit(tmp_path / "log", tmp_path / "w", *flags) == ExitCode.CLEAN
    assert report_line(capfd.readouterr().out) == str(tmp_path / "r" / "index.html")


def failed_report(warehouse: Path) -> dict[str, Any]:
    """The result of the run that keeps it, as programs read it."""
    row = max(rows(warehouse, "runs"), key=lambda row: row["run_id"])
    document = json.loads((warehouse / "_runs" / f"{row['run_id']}.json").read_text())
    assert {name: document[name] for name in ("job", "verdict", "exit_code")} == {
        name: row[name] for name in ("job", "verdict", "exit_code")
    }
    return dict(document)


def test_a_report_that_cannot_be_written_is_a_finding_until_one_was(
    log: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    result, metrics = tmp_path / "result.json", tmp_path / "x.prom"
    flags = ("--report", str(tmp_path / "file" / "r"), "--result-file", str(result), "--prometheus", str(metrics))
    why = f"--report {tmp_path}/file/r: Not a directory; give a folder that can be written to"
    assert audit(log, tmp_path / "w", *flags) == ExitCode.FINDINGS
    said = capfd.readouterr()
    assert said.err == f"groupscope: {why}\n"
    assert said.out.startswith("FINDINGS, exit code 20: 1 critical, ") and report_line(said.out) == "not written"
    assert f"\ncritical  report not written: {why}\n" in said.out
    document = json.loads(result.read_text())
    assert (document["exit_code"], document["verdict"], document["decoded"]) == (ExitCode.FINDINGS, "findings", 2)
    assert document["report_failed"] == failed_report(tmp_path / "w")["report_failed"] == [why]
    text = metrics.read_text()
    assert 'groupscope_run_exit_code{cluster="default"} 20\n' in text and 'kind="report_failed"' in text
    # Known to whoever is alerted once for each.
    assert audit(log, tmp_path / "w", *flags, "--fail-on", "critical-new") == ExitCode.CLEAN
    assert capfd.readouterr().out.startswith("FINDINGS, exit code 0 because none is new: 1 critical, ")
    assert audit(log, tmp_path / "w", *flags, "--fail-on", "never") == ExitCode.CLEAN
    assert capfd.readouterr().out.startswith("FINDINGS, exit code 0 because of --fail-on never, else 20: 1 critical, ")
    # The next one still says it, beside the report that it wrote.
    assert audit(log, tmp_path / "w", "--report", str(tmp_path / "r")) == ExitCode.FINDINGS
    said = capfd.readouterr()
    assert said.out.startswith("FINDINGS, exit code 20: 1 critical, ") and said.err == ""
    assert report_line(said.out) == str(tmp_path / "r" / "index.html")
    assert failed_report(tmp_path / "w")["exit_code"] == ExitCode.CLEAN
    times = {row["run_id"]: row["since_time"] for row in rows(tmp_path / "w", "findings")
             if row["kind"] == "report_failed"}  # fmt: skip
    assert len(times) == 6 and len(set(times.values())) == 1
    assert audit(log, tmp_path / "w", "--report", str(tmp_path / "r")) == ExitCode.CLEAN
    assert capfd.readouterr().out.startswith("CLEAN, exit code 0: 1 warning, 3 info ")
    assert cli.main(["doctor", "--warehouse", str(tmp_path / "w")]) == ExitCode.CLEAN


@pytest.mark.parametrize("flag", ["--prometheus", "--result-file"])
def test_a_file_that_cannot_be_written_keeps_nothing_else_from_being_written(
    flag: str, log: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    # The name under which it is written first is too long.
    file = tmp_path / ("x" * 240)
    metrics, result = tmp_path / "x.prom", tmp_path / "result.json"
    flags = {"--prometheus": str(metrics), "--result-file": str(result), flag: str(file)}
    words = [word for each in flags.items() for word in each]
    assert audit(log, tmp_path / "w", "--report", str(tmp_path / "r"), *words) == ExitCode.FINDINGS
    said, why = capfd.readouterr(), f"{flag} {file}: File name too long; give a file that can be written"
    assert said.err == f"groupscope: {why}\n"
    assert said.out.startswith("FINDINGS, exit code 20: 1 critical, ")
    assert f"\ncritical  report not written: {why}\n" in said.out
    assert report_line(said.out) == str(tmp_path / "r" / "index.html")
    assert failed_report(tmp_path / "w")["report_failed"] == [why]
    if flag == "--prometheus":
        document = json.loads(result.read_text())
        assert (document["exit_code"], document["verdict"], document["decoded"]) == (ExitCode.FINDINGS, "findings", 2)
    else:
        assert "groupscope_run_exit_code" in metrics.read_text()


def test_a_folder_with_the_report_of_another_cluster_is_refused_and_stays_as_it_is(
    log: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """By an audit before it reads anything, whether the cluster is named or is the only one of its warehouse."""
    folder = tmp_path / "r"
    flags = ("--report", str(folder))
    assert audit(log, tmp_path / "w", "--cluster", "east & co", *flags) == ExitCode.CLEAN
    assert audit(log, tmp_path / "other", "--report", str(tmp_path / "fine"), "--cluster", "west") == ExitCode.CLEAN
    before = (folder / "index.html").read_bytes(), len(rows(tmp_path / "other", "runs"))
    capfd.readouterr()
    report = ["report", "--warehouse", str(tmp_path / "other"), *flags]
    for run in (
        lambda: audit(log, tmp_path / "new", "--cluster", "west", *flags),
        lambda: audit(log, tmp_path / "other", *flags),
        lambda: cli.main(report),
        lambda: cli.main([*report, "--redact"]),
    ):
        assert run() == ExitCode.USAGE
        assert capfd.readouterr().err == (
            f"groupscope: --report {folder}: holds the report of cluster east & co; "
            "choose another folder for cluster west\n"
        )
    assert ((folder / "index.html").read_bytes(), len(rows(tmp_path / "other", "runs"))) == before
    assert audit(log, tmp_path / "w", *flags) == ExitCode.CLEAN


@pytest.mark.drawn_together(8)
def test_a_page_of_somebody_is_not_replaced(log: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "index.html").write_text("<h1>mine</h1>")
    assert audit(log, tmp_path / "w", "--report", str(tmp_path / "r")) == ExitCode.CLEAN
    capfd.readouterr()
    for run in (
        lambda: audit(log, tmp_path / "new", "--report", str(folder)),
        lambda: cli.main(["report", "--warehouse", str(tmp_path / "w"), "--report", str(folder)]),
    ):
        assert run() == ExitCode.USAGE
        line = "its index.html is not a report of groupscope; choose another folder"
        assert capfd.readouterr().err == f"groupscope: --report {folder}: {line}\n"
    assert (folder / "index.html").read_text() == "<h1>mine</h1>"


@pytest.mark.drawn_together(8)
def test_an_audit_that_has_read_no_record_is_not_called_clean(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """As one of a schedule that forgets the log: snapshots show that there are records."""
    sample = ROOT / "data" / "sample" / "snapshots.jsonl"
    config = ROOT / "conf" / "sample.toml"
    words = ["audit", "--snapshots", str(sample), "--config", str(config), "--cluster", "east"]
    assert cli.main([*words, "--warehouse", str(tmp_path / "w"), "--report", str(tmp_path / "r")]) == ExitCode.FINDINGS
    page = capfd.readouterr().out
    assert page.startswith("FINDINGS, exit code 20: 1 critical")
    assert "8 of 8 offsets partitions were never read" in page
    text = (tmp_path / "r" / "index.html").read_text()
    assert "Offsets partitions never read: 0, 1, 2, 3, 4, 5, 6, 7." in text


@pytest.mark.drawn_together(8)
def test_a_file_in_place_of_a_report_is_called_one_by_each_command_and_stays(
    log: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    assert audit(log, tmp_path / "w", "--report", str(tmp_path / "r")) == ExitCode.CLEAN
    capfd.readouterr()
    report = ["report", "--warehouse", str(tmp_path / "w"), "--report", str(file)]
    for run in (
        lambda: audit(log, tmp_path / "w", "--report", str(file)),
        lambda: cli.main(report),
        lambda: cli.main([*report, "--redact"]),
    ):
        assert run() == ExitCode.USAGE
        line = "is a file; give a folder that can be written to"
        assert capfd.readouterr().err == f"groupscope: --report {file}: {line}\n"
    assert file.read_text() == "mine"


@pytest.mark.drawn_together(8)
def test_a_warehouse_elsewhere_has_its_report_in_it_and_any_place_takes_one(
    log: Path, elsewhere: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert audit(log, f"{elsewhere}/w") == ExitCode.CLEAN
    assert report_line(capfd.readouterr().out) == f"{elsewhere}/w/_report/index.html"
    assert audit(log, f"{elsewhere}/w") == ExitCode.CLEAN
    assert report_line(capfd.readouterr().out) == f"{elsewhere}/w/_report/index.html (unchanged)"
    held = storage_at(f"{elsewhere}/w/_report", options_of(Settings()))
    assert document_of(read_whole(held, "index.html").decode())["about"]["verdict"] == "Clean"
    # Nothing of it is taken for a table or a leftover of a run.
    assert cli.main(["doctor", "--warehouse", f"{elsewhere}/w"]) == ExitCode.CLEAN
    assert cli.main(["report", "--warehouse", f"{elsewhere}/w", "--report", f"{elsewhere}/other"]) == ExitCode.CLEAN
    other = storage_at(f"{elsewhere}/other", options_of(Settings()))
    assert document_of(read_whole(other, "index.html").decode())["about"]["verdict"] == "Clean"
    assert audit(log, tmp_path / "w", "--report", f"{elsewhere}/third") == ExitCode.CLEAN
    third = storage_at(f"{elsewhere}/third", options_of(Settings()))
    assert [file.name for file in third.list()] == ["index.html"]
