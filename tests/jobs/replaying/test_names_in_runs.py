"""Topics that consumer groups name by id alone, through a warehouse: what one offsets partition shows names them in all
others, in however many runs it comes; what stays unnamed is said with every answer.
"""

import csv
from pathlib import Path
from typing import Any

import pytest

from jobs import cli
from tests.builders.logs.by_hand import IDS, Event, Log, commit, target, write_log, write_snapshot
from tests.runs.ingested import ingest, rows
from tests.runs.replayed_logs import HISTORY, STATES, assert_same, replay, row_texts

# Two names for two ids: only other groups show which is whose.
PAIR: Log = {3: [target("pair", 10, {"orders": 3, "payments": 2})]}
# Of another group, in another offsets partition: one name, one id.
ONE: Log = {5: [target("one", 30, {"orders": 3})]}
UNNAMED = "2 topic ids have no name; name them: groupscope ingest --snapshots FILE"


def run(warehouse: Path, *logs: str) -> Path:
    for source in logs:
        ingest(warehouse, "--source", source, "--cluster", "c")
        replay(warehouse)
    return warehouse


def owned(warehouse: Path) -> set[tuple[str, str | None, str, int]]:
    result = rows(warehouse, "ownership_intervals")
    return {(row["group_id"], row["topic"], row["topic_id"], row["partition"]) for row in result}


def expected(group: str, topics: dict[str, int], *, named: bool = True) -> set[tuple[str, str | None, str, int]]:
    return {
        (group, name if named else None, IDS[name], partition)
        for name, count in topics.items()
        for partition in range(count)
    }


@pytest.mark.parametrize("is_proof_first", [True, False])
def test_a_name_proved_in_one_offsets_partition_reaches_groups_of_others_over_runs(
    is_proof_first: bool, tmp_path: Path
) -> None:
    pair, one = write_log(tmp_path / "pair", PAIR), write_log(tmp_path / "one", ONE)
    warehouse = run(tmp_path / "w", *((one, pair) if is_proof_first else (pair, one)))
    assert owned(warehouse) == expected("pair", {"orders": 3, "payments": 2}) | expected("one", {"orders": 3})
    sources = {row["topic"]: row["source"] for row in rows(warehouse, "topics")}
    assert sources == {"orders": "single_subscription", "payments": "single_subscription"}
    whole = run(tmp_path / "whole", write_log(tmp_path / "both", {**PAIR, **ONE}))
    assert_same(row_texts(whole, (*HISTORY, *STATES)), row_texts(warehouse, (*HISTORY, *STATES)), "runs")


def committed(group: str, topics: dict[str, int], seconds: float) -> list[Event]:
    return [commit(group, topic, each, seconds + each) for topic, count in topics.items() for each in range(count)]


# Of all partitions that there are, in another offsets partition than the target: by another group of the same topics.
BOTH = {"orders": 3, "payments": 2}
COUNTED: Log = {**PAIR, 5: committed("other", BOTH, 20)}


def topic_sources(warehouse: Path) -> dict[str, tuple[str | None, str, str]]:
    return {row["topic"]: (row["topic_id"], row["source"], row["confidence"]) for row in rows(warehouse, "topics")}


def test_numbers_of_partitions_name_ids_that_nothing_else_names(tmp_path: Path) -> None:
    parts = (write_log(tmp_path / "3", PAIR), write_log(tmp_path / "5", {5: COUNTED[5]}))
    warehouse = run(tmp_path / "w", *parts)
    assert topic_sources(warehouse) == {name: (IDS[name], "partition_counts", "likely") for name in BOTH}
    assert owned(warehouse) == expected("pair", BOTH)
    whole = run(tmp_path / "whole", write_log(tmp_path / "both", COUNTED))
    assert_same(row_texts(whole, (*HISTORY, *STATES)), row_texts(warehouse, (*HISTORY, *STATES)), "runs")


