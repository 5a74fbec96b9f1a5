"""Snapshots of another Kafka cluster: refused with the ids of both sides, whichever of log and snapshots came first;
what got in before is named, with the command that removes it."""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from jobs import cli
from jobs.checks import snapshot_checks
from jobs.checks.check import Status, findings
from jobs.checks.table_checks import open_tables
from jobs.doctor import run_checks
from jobs.runs.result import iso
from jobs.sources.same_cluster import SameCluster
from jobs.storage.places.local_place import LocalPlace
from jobs.warehouses.open_warehouse import reading
from schemas.words.exit_codes import ExitCode
from tests.builders.generated.topics import written as written_record
from tests.builders.logs.by_hand import Event, write_log
from tests.jobs.runs.test_older_warehouse import aged
from tests.make.log import T0
from tests.runs.ingested import ingest, rows
from tests.runs.refused import refused, unchanged

OURS, THEIRS = "5L6g3nShT-eMCtK--X86sw", "MkU3OEVBNTcwNTJENDM2Qg"
OUR_OFFSETS, THEIR_OFFSETS = "AAAAAAAAAAAAAAAAAAAAAQ", "BBBBBBBBBBBBBBBBBBBBBQ"
TOPICS = {"orders": "CCCCCCCCCCCCCCCCCCCCCQ", "payments": "DDDDDDDDDDDDDDDDDDDDDQ"}
OTHER_TOPICS = {"orders": "EEEEEEEEEEEEEEEEEEEEEQ", "payments": "FFFFFFFFFFFFFFFFFFFFFQ"}
META = "#Tue Nov 24\nbroker.id=1\ncluster.id=5L6g3nShT-eMCtK--X86sw\nversion=1\n"
PARTITION = "version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ\n"
RENAMED = "give this Kafka cluster another name: --cluster NAME"


def snapshot(
    seconds: float, topics: Mapping[str, str] = TOPICS, cluster: str | None = None, offsets: str | None = None
) -> dict[str, Any]:
    listed = [{"topic": name, "topic_id": own_id, "partitions": [{"partition": 0, "log_end_offset": 99}]}
              for name, own_id in topics.items()]  # fmt: skip
    ids = {"cluster_id": cluster, "offsets_topic_id": offsets}
    return {"captured_at": T0 + round(seconds * 1000), "topics": listed, **ids}


def written(path: Path, *snapshots: dict[str, Any]) -> Path:
    path.write_text("".join(f"{json.dumps(each)}\n" for each in snapshots))
    return path


def commit(topic: str, topic_id: str, seconds: float) -> Event:
    key = {"group": "billing", "topic": topic, "partition": 0}
    at = T0 + round(seconds * 1000)
    value = {"offset": 7, "leader_epoch": -1, "metadata": "", "commit_timestamp": at, "topic_id": topic_id}
    return seconds, [written_record(1, key, value, 4)]


def log(folder: Path, *, has_ids: bool = True, seconds: float = 9, topics: Mapping[str, str] = TOPICS) -> str:
    """A broker's log dir with one offsets partition."""
    source = write_log(folder, {9: [commit(name, own_id, seconds) for name, own_id in topics.items()]})
    if has_ids:
        (folder / "meta.properties").write_text(META)
        (folder / "__consumer_offsets-9" / "partition.metadata").write_text(PARTITION)
    return source


def accepted(warehouse: Path, *arguments: str | Path) -> dict[str, Any]:
    """The result of an ingest that nothing refuses."""
    result = ingest(warehouse, *arguments)
    assert result["exit_code"] == ExitCode.CLEAN, result
    return result


def run_commands_in(line: str) -> None:
    """What the line says to type."""
    (commands,) = re.findall("`(groupscope maintain .*?)`", line)
    for each in commands.split(" && "):
        assert cli.main(shlex.split(each)[1:]) == ExitCode.CLEAN


def found(warehouse: Path) -> list[tuple[str, str]]:
    """What doctor finds about snapshots, with what mends it."""
    (check,) = snapshot_checks.CHECKS
    checked = findings(check, open_tables(reading(LocalPlace(warehouse))))
    return [(each.message, str(each.mend)) for each in checked if each.status is Status.BROKEN]


def mended(mend: str) -> None:
    for each in mend.partition("; ")[0].split(" && "):
        assert cli.main(shlex.split(each)[1:]) == ExitCode.CLEAN


def as_before(monkeypatch: pytest.MonkeyPatch, warehouse: Path, *arguments: str | Path) -> None:
    """By an earlier release, which did not look."""
    with monkeypatch.context() as patch:
        for name in ("check_ids", "check_commits"):
            patch.setattr(SameCluster, name, lambda *_: None)
        accepted(warehouse, *arguments)


