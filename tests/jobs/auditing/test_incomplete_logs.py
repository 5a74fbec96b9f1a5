"""Copies of the sample that lack something: whole offsets partitions, or the end of one. What is not there is said by
the run, and by each answer about a group whose records it may hold."""

import json
import os
import shutil
from pathlib import Path

import pytest

from jobs import cli
from tests.audited_sample import SAMPLE, audited_sample
from tests.oracles.pages.documents import document_of, said
from tests.runs.ingested import ROOT, rows

__all__ = ["audited_sample"]

# Of the sample's groups some are in each partition; ledger is in 7, as Kafka's coordinator had it.
MISSING = (3, 7)
SNAPSHOTS = ("--snapshots", f"{SAMPLE}/snapshots.jsonl")


def audit(log, folder, *words):
    command = ["audit", "--source", f"segments:{log}", "--cluster", "sample", "--warehouse", f"{folder}/w", *words]
    command += ["--config", f"{ROOT}/conf/sample.toml", "--report", f"{folder}/r", "--fail-on", "never", "--quiet"]
    assert cli.main([*command, "--result-file", f"{folder}/result.json"]) == 0
    return json.loads(Path(folder, "result.json").read_text())


def copied(folder, missing=()):
    return shutil.copytree(SAMPLE, folder / "log", ignore=lambda *_: {f"__consumer_offsets-{each}" for each in missing})


def findings(folder, *kinds):
    return [row for row in rows(folder / "w", "findings") if row["kind"] in kinds]


@pytest.fixture(scope="module")
def in_part(tmp_path_factory):
    folder = tmp_path_factory.mktemp("in_part")
    return folder, audit(copied(folder, MISSING), folder)


def test_the_groups_that_were_read_show_which_partitions_are_missing(in_part):
    folder, result = in_part
    coverage = result["coverage"]
    names = ("num_partitions", "partitions_source", "num_partitions_read", "never_read")
    assert [coverage[name] for name in names] == [8, "groups", 6, [3, 7]]
    assert [each["reading"] for each in coverage["partitions"]] == [
        "never_read" if number in MISSING else "read" for number in range(8)
    ]
    (found,) = findings(folder, "partitions_never_read", "log_ends_early")
    assert (found["severity"], found["message"]) == (
        "warning", "2 of 8 offsets partitions were never read, such as 3 (the worst of 2 like it)",
    )  # fmt: skip
    page = (folder / "r" / "index.html").read_text()
    assert "Offsets partitions never read: 3, 7. Nothing is known of the groups in them." in page
    (coverage,) = [tile for tile in document_of(page)["tiles"] if tile["name"] == "coverage"]
    assert said(coverage["value"]) == "6 of 8"


@pytest.mark.parametrize("words", [
    "describe ledger", "why ledger", "offsets ledger --at now", "rebalances ledger", "status ledger", "whatif ledger",
    "owner payments 0 --at now --group ledger",
])  # fmt: skip
def test_a_group_in_a_partition_that_nobody_read_is_not_called_unknown(in_part, words, capfd):
    assert cli.main([*words.split(), "--warehouse", f"{in_part[0]}/w"]) == 2
    said = "group ledger: its records would be in __consumer_offsets-7, which was never read, so it may exist"
    assert (
        capfd.readouterr().err == f"groupscope: {said}; the warehouse has 6 of 8 offsets partitions; never read: 3, 7\n"
    )


def test_a_name_that_belongs_to_a_partition_that_was_read_is_wrong(in_part, capfd):
    # Java: "zz".hashCode() is 3904, a multiple of 8.
    assert cli.main(["describe", "zz", "--warehouse", f"{in_part[0]}/w"]) == 2
    assert "never read" not in capfd.readouterr().err


@pytest.mark.parametrize("words", ["groups", "owner payments 0 --at now"])
def test_lists_of_groups_say_what_they_lack(in_part, words, capfd):
    assert cli.main([*words.split(), "--warehouse", f"{in_part[0]}/w"]) == 0
    said = "6 of 8 offsets partitions; never read: 3, 7; groups in partitions that were not read are missing here"
    assert said in capfd.readouterr().err


def test_the_partition_of_a_group_and_the_state_of_the_cluster_say_so_too(in_part, capfd):
    place = ("--warehouse", f"{in_part[0]}/w")
    assert cli.main(["partition", "ledger", *place]) == cli.main(["status", *place]) == 0
    out = " ".join(capfd.readouterr().out.split())
    assert "__consumer_offsets-7, one of 8, as the groups that were read show" in out
    assert "never: no source had it; the warehouse has 6 of 8 offsets partitions; never read: 3, 7" in out
    assert "6 of 8 offsets partitions" in out
    assert "never read: partitions 3, 7, so their groups are missing here" in out


def test_a_snapshot_proves_that_records_are_missing(tmp_path):
    result = audit(copied(tmp_path, MISSING), tmp_path, *SNAPSHOTS)
    assert result["coverage"]["partitions_source"] == "snapshot"
    (found,) = findings(tmp_path, "partitions_never_read")
    ends = {each["partition"]: each["log_end_offset"] for each in newest_ends()}
    assert found["severity"] == "critical"
    assert f"such as 7: a snapshot shows offsets up to {ends[7] - 1}" in found["message"]


def newest_ends():
    topics = json.loads((SAMPLE / "snapshots.jsonl").read_text().splitlines()[-1])["topics"]
    return next(each["partitions"] for each in topics if each["topic"] == "__consumer_offsets")


def cut(log, partition, share):
    """The last segment of a copy that broke off."""
    segment = max((log / f"__consumer_offsets-{partition}").glob("*.log"))
    os.truncate(segment, int(segment.stat().st_size * share))


def test_the_groups_of_a_cut_partition_are_not_well_beyond_its_end(tmp_path, audited_sample):
    log = copied(tmp_path)
    cut(log, 7, 0.6)
    result = audit(log, tmp_path, *SNAPSHOTS)
    of_seven = result["coverage"]["partitions"][7]
    assert (of_seven["early_end"], of_seven["torn_tail_bytes"]) == ("torn_tail", 57)
    (found,) = findings(tmp_path, "log_ends_early", "partitions_never_read")
    assert found["message"].endswith("5 s before others, in the middle of a batch: 6 groups live there")
    whole, in_part = verdicts(audited_sample), verdicts(tmp_path / "w")
    assert whole.keys() == in_part.keys()
    changed = {key: in_part[key] for key in whole if in_part[key] != whole[key]}
    assert {*changed.values()} == {("UNKNOWN", "log_ended", 7)}
    # Ledger commits all of its running partitions each 2 s; what it leaves standing was seen before the end.
    assert {("ledger", 0), ("ledger", 1)} <= {(group, partition) for group, _, partition in changed}
    assert {("ledger", 2), ("ledger", 3)}.isdisjoint((group, partition) for group, _, partition in changed)


def verdicts(warehouse):
    return {
        (row["group_id"], row["topic"], row["partition"]): (row["own_verdict"], row["rule"], row["evidence_partition"])
        for row in rows(warehouse, "group_verdicts")
        if row["partition"] is not None
    }


def test_a_log_that_is_whole_lacks_nothing(audited_sample):
    ends = rows(audited_sample, "offsets_partitions")
    assert {(row["reading"], row["early_end"], row["num_partitions"]) for row in ends} == {("read", None, 8)}
    # By the snapshot and by the segments.
    for row, each in zip(ends, newest_ends(), strict=True):
        assert row["known_end_offset"] == each["log_end_offset"]
    assert findings(audited_sample.parent, "partitions_never_read", "log_ends_early") == []
