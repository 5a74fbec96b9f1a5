"""A redacted copy of a warehouse: no name and no raw byte of the original is in it, and all that reads it works."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from jobs import cli
from jobs.warehouses.any_warehouse import reading
from schemas.tables import TABLES, USER_TABLES
from schemas.words.records import INTERNAL_TOPICS
from tests.audited_sample import SAMPLE
from tests.builders.gate import validations
from tests.builders.storages.kinds import copied_to, elsewhere
from tests.builders.warehouses.hostile_names import NAMES
from tests.builders.warehouses.hostile_report import hostile_warehouse

__all__ = ["elsewhere"]

KEY = b"0123456789abcdef"
HASH = re.compile(r"id-[0-9a-f]{14}")
# Where more than eight bytes could be.
DIGITS = re.compile(r"[0-9a-f]{18}")
# Columns of ids, hosts and metadata, also those inside of lists; written down here, not taken from the code.
NAMED = re.compile(
    r"(^|\.)(cluster|group_id|groups|member_id|\w+_member_id|client_id|client_host|host|group_instance_id|leader"
    r"|leader_before|leader_after|topic|topic_id|topic_name|topics|subscribed_topic\w*|source_topics|\w+_sink_topics"
    r"|\w*regex\w*|regular_expression|process_id|rack|rack_id|racks|source_file|metadata|members_joined"
    r"|members_departed|override_reason)$"
)
# Groups, topics and members of the sample whose names are words of ours too.
ALSO_WORDS = {"again", "converted", "expired", "inventory", "lines", "one", "transactional", "two"}


def copy(warehouse: object, target: object, key: Path | None = None) -> int:
    flags = [] if key is None else ["--redact-key", str(key)]
    return cli.main(["report", "--warehouse", str(warehouse), "--redact", "--copy-to", str(target), *flags])


def cells(warehouse: object) -> Iterator[tuple[str, str, str | bytes]]:
    """Table, path and value of every text and every binary, nested ones too."""
    result = reading(str(warehouse))
    for table in USER_TABLES:
        rows = result.rows(table)
        for name in () if rows is None else rows.column_names:
            for value in rows.column(name).to_pylist():
                yield from ((table, path, leaf) for path, leaf in leaves(name, value))


def leaves(path: str, value: Any) -> Iterator[tuple[str, str | bytes]]:
    match value:
        case str() | bytes():
            yield path, value
        case list() | tuple():
            for each in value:
                yield from leaves(path, each)
        case dict():
            for name, each in value.items():
                yield from leaves(f"{path}.{name}", each)


@pytest.fixture(scope="module")
def copied(audited_sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("copies")
    (folder / "key").write_bytes(KEY)
    assert copy(audited_sample, folder / "w", folder / "key") == 0
    return folder / "w"


def test_no_id_host_metadata_or_raw_byte_of_the_original_is_in_any_cell(audited_sample: Path, copied: Path) -> None:
    original = list(cells(audited_sample))
    names = {value for _, path, value in original if NAMED.search(path) and isinstance(value, str) and value}
    names |= {name.removeprefix("/") for name in names}
    raw = {value for *_, value in original if isinstance(value, bytes) and len(value) > 3}
    assert len(names) > 200 and len(raw) > 50
    words = {word for name in names for word in re.findall(r"\w+", name)}
    patterns = {name: re.compile(rf"(?<!\w){re.escape(name)}(?!\w)") for name in names}
    digits = {each.hex() for each in raw if len(each) > 8}
    leaked: set[str] = set()
    for table, path, value in set(cells(copied)):
        assert isinstance(value, str), f"{table}.{path} has bytes"
        if NAMED.search(path) and value and value not in INTERNAL_TOPICS:
            assert HASH.fullmatch(value), (table, path, value)
        elif words.intersection(re.findall(r"\w+", value)):
            leaked |= {name for name, pattern in patterns.items() if pattern.search(value)}
        assert not DIGITS.search(value) or not any(each in value for each in digits), (table, path)
    assert leaked <= ALSO_WORDS | {*INTERNAL_TOPICS}
    stored = b"".join(file.read_bytes() for file in copied.rglob("*") if file.suffix in {".json", ".parquet"})
    # Comments of tables name one of them.
    names -= ALSO_WORDS | {*INTERNAL_TOPICS}
    assert not {name for name in names if len(name) > 7 and name.encode() in stored}


@pytest.mark.drawn_together(6)
def test_equal_names_stay_equal_in_all_tables_and_different_ones_different(audited_sample: Path, copied: Path) -> None:
    for table in USER_TABLES:
        before, after = reading(str(audited_sample)).rows(table), reading(str(copied)).rows(table)
        assert (before is None) == (after is None), table
        assert before is None or before.num_rows == after.num_rows, table
    statement = """
        SELECT count(*), count(DISTINCT group_id), count(DISTINCT member_id), sum(committed) FROM (
            SELECT o.group_id, o.member_id, count(h.committed_offset) AS committed FROM ownership_intervals o
            LEFT JOIN offset_history h ON h.group_id = o.group_id AND h.topic = o.topic AND h.partition = o.partition
            GROUP BY ALL)"""
    answers = []
    for warehouse in (audited_sample, copied):
        with duckdb.connect() as connection:
            for table in ("ownership_intervals", "offset_history"):
                files = reading(str(warehouse)).open(table).file_uris()
                connection.read_parquet(files).create_view(table)
            answers.append(connection.execute(statement).fetchall())
    assert answers[0] == answers[1] and answers[0][0][3] > 100


@pytest.mark.drawn_together(6)
def test_topics_of_kafka_itself_are_no_topics_that_nobody_reads(
    audited_sample: Path, copied: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    answers = []
    for warehouse in (audited_sample, copied):
        words = ["sql", "SELECT count(*) AS num FROM v_partition_coverage", "--format", "csv"]
        assert cli.main([*words, "--warehouse", str(warehouse)]) == 0
        answers.append(capfd.readouterr().out)
    assert answers[0] == answers[1]


@pytest.mark.drawn_together(6)
def test_all_that_reads_a_warehouse_reads_the_copy(
    copied: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def said(*words: str) -> str:
        assert cli.main([*words, "--warehouse", str(copied)]) == 0, words
        return capfd.readouterr().out

    assert "broken" not in said("doctor", "--format", "csv") and "warn" not in said("doctor", "--format", "csv")
    statement = "SELECT group_id, start_time FROM rebalances WHERE trigger = 'member_left' ORDER BY ALL LIMIT 1"
    row = json.loads(said("sql", statement, "--format", "json").splitlines()[0])
    assert HASH.fullmatch(row["group_id"])
    why = said("why", row["group_id"], "--at", str(row["start_time"]))
    assert row["group_id"] in why and "left" in why
    assert row["group_id"] in said("groups")
    said("report", "--report", str(tmp_path / "r"))
    assert row["group_id"] in (tmp_path / "r" / "index.html").read_text()
    # What is behind a finding is still found by its own statement.
    for line in said("sql", "SELECT query FROM findings", "--format", "json").splitlines():
        assert said("sql", json.loads(line)["query"], "--format", "json").strip()


@pytest.mark.drawn_together(6)
def test_nothing_changes_a_copy(copied: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "result").write_text(json.dumps(validations.results()["passed"]))
    spans = ["gate", "--group", "g", "--span", "t:0:0:1", "--result", str(tmp_path / "result")]
    for words in (["audit", "--source", f"segments:{SAMPLE}"], ["replay"], spans):
        assert cli.main([*words, "--warehouse", str(copied)]) == 23
        line = f"groupscope: {copied}: is a redacted copy, which nothing may change; give the warehouse that it was"
        assert capfd.readouterr().err.splitlines()[-1].startswith(line), words


@pytest.mark.drawn_together(6)
def test_one_key_gives_equal_copies_and_another_one_others(copied: Path, audited_sample: Path, tmp_path: Path) -> None:
    assert copy(audited_sample, tmp_path / "same", copied.with_name("key")) == 0
    assert copy(audited_sample, tmp_path / "other") == 0
    groups = [
        set(reading(str(each)).rows("group_state_intervals").column("group_id").to_pylist())
        for each in (copied, tmp_path / "same", tmp_path / "other")
    ]
    assert groups[0] == groups[1] and not groups[0] & groups[2]


@pytest.mark.drawn_together(6)
def test_hostile_names_are_in_no_copy(tmp_path: Path) -> None:
    hostile_warehouse(tmp_path / "w", NAMES)
    assert copy(tmp_path / "w", tmp_path / "copy") == 0
    texts = {value for *_, value in cells(tmp_path / "copy")}
    assert {name for name in NAMES if len(name) > 3 and any(name in str(text) for text in texts)} == set()


@pytest.mark.drawn_together(6)
def test_a_folder_that_holds_anything_is_left_alone(
    audited_sample: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "photo").write_bytes(b"cat")
    assert copy(audited_sample, tmp_path) == 23
    (line,) = capfd.readouterr().err.splitlines()
    assert line == f"groupscope: {tmp_path}: already holds photo; give a new or empty folder for the copy"
    assert [file.name for file in tmp_path.iterdir()] == ["photo"]


@pytest.mark.drawn_together(6)
def test_a_copy_that_was_interrupted_is_no_warehouse(
    copied: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The marker is written last."""
    shutil.copytree(copied, tmp_path / "copy")
    (tmp_path / "copy" / "_warehouse.json").unlink()
    assert cli.main(["groups", "--warehouse", str(tmp_path / "copy")]) == 23
    assert "no _warehouse.json in it" in capfd.readouterr().err


@pytest.mark.drawn_together(6)
def test_a_copy_on_another_storage_has_the_same_rows(
    copied: Path, audited_sample: Path, elsewhere: str, tmp_path: Path
) -> None:
    source = copied_to(audited_sample, f"{elsewhere}/source")
    assert copy(source, f"{elsewhere}/copy", copied.with_name("key")) == 0
    here, there = reading(str(copied)), reading(f"{elsewhere}/copy")
    for table in TABLES:
        first, second = here.rows(table), there.rows(table)
        assert (first is None) == (second is None) and (first is None or first.equals(second)), table
    assert cli.main(["doctor", "--warehouse", f"{elsewhere}/copy"]) == 0
    assert cli.main(["replay", "--warehouse", f"{elsewhere}/copy"]) == 23