BY_ID = {
    "cluster": ({"cluster": THEIRS, "offsets": OUR_OFFSETS}, {"cluster": OURS}, "the cluster id", THEIRS, OURS),
    "topic": ({"offsets": THEIR_OFFSETS}, {"offsets": OUR_OFFSETS}, "the id of topic __consumer_offsets",
              THEIR_OFFSETS, OUR_OFFSETS),
}  # fmt: skip


@pytest.mark.parametrize("kind", BY_ID)
def test_the_ids_of_a_log_dir_decide_whichever_came_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    foreign, right, words, theirs, ours = BY_ID[kind]
    wrong = written(tmp_path / "wrong.jsonl", snapshot(20, OTHER_TOPICS, **foreign))
    own = written(tmp_path / "own.jsonl", snapshot(20, **right))
    source, warehouse = log(tmp_path / "log"), tmp_path / "w"
    file = "meta.properties" if kind == "cluster" else "__consumer_offsets-9/partition.metadata"

    line = refused(tmp_path / "new", capsys, ExitCode.UNREADABLE_INPUT, "--source", source, "--snapshots", wrong)
    assert line == (
        f"{wrong}: {words} is {theirs}, but {tmp_path}/log/{file} has {ours}: snapshots of another Kafka cluster; "
        "give those of the cluster that the log is of"
    )

    # The log first: what it is stays known without it.
    accepted(warehouse, "--source", source)
    (read,) = rows(warehouse, "source_files")
    assert (read["cluster_id"], read["offsets_topic_id"]) == (OURS, OUR_OFFSETS)
    with unchanged(warehouse):
        line = refused(warehouse, capsys, ExitCode.UNREADABLE_INPUT, "--snapshots", wrong)
    assert line.startswith(f"{wrong}: {words} is {theirs}, but the log in the warehouse, cluster default, has {ours}: ")
    assert accepted(warehouse, "--snapshots", own)["rows_added"] == {"cluster_snapshots": 1, "topic_snapshots": 2}

    # Foreign ones first: the right log is not the one to rename.
    first = tmp_path / "first"
    accepted(first, "--snapshots", wrong)
    for arguments in (("--source", source), ("--source", source, "--snapshots", own)):
        line = refused(first, capsys, ExitCode.UNREADABLE_INPUT, *arguments)
        at = iso(T0 + 20_000)
        assert line.startswith(f"{tmp_path}/log/{file} has {words} {ours}, but 1 snapshot captured from {at} to {at} ")
        assert theirs in line and "--cluster" not in line
    run_commands_in(line)
    assert rows(first, "topic_snapshots") == rows(first, "cluster_snapshots") == []
    accepted(first, "--source", source, "--snapshots", own)
    assert found(first) == []
    with unchanged(first):
        refused(first, capsys, ExitCode.UNREADABLE_INPUT, "--snapshots", wrong)


@pytest.mark.parametrize("place", ["log", "log/__consumer_offsets-9", "", "log*"])
def test_the_ids_are_found_from_wherever_a_source_begins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], place: str
) -> None:
    log(tmp_path / "log")
    wrong = written(tmp_path / "wrong.jsonl", snapshot(20, cluster=THEIRS))
    words = ("--source", f"segments:{tmp_path / place}", "--snapshots", wrong)
    assert THEIRS in refused(tmp_path / "w", capsys, ExitCode.UNREADABLE_INPUT, *words)
    (tmp_path / "log" / "meta.properties").write_text(META.replace(OURS, THEIRS).replace("id=", "id\\: "))
    accepted(tmp_path / "w", *words)