def test_numbers_of_partitions_that_leave_no_single_pairing_name_nothing(tmp_path: Path) -> None:
    """Commits of all partitions that are older than the target, and later ones of too few."""
    commits = [*committed("other", BOTH, 1), *committed("other", {"orders": 2, "payments": 2}, 20)]
    warehouse = run(tmp_path / "w", write_log(tmp_path / "log", {**PAIR, 5: commits}))
    assert {each[:2] for each in topic_sources(warehouse).values()} == {(None, "commit")}
    assert owned(warehouse) == expected("pair", BOTH, named=False)


@pytest.fixture(scope="module")
def unnamed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unnamed")
    return run(folder / "w", write_log(folder / "log", PAIR))


def answer(warehouse: Path, capfd: pytest.CaptureFixture[str], *words: str) -> Any:
    capfd.readouterr()
    assert cli.main([words[0], "--warehouse", str(warehouse), *words[1:]]) == 0
    return capfd.readouterr()


@pytest.mark.parametrize("words", [("groups",), ("describe", "pair"), ("owner", "orders", "0")], ids=" ".join)
def test_every_answer_says_that_topics_have_no_name(
    words: tuple[str, ...], unnamed: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert owned(unnamed) == expected("pair", {"orders": 3, "payments": 2}, named=False)
    assert UNNAMED in answer(unnamed, capfd, *words).err


def test_the_run_page_says_it(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ("--source", write_log(tmp_path / "log", PAIR), "--cluster", "c", "--fail-on", "never")
    page = answer(tmp_path / "w", capfd, "audit", *words).out
    assert UNNAMED in next(line for line in page.splitlines() if line.startswith("Topics "))


def test_an_owner_that_may_be_left_out_is_named(unnamed: Path, capfd: pytest.CaptureFixture[str]) -> None:
    result = answer(unnamed, capfd, "owner", "orders", "1")
    assert "pair; they own partition 1 of a topic that is known only by id, which may be orders" in result.err
    assert "pair" not in result.out
    # No topic of theirs has as many.
    assert cli.main(["owner", "--warehouse", str(unnamed), "orders", "7"]) != 0


def test_a_snapshot_names_them_and_nothing_is_said_any_more(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    warehouse = run(tmp_path / "w", write_log(tmp_path / "log", PAIR))
    snapshot = write_snapshot(tmp_path / "s.json", 60, {"orders": 3, "payments": 2})
    ingest(warehouse, "--snapshots", snapshot, "--cluster", "c")
    replay(warehouse)
    assert owned(warehouse) == expected("pair", {"orders": 3, "payments": 2})
    result = answer(warehouse, capfd, "owner", "orders", "1")
    assert "without a name" not in result.err
    assert "no name" not in result.err
    assert "pair" in result.out


def test_describe_says_why_a_partition_is_listed_twice(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Commits name topics, assignments their ids."""
    log = {3: [*PAIR[3], commit("pair", "orders", 0, 20), commit("pair", "payments", 1, 21)]}
    warehouse = run(tmp_path / "w", write_log(tmp_path / "log", log))
    result = answer(warehouse, capfd, "describe", "pair", "--format", "csv")
    assert "topics without a name: a partition may have two rows" in result.err
    assert UNNAMED in result.err
    warehouse = run(tmp_path / "named", write_log(tmp_path / "both", {**log, **ONE}))
    result = answer(warehouse, capfd, "describe", "pair", "--format", "csv")
    assert result.err == ""
    shown = [tuple(row[name] for name in ("TOPIC", "PARTITION", "CURRENT-OFFSET", "CONSUMER-ID"))
             for row in csv.DictReader(result.out.splitlines())]  # fmt: skip
    assert sorted(shown) == [
        ("orders", "0", "7", "pair-1"), ("orders", "1", "", "pair-1"), ("orders", "2", "", "pair-1"),
        ("payments", "0", "", "pair-1"), ("payments", "1", "7", "pair-1"),
    ]  # fmt: skip
