"""What is there among the input and cannot be read: refused by name, or skipped with a finding until it is read. All on
copies of the sample, and as a user whom the modes of its files bind."""

import contextlib
import gzip
import os
import shutil
import socket
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from jobs.ingestion.task.plan import NO_END, readings
from jobs.sources.segment_source import find_segments
from schemas.words.exit_codes import ExitCode
from tests.runs.ingested import ROOT, history, ingest, rows, run_ingest
from tests.runs.refused import check_no_leftovers, refused, unchanged
from tests.runs.without_rights import Ended, run_without_rights

SAMPLE = ROOT / "data" / "sample"
UNREADABLE = ExitCode.UNREADABLE_INPUT
Capsys = pytest.CaptureFixture[str]
OR_SKIP = ', or go on without it: [ingest] unreadable = "skip"'
SKIPPED = '. It was skipped ([ingest] unreadable = "skip")'
UNPACK = "is packed; unpack it first"
FIRST, SECOND = f"{0:020}.log", f"{148:020}.log"
PARTITIONS = (0, 1, 2)
ABOUT = {"input_skipped", "history_hole"}


def copied(folder: Path) -> Path:
    for number in PARTITIONS:
        shutil.copytree(SAMPLE / f"__consumer_offsets-{number}", folder / f"__consumer_offsets-{number}")
    return folder


# What is made of a copy, and what is said of it: {0} is the copy.

Make = Callable[[Path], None]


def closed(*names: str) -> Make:
    return lambda copy: [(copy / name).chmod(0) for name in names] and None


def without_others(copy: Path) -> None:
    """Folders that are of no concern."""
    for name in ("lost+found", "orders-0", "payments-11.5f3a-delete"):
        (copy / name).mkdir(mode=0)


def with_a_folder_of_copies(copy: Path) -> None:
    (copy / "broker2").mkdir(mode=0)