def test_copies_may_have_the_log_dir_two_folders_above(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = log(tmp_path / "copies" / "broker-1", has_ids=False)
    (tmp_path / "copies" / "meta.properties").write_text(META)
    wrong = written(tmp_path / "wrong.jsonl", snapshot(20, cluster=THEIRS))
    assert OURS in refused(tmp_path / "w", capsys, ExitCode.UNREADABLE_INPUT, "--source", source, "--snapshots", wrong)


def test_logs_of_two_clusters_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = log(tmp_path / "logs" / "one"), log(tmp_path / "logs" / "other", topics=OTHER_TOPICS)
    (tmp_path / "logs" / "other" / "meta.properties").write_text(META.replace(OURS, THEIRS))
    line = refused(tmp_path / "w", capsys, ExitCode.UNREADABLE_INPUT, "--source", f"segments:{tmp_path / 'logs'}")
    assert OURS in line and THEIRS in line and line.endswith("logs of two Kafka clusters; give the log of one")
    accepted(tmp_path / "w", "--source", one)
    line = refused(tmp_path / "w", capsys, ExitCode.UNREADABLE_INPUT, "--source", other)
    assert OURS in line and THEIRS in line and line.endswith(RENAMED)


def test_snapshots_of_two_clusters_are_refused_with_both(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    warehouse = tmp_path / "w"
    one = written(tmp_path / "one.jsonl", snapshot(20, offsets=OUR_OFFSETS))
    other = written(tmp_path / "other.jsonl", snapshot(30, OTHER_TOPICS, offsets=THEIR_OFFSETS))
    line = refused(warehouse, capsys, ExitCode.UNREADABLE_INPUT, "--snapshots", one, "--snapshots", other)
    assert line == (
        f"{one}: the id of topic __consumer_offsets is {OUR_OFFSETS}, but {other} has {THEIR_OFFSETS}: snapshots of "
        "two Kafka clusters; give those of one, or each a name of its own: --cluster NAME"
    )
    # One after the other: nobody knows which of them is of this cluster, until commits name its topics.
    accepted(warehouse, "--snapshots", one)
    with unchanged(warehouse):
        line = refused(warehouse, capsys, ExitCode.UNREADABLE_INPUT, "--snapshots", other)
    command = f"groupscope maintain --drop-snapshots {iso(T0 + 20_000)}..{iso(T0 + 20_001)} --warehouse {warehouse}"
    assert f"if those are wrong, remove them with `{command}`" in line
    assert line.endswith(f"else {RENAMED}")
    assert accepted(warehouse, "--snapshots", other, "--cluster", "other")["rows_added"]["topic_snapshots"] == 2


@pytest.mark.parametrize(("topics", "is_ours"), [(TOPICS, True), (OTHER_TOPICS, False)])
def test_topics_that_commits_name_say_which_snapshots_are_of_the_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], topics: Mapping[str, str], is_ours: bool
) -> None:
    """Both are later than the last commit: their topics may have been made anew since."""
    warehouse, new = tmp_path / "w", OTHER_TOPICS if is_ours else TOPICS
    stored = written(tmp_path / "stored.jsonl", snapshot(20, topics, offsets=OUR_OFFSETS))
    source = log(tmp_path / "log", has_ids=False)
    accepted(warehouse, "--source", source, "--snapshots", stored)
    given = written(tmp_path / "given.jsonl", snapshot(30, new, offsets=THEIR_OFFSETS))
    line = refused(warehouse, capsys, ExitCode.UNREADABLE_INPUT, "--snapshots", given)
    assert ("and those are of the log there" in line, "maintain" in line) == (is_ours, not is_ours)
    if not is_ours:
        assert RENAMED not in line
        run_commands_in(line)
        accepted(warehouse, "--source", source, "--snapshots", given)


# Snapshots, each with a second and its topics; whether they are of another cluster than the log, whose commits are of
# second 9.
BY_TOPICS: dict[str, tuple[Sequence[dict[str, Any]], bool]] = {
    "two topics differ": ([snapshot(5, OTHER_TOPICS)], True),
    "at the last commit": ([snapshot(9, OTHER_TOPICS)], True),
    "later than the last commit": ([snapshot(9.001, OTHER_TOPICS)], False),
    "one topic differs": ([snapshot(5, {"orders": OTHER_TOPICS["orders"]})], False),
    "one differs, one is the same": ([snapshot(5, TOPICS | {"orders": OTHER_TOPICS["orders"]})], False),
    "one differs, one is only there": ([snapshot(5, {"orders": OTHER_TOPICS["orders"], "x": THEIRS})], False),
    "one of several snapshots": ([snapshot(4), snapshot(5, OTHER_TOPICS), snapshot(6)], True),
    "the other way round": ([snapshot(5, dict(zip(TOPICS, reversed(TOPICS.values()), strict=True)))], True),
    "the offsets topic counts by its own rule": (
        [snapshot(5, {"orders": OTHER_TOPICS["orders"], "__consumer_offsets": THEIR_OFFSETS})], False),
}  # fmt: skip


