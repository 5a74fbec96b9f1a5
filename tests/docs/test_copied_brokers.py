"""The commands that copy the offsets partitions of several brokers, as the page has them, on log dirs as brokers have
them: one partition on two brokers, files of the cleaner, other topics, and a segment that is still being written."""

import re
import shutil
from pathlib import Path

import pytest

from tests.distribution import program
from tests.docs.pages import ROOT, blocks
from tests.docs.workplace import SERVED, typed_in_a_shell
from tests.runs.ingested import history, ingest

SAMPLE = ROOT / "data" / "sample"
# Of a cluster with more brokers than replicas: none has all.
PARTITIONS = {"broker-1": (1, 2), "broker-2": (2, 5), "broker-3": (5, 4), "broker-4": (4, 1)}
BESIDE = ("00000000000000000000.index", "00000000000000000000.timeindex", "00000000000000000000.log.cleaned",
          "00000000000000000000.log.swap", "00000000000000000007.log.deleted", "leader-epoch-checkpoint")  # fmt: skip
OTHERS = ("orders-0/00000000000000000000.log", "lost+found/file", "recovery-point-offset-checkpoint")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for broker, partitions in PARTITIONS.items():
        log_dir = tmp_path / "brokers" / broker
        for number in partitions:
            copied = log_dir / f"__consumer_offsets-{number}"
            shutil.copytree(SAMPLE / copied.name, copied)
            for name in BESIDE:
                (copied / name).write_bytes(b"not read")
            (copied / "partition.metadata").write_text("version: 0\ntopic_id: Zc9SPBJbQyWQ7zQ1t0mWqw\n")
        (log_dir / "meta.properties").write_text("cluster.id=x\n")
        for name in OTHERS:
            (log_dir / name).parent.mkdir(exist_ok=True)
            (log_dir / name).write_bytes(b"not read")
    return tmp_path


def newest_segment(folder: Path, broker: str, partition: int) -> Path:
    return sorted((folder / "brokers" / broker / f"__consumer_offsets-{partition}").glob("*.log"))[-1]


def commands() -> str:
    """Without the network, and without the steps after the ingest."""
    (text,) = (each.text for each in blocks(ROOT / "docs" / "inputs.md") if "rsync" in each.text)
    assert text.count("$broker:/var/kafka-logs/") == text.count("groupscope audit ") == text.count(SERVED) == 1
    there = text.replace("$broker:/var/kafka-logs/", "brokers/$broker/").replace(SERVED, "w")
    return f"set -e\n{there.replace('groupscope audit ', 'groupscope_of_tree ingest ')}"


def test_what_brokers_have_is_copied_and_merged_while_they_write(folder: Path) -> None:
    program("rsync")
    whole = newest_segment(folder, "broker-2", 5).read_bytes()
    # In the middle of a batch; the other replica is behind by more.
    newest_segment(folder, "broker-2", 5).write_bytes(whole[:-100])
    newest_segment(folder, "broker-3", 5).write_bytes(whole[: len(whole) // 3])
    done = typed_in_a_shell(commands(), folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "4"
    names = {path.name for path in folder.glob("copies/**/*") if path.is_file()}
    assert {re.sub(r"^\d{20}", "N", name) for name in names} == {"N.log", "partition.metadata", "meta.properties"}
    assert not {"orders-0", "lost+found"} & {path.name for path in folder.glob("copies/*/*")}
    newest_segment(folder, "broker-2", 5).write_bytes(whole)
    assert typed_in_a_shell(commands(), folder).returncode == 0
    for number in {number for some in PARTITIONS.values() for number in some}:
        shutil.copytree(SAMPLE / f"__consumer_offsets-{number}", folder / "direct" / f"__consumer_offsets-{number}")
    ingest(folder / "once", "--source", f"segments:{folder / 'direct'}")
    assert history(folder / "w") == history(folder / "once")