RIGHTS: dict[str, tuple[Make, int, tuple[str, ...]]] = {
    "a folder": (
        closed("__consumer_offsets-1"),
        21,
        (f"{{0}}/__consumer_offsets-1: Permission denied; make it readable{OR_SKIP}",),
    ),
    "two folders": (
        closed("__consumer_offsets-2", "__consumer_offsets-1"),
        21,
        (f"{{0}}/__consumer_offsets-1: Permission denied; make it readable{OR_SKIP} (1 more like it)",),
    ),
    "a segment": (
        closed(f"__consumer_offsets-1/{SECOND}"),
        21,
        (f"{{0}}/__consumer_offsets-1/{SECOND}: Permission denied; give a readable segment file{OR_SKIP}",),
    ),
    "all": (closed("."), 21, ("segments:{0}: Permission denied; make it readable, or give another folder",)),
    "others": (without_others, 0, ()),
    "copies": (
        with_a_folder_of_copies,
        0,
        ("{0}/broker2: Permission denied: not looked into for folders of offsets partitions",),
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("unreadable")


@pytest.fixture(scope="module")
def ended(folder: Path) -> dict[str, Ended]:
    """By what was made unreadable; the last two are audits that skip it, and then find that they may read it."""
    commands = []
    for number, (name, (make, _, _)) in enumerate(RIGHTS.items()):
        (folder / name).mkdir()
        make(copied(folder / name / "c"))
        commands.append(
            ["ingest", "--warehouse", f"{folder / str(number)}", "--source", f"segments:{folder / name / 'c'}"]
        )
    copy = copied(folder / "skipped")
    middle = f"__consumer_offsets-2/{174:020}.log"
    closed("__consumer_offsets-1", middle)(copy)
    (folder / "own.toml").write_text('[ingest]\nunreadable = "skip"\n[gate]\nmax_source_age_hours = 0\n')
    audit = ["audit", "--warehouse", str(folder / "w"), "--report", str(folder / "r"), "--source", f"segments:{copy}",
             "--config", str(folder / "own.toml")]  # fmt: skip
    opened = [["chmod", str(copy / "__consumer_offsets-1"), "755"], ["chmod", str(copy / middle), "644"]]
    kept = ["copy", str(folder / "w"), str(folder / "then")]
    results = run_without_rights(folder, [*commands, audit, kept, *opened, audit])
    return dict(zip([*RIGHTS, "skipping", "reading"], results, strict=True))


@pytest.mark.parametrize("name", RIGHTS)
def test_what_may_not_be_opened_is_refused_by_name(folder: Path, ended: dict[str, Ended], name: str) -> None:
    _, code, lines = RIGHTS[name]
    copy = folder / name / "c"
    assert (ended[name].code, ended[name].lines) == (code, [f"groupscope: {line.format(copy)}" for line in lines])


def test_a_part_that_is_skipped_is_a_finding_until_a_run_reads_it(folder: Path, ended: dict[str, Ended]) -> None:
    copy, middle = folder / "skipped", f"__consumer_offsets-2/{174:020}.log"
    assert ended["skipping"].code == ExitCode.FINDINGS
    assert ended["skipping"].lines == [
        f"groupscope: {copy}/__consumer_offsets-1: Permission denied; make it readable{SKIPPED}",
        f"groupscope: {copy}/{middle}: Permission denied; give a readable segment file{SKIPPED}",
    ]
    assert ", 2 skipped" in ended["skipping"].out
    listed = sorted((row["kind"], row["severity"], row["subject"]) for row in rows(folder / "then", "findings"))
    assert [row for row in listed if row[0] in ABOUT] == [
        ("history_hole", "warning", "__consumer_offsets-2"),
        ("input_skipped", "critical", f"{copy}/__consumer_offsets-1"),
        ("input_skipped", "critical", f"{copy}/{middle}"),
    ]
    newest = max(row["run_id"] for row in rows(folder / "w", "findings"))
    assert not ABOUT & {row["kind"] for row in rows(folder / "w", "findings") if row["run_id"] == newest}


def test_nothing_is_known_of_what_was_skipped(folder: Path, ended: dict[str, Ended]) -> None:
    """A segment between others was not compacted away: until it is read, the log has a hole there."""
    then, now = (ranges_of(folder / name) for name in ("then", "w"))
    assert (then[0], then[2]) == (now[0], [(0, 173), (300, now[2][0][1])])
    assert (sorted(then), sorted(now)) == ([0, 2], [0, 1, 2])


def ranges_of(warehouse: Path) -> dict[int, list[tuple[int, int]]]:
    found: dict[int, list[tuple[int, int]]] = {}
    for row in sorted(rows(warehouse, "history_coverage"), key=lambda row: row["first_offset"]):
        found.setdefault(row["offsets_partition"], []).append((row["first_offset"], row["last_offset"]))
    return found


# What nobody can read, whoever runs it.


def pipe(copy: Path) -> str:
    os.mkfifo(copy / "__consumer_offsets-1" / f"{900:020}.log")
    return f"{copy}/__consumer_offsets-1/{900:020}.log: is a pipe or device; give a readable segment file{OR_SKIP}"


def circle(copy: Path) -> str:
    """Beside one that is harmless: each folder is read once."""
    (copy / "loop").symlink_to(copy)
    (copy / "__consumer_offsets-9").symlink_to("__consumer_offsets-9")
    return f"{copy}/__consumer_offsets-9: Too many levels of symbolic links; make it readable{OR_SKIP}"


def dangling_folder(copy: Path) -> str:
    (copy / "__consumer_offsets-9").symlink_to("gone")
    return f"{copy}/__consumer_offsets-9: No such file or directory; make it readable{OR_SKIP}"


def packed_segments(copy: Path) -> str:
    for name in (FIRST, SECOND):
        path = copy / "__consumer_offsets-1" / name
        path.with_name(f"{name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    return f"{copy}/__consumer_offsets-1/{FIRST}.gz: {UNPACK}{OR_SKIP} (1 more like it)"


def packed_folder(copy: Path) -> str:
    with tarfile.open(copy / "__consumer_offsets-1.tar.gz", "w:gz") as file:
        file.add(copy / "__consumer_offsets-1", "__consumer_offsets-1")
    shutil.rmtree(copy / "__consumer_offsets-1")
    return f"{copy}/__consumer_offsets-1.tar.gz: {UNPACK}{OR_SKIP}"


def packed_whole(copy: Path) -> str:
    packed = shutil.make_archive(str(copy), "zip", copy)
    shutil.rmtree(copy)
    copy.mkdir()
    shutil.move(packed, copy / "all.zip")
    expected = f"no segment files (….log) in it; {copy}/all.zip is packed: unpack it first"
    return f"segments:{copy}: {expected}"


@pytest.mark.parametrize("make", [pipe, circle, dangling_folder, packed_segments, packed_folder, packed_whole])
def test_what_nobody_can_read_is_refused_by_name(tmp_path: Path, capsys: Capsys, make: Callable[[Path], str]) -> None:
    ingest(tmp_path / "w", "--source", f"segments:{SAMPLE}/__consumer_offsets-0")
    copy = copied(tmp_path / "c")
    line = make(copy)
    with unchanged(tmp_path / "w"):
        assert refused(tmp_path / "w", capsys, UNREADABLE, "--source", f"segments:{copy}") == line


@pytest.mark.parametrize("name", ["copy.tar", "copy.log.gz", "copy.zip"])
def test_a_packed_source_is_refused(tmp_path: Path, capsys: Capsys, name: str) -> None:
    (tmp_path / name).write_bytes(b"packed")
    line = refused(tmp_path / "w", capsys, UNREADABLE, "--source", f"segments:{tmp_path / name}")
    assert line == f"segments:{tmp_path / name}: {UNPACK}"


def test_what_was_unpacked_beside_its_packed_form_is_read(tmp_path: Path) -> None:
    copy = copied(tmp_path / "c")
    path = copy / "__consumer_offsets-1" / FIRST
    path.with_name(f"{FIRST}.gz").write_bytes(gzip.compress(path.read_bytes()))
    (copy / "__consumer_offsets-2.tar").write_bytes(b"packed")
    (copy / "cruft.tar").write_bytes(b"packed")
    (copy / "loop").symlink_to(copy)
    ingest(tmp_path / "w", "--source", f"segments:{copy}")
    ingest(tmp_path / "whole", "--source", f"segments:{copied(tmp_path / 'd')}")
    assert history(tmp_path / "w") == history(tmp_path / "whole")


def test_an_interrupted_swap_is_read_in_place_of_its_segment(tmp_path: Path, capsys: Capsys) -> None:
    """As a broker that starts does it: it completes `.swap`, and deletes `.cleaned` and `.deleted`."""
    copy = copied(tmp_path / "c")
    folder = copy / "__consumer_offsets-1"
    shutil.copy(folder / FIRST, folder / f"{FIRST}.cleaned")
    shutil.copy(folder / FIRST, folder / f"{FIRST}.deleted")
    shutil.copy(folder / FIRST, folder / f"{FIRST}.swap")
    (folder / SECOND).rename(folder / f"{SECOND}.swap")
    capsys.readouterr()
    ingest(tmp_path / "w", "--source", f"segments:{copy}")
    why = "which is not there: the folder was copied while the cleaner replaced this segment"
    assert capsys.readouterr().err == f"groupscope: {folder}/{SECOND}.swap: read in place of {SECOND}, {why}\n"
    ingest(tmp_path / "whole", "--source", f"segments:{copied(tmp_path / 'd')}")
    assert history(tmp_path / "w") == history(tmp_path / "whole")
    read = {
        Path(row["source_file"]).name for row in rows(tmp_path / "w", "source_files") if row["offsets_partition"] == 1
    }
    assert read == {FIRST, f"{SECOND}.swap"}


def test_of_copies_with_different_ends_the_later_counts_and_is_said(tmp_path: Path, capsys: Capsys) -> None:
    for name in ("b1", "b2"):
        copied(tmp_path / "c" / name)
    early, late = (tmp_path / "c" / name / "__consumer_offsets-1" for name in ("b1", "b2"))
    (early / SECOND).unlink()
    capsys.readouterr()
    ingest(tmp_path / "w", "--source", f"segments:{tmp_path / 'c'}")
    ends = f"{early} ends at offset 147, {late} at 166"
    assert capsys.readouterr().err == f"groupscope: copies with different ends: {ends}: the later end counts\n"
    ingest(tmp_path / "whole", "--source", f"segments:{late.parent}")
    assert history(tmp_path / "w") == history(tmp_path / "whole")
    # Nothing is said where nothing has changed.
    ingest(tmp_path / "w", "--source", f"segments:{tmp_path / 'c'}")
    assert not capsys.readouterr().err.count("different ends")


@pytest.mark.spark
def test_a_file_of_an_archive_that_cannot_be_opened(tmp_path: Path, capsys: Capsys) -> None:
    """A socket, which not even root can open."""
    from tests.builders.logs.archives import archived, lines

    ingest(tmp_path / "of", "--source", f"segments:{SAMPLE}/__consumer_offsets-0")
    archive = tmp_path / "archive"
    archive.mkdir()
    records = archived(SAMPLE / "__consumer_offsets-0")
    (archive / "a.jsonl").write_text(lines(records))
    (tmp_path / "own.toml").write_text('[ingest]\nunreadable = "skip"\n')
    with socket.socket(socket.AF_UNIX) as taken, contextlib.chdir(archive):
        taken.bind("b.parquet")
    line = refused(tmp_path / "of", capsys, UNREADABLE, "--source", f"records:{archive}")
    assert line == f"{archive}/b.parquet: No such device or address; make it readable{OR_SKIP}"
    words = ("--source", f"records:{archive}", "--config", tmp_path / "own.toml")
    assert run_ingest(tmp_path / "w", *words) == ExitCode.CLEAN
    skipped = [row for row in rows(tmp_path / "w", "source_files") if row["skipped_reason"] is not None]
    assert [(row["source_file"], row["kind"]) for row in skipped] == [(f"{archive}/b.parquet", "records")]


@pytest.mark.parametrize(
    ("gone", "expected"),
    [
        (174, [(0, 173, False), (300, 419, False), (420, NO_END, True)]),
        (420, [(0, 173, False), (174, 299, False), (300, 419, False)]),
    ],
)
def test_a_segment_ends_where_the_next_begins_that_cannot_be_read(
    tmp_path: Path, gone: int, expected: list[tuple[int, int, bool]]
) -> None:
    """So it claims nothing of that one's offsets, and a torn batch at its end is damage."""
    path = copied(tmp_path / "c") / "__consumer_offsets-2" / f"{gone:020}.log"
    path.unlink()
    path.symlink_to("gone")
    found = find_segments(str(path.parent), None)
    changed, _ = readings(found.files, {}, found.unreadable)
    assert [(each.first, each.last, each.is_newest) for each in changed] == expected


# Folders under another number.


def misplaced(copy: Path, name: str = "__consumer_offsets-12") -> str:
    (copy / "__consumer_offsets-1").rename(copy / name)
    number = name.rpartition("-")[2]
    whose = "all of its 4 groups that were looked at, such as transactional, belong to partition 1 of 8"
    remedy = "name the folder __consumer_offsets-1 if it was copied under a wrong name"
    return f"{copy / name}: was read as offsets partition {number}, but {whose}; {remedy}"


def test_a_folder_under_another_number_is_refused_with_the_right_one(tmp_path: Path, capsys: Capsys) -> None:
    ingest(tmp_path / "w", "--source", f"segments:{SAMPLE}/__consumer_offsets-0")
    line = misplaced(shutil.copytree(SAMPLE, tmp_path / "c"))
    with unchanged(tmp_path / "w"):
        assert refused(tmp_path / "w", capsys, UNREADABLE, "--source", f"segments:{tmp_path / 'c'}") == line
    check_no_leftovers_of(tmp_path)


def check_no_leftovers_of(folder: Path) -> None:
    """The files of the refused run are gone after the next one."""
    ingest(folder / "w", "--source", f"segments:{SAMPLE}")
    check_no_leftovers(folder / "w")


def test_snapshots_of_this_run_or_an_earlier_one_show_it_of_a_single_folder(tmp_path: Path, capsys: Capsys) -> None:
    (tmp_path / "c").mkdir()
    shutil.copytree(SAMPLE / "__consumer_offsets-1", tmp_path / "c" / "__consumer_offsets-1")
    line = misplaced(tmp_path / "c", "__consumer_offsets-2")
    source, snapshots = f"segments:{tmp_path / 'c'}", str(SAMPLE / "snapshots.jsonl")
    assert refused(tmp_path / "w", capsys, UNREADABLE, "--source", source, "--snapshots", snapshots) == line
    ingest(tmp_path / "w", "--snapshots", snapshots)
    assert refused(tmp_path / "w", capsys, UNREADABLE, "--source", source) == line
    # Without any, four groups fit many numbers of partitions.
    ingest(tmp_path / "other", "--source", source)


def test_snapshots_that_list_only_some_partitions_show_nothing(tmp_path: Path) -> None:
    (tmp_path / "ends.txt").write_text("__consumer_offsets:0:5\n")
    ingest(tmp_path / "w", "--source", f"segments:{SAMPLE}/__consumer_offsets-1", "--snapshots", tmp_path / "ends.txt")


def test_a_number_given_by_hand_is_compared_too(tmp_path: Path, capsys: Capsys) -> None:
    path = tmp_path / "c" / "copy.log"
    path.parent.mkdir()
    shutil.copy(SAMPLE / "__consumer_offsets-1" / FIRST, path)
    words = ("--source", f"segments:{path}", "--snapshots", str(SAMPLE / "snapshots.jsonl"))
    line = refused(tmp_path / "w", capsys, UNREADABLE, *words, "--offsets-partition", "5")
    assert line.startswith(
        f"{path.parent}: was read as offsets partition 5 (--offsets-partition), but all of its 3 groups"
    )
    assert line.endswith(" belong to partition 1 of 8; give that number with --offsets-partition 1")
    ingest(tmp_path / "w", *words, "--offsets-partition", "1")


# Sources that give nothing.


@pytest.mark.parametrize(
    "content", [b"", bytes(4096), b"\0" * 11 + b"\x50" + b"\0" * 5], ids=["empty", "zeros", "torn"]
)
def test_a_source_that_gives_nothing_where_nothing_is_known(tmp_path: Path, capsys: Capsys, content: bytes) -> None:
    path = tmp_path / "c" / "__consumer_offsets-5" / FIRST
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    source = f"segments:{tmp_path / 'c'}"
    line = refused(tmp_path / "w", capsys, UNREADABLE, "--source", source)
    remedy = "give a log that has some: a whole copy, of a topic in use"
    found = f"{source}: there is no record of __consumer_offsets in 1 file"
    assert line == f"{found}, and nothing is known of cluster default; {remedy}"
    assert not list((tmp_path / "w").rglob("*.parquet"))
    # Beside full ones an empty partition is normal, and so is a run that finds nothing where something is known.
    ingest(tmp_path / "w", "--source", f"segments:{copied(tmp_path / 'c')}")
    assert ingest(tmp_path / "w", "--source", source)["num_files_read"] == 0