@pytest.mark.parametrize("case", BY_TOPICS)
def test_without_ids_of_the_log_the_topics_of_commits_decide(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], case: str
) -> None:
    snapshots, is_foreign = BY_TOPICS[case]
    source, path = log(tmp_path / "log", has_ids=False), written(tmp_path / "snapshots.jsonl", *snapshots)
    together, log_first, last = (tmp_path / name for name in ("together", "log_first", "last"))
    accepted(log_first, "--source", source)
    accepted(last, "--snapshots", path)
    runs = ((together, ("--source", source, "--snapshots", path)), (log_first, ("--snapshots", path)),
            (last, ("--source", source)))  # fmt: skip
    for warehouse, words in runs:
        if not is_foreign:
            accepted(warehouse, *words)
            assert found(warehouse) == []
            continue
        line = refused(warehouse, capsys, ExitCode.UNREADABLE_INPUT, *words)
        their_id = next(each["topic_id"] for each in snapshots[len(snapshots) // 2]["topics"])
        assert f"topic orders has id {their_id}, in commits {TOPICS['orders']}; topic payments has id " in line
        assert ("--drop-snapshots" in line) == (warehouse is last)
    if is_foreign:
        run_commands_in(line)
        accepted(last, "--source", source)
        assert len(rows(last, "cluster_snapshots")) == len(snapshots) - 1


def test_doctor_names_what_got_in_before_and_what_mends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    foreign = {"cluster": THEIRS, "offsets": THEIR_OFFSETS}
    of_ids = [snapshot(each, **(foreign if each in (20, 21) else {"cluster": OURS})) for each in (10, 20, 21, 30, 31)]
    of_topics = [snapshot(each, OTHER_TOPICS if each in (3, 4, 7) else TOPICS) for each in range(1, 9)]
    of_others = [snapshot(10, offsets=OUR_OFFSETS), snapshot(11, OTHER_TOPICS, offsets=THEIR_OFFSETS)]
    cases = (
        (of_ids, f"the cluster id is {THEIRS}, but the log has {OURS}", 3),
        (of_topics, f"topic orders has id {OTHER_TOPICS['orders']}, in commits {TOPICS['orders']}", 5),
        (of_others, f"is {THEIR_OFFSETS}, but {OUR_OFFSETS} in those whose topics commits name", 1),
    )
    for number, (snapshots, words, num_right) in enumerate(cases):
        folder = tmp_path / str(number)
        source = log(folder / "log", has_ids=snapshots is of_ids)
        path = written(folder / "s.jsonl", *snapshots)
        as_before(monkeypatch, folder / "w", "--source", source, "--snapshots", path)
        ((message, mend),) = found(folder / "w")
        assert words in message
        assert mend.endswith("; then run groupscope audit")
        mended(mend)
        assert found(folder / "w") == []
        assert len(rows(folder / "w", "cluster_snapshots")) == num_right


def test_a_warehouse_of_an_earlier_release_has_the_ids_in_other_places(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The topic's id in `topic_snapshots` alone, no id of the log; the next runs add the columns."""
    offsets = {"__consumer_offsets": OUR_OFFSETS}
    own = written(tmp_path / "own.jsonl", snapshot(20, TOPICS | offsets))
    source = log(tmp_path / "log")
    accepted(tmp_path / "now", "--source", source, "--snapshots", own)
    lacking = dict.fromkeys(("source_files", "cluster_snapshots"), ("cluster_id", "offsets_topic_id"))
    old = aged(tmp_path / "now", tmp_path / "old", lacking)
    assert found(old) == []
    wrong = written(tmp_path / "wrong.jsonl", snapshot(30, OTHER_TOPICS, offsets=THEIR_OFFSETS))
    with unchanged(old):
        line = refused(old, capsys, ExitCode.UNREADABLE_INPUT, "--snapshots", wrong)
    assert OUR_OFFSETS in line and THEIR_OFFSETS in line
    # A wrong log, though this warehouse knows no id of its own: its snapshots are right.
    wrong_log = log(tmp_path / "wrong", topics=OTHER_TOPICS)
    (tmp_path / "wrong" / "__consumer_offsets-9" / "partition.metadata").write_text(f"topic_id: {THEIR_OFFSETS}\n")
    line = refused(old, capsys, ExitCode.UNREADABLE_INPUT, "--source", wrong_log)
    assert OUR_OFFSETS in line and THEIR_OFFSETS in line and line.endswith(RENAMED) and "maintain" not in line
    assert sum(accepted(old, "--source", source, "--snapshots", own)["rows_added"].values()) == 0
    later = written(tmp_path / "later.jsonl", snapshot(40, cluster=OURS, offsets=OUR_OFFSETS))
    accepted(old, "--snapshots", later)
    ids = [(row["cluster_id"], row["offsets_topic_id"]) for row in rows(old, "cluster_snapshots")]
    assert sorted(ids, key=str) == [(OURS, OUR_OFFSETS), (None, None)]
    assert {each.status for each in run_checks(LocalPlace(old)) if each.check != "schema"} == {"ok"}
