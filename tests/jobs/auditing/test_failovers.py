"""An unclean leader election, as copies of an offsets partition show it: one is of the leader that failed, one of the
next one, which never got the last records of the first. All bytes are a real broker's, those of the sample. The next
leader's batches are later ones of the same log at other offsets, with another leader epoch: no checksum covers these
two fields, and brokers themselves write them anew."""

import json
import struct
from collections import Counter

import pytest

from jobs import cli
from tests.audited_sample import SAMPLE
from tests.kafka.records.cut_logs import batch_ends
from tests.oracles.decoding.decoder import decode_record
from tests.oracles.log.framing import read_log
from tests.runs.ingested import ROOT, ingest, rows

PARTITION = 4
GROUP = "classic-sticky"
# At this offset a third member's generation stands, and commits of its members follow it.
CUT, OLD_END = 83, 93
# Kafka's numbers of these records.
COMMIT, GENERATION = 1, 2
OFFSETS_TOPIC = "__consumer_offsets"
SAYS = ("failover_time", "old_leader_epoch", "new_leader_epoch", "num_records_lost", "num_commits_lost",
        "num_generations_lost", "groups", "evidence_first_offset", "evidence_last_offset", "failure_case")  # fmt: skip


def real_batches():
    raw = b"".join(file.read_bytes() for file in sorted((SAMPLE / f"{OFFSETS_TOPIC}-{PARTITION}").glob("*.log")))
    ends = batch_ends(raw)
    return [raw[begin:end] for begin, end in zip([0, *ends[:-1]], ends, strict=True)]


def first_of(batch):
    return struct.unpack_from(">q", batch)[0]


def last_of(batch):
    return first_of(batch) + struct.unpack_from(">i", batch, 23)[0]


BATCHES = real_batches()


def up_to(offset):
    return [batch for batch in BATCHES if last_of(batch) <= offset]


def continued(log, later, epoch=1):
    """A log that goes on with later batches of the real one, written by another leader."""
    result, at = list(log), last_of(log[-1]) + 1
    for batch in later:
        result.append(struct.pack(">q", at) + batch[8:12] + struct.pack(">i", epoch) + batch[16:])
        at += last_of(batch) - first_of(batch) + 1
    return result


def between(first, last):
    return [batch for batch in BATCHES if first <= first_of(batch) and last_of(batch) <= last]


OLD = up_to(OLD_END)
# The new leader begins with commits; or with the generation that its members joined anew, which is in the log only when
# its leader has assigned.
NEW, JOINED = continued(up_to(CUT - 1), between(94, 313)), continued(up_to(CUT - 1), between(124, 313))


def write(folder, log, more=b""):
    home = folder / f"{OFFSETS_TOPIC}-{PARTITION}"
    home.mkdir(parents=True)
    (home / f"{0:020}.log").write_bytes(b"".join(log) + more)
    return folder


def lost_of(*logs):
    """Read one record after the other: those of a lower epoch at or after the first offset of a higher one."""
    records = {(each.offset, each.leader_epoch): each for log in logs for each in read_log(b"".join(log)).records}
    return [
        (each, decode_record(each.key, each.value))
        for (offset, epoch), each in sorted(records.items())
        if any(other > epoch and at <= offset for at, other in records)
    ]


def audited(folder, *words):
    command = ["audit", "--warehouse", f"{folder}/w", "--report", f"{folder}/r", "--config", f"{ROOT}/conf/sample.toml"]
    return cli.main([*command, "--cluster", "sample", "--quiet", *map(str, words)])


def replayed(warehouse, *folders):
    for folder in folders:
        ingest(warehouse, "--source", f"segments:{folder}")
        assert cli.main(["replay", "--warehouse", str(warehouse), "--quiet"]) == 0


def answers(warehouse, statement, capfd):
    capfd.readouterr()
    assert cli.main(["sql", statement, "--warehouse", str(warehouse), "--format", "json"]) == 0
    return [json.loads(line) for line in capfd.readouterr().out.splitlines()]


def failovers(warehouse, capfd):
    return answers(warehouse, f"SELECT {', '.join(SAYS)} FROM v_failovers", capfd)


@pytest.fixture(scope="module")
def uneven(tmp_path_factory):
    """After an audit of both copies, and of two snapshots that name the leaders."""
    folder = tmp_path_factory.mktemp("uneven")
    write(folder / "log" / "a", OLD)
    write(folder / "log" / "b", JOINED)
    times = {epoch: max(each.timestamp for each in read_log(b"".join(JOINED)).records if each.leader_epoch == epoch)
             for epoch in (0, 1)}  # fmt: skip
    lines = [snapshot(times[0] + 1, 0, leader=5), snapshot(times[1] + 1, 1, leader=6)]
    (folder / "snapshots.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    words = ["--source", f"segments:{folder / 'log'}", "--snapshots", folder / "snapshots.jsonl"]
    return folder, audited(folder, *words)


def snapshot(at, epoch, leader):
    partitions = [{"partition": each, "leader_epoch": epoch} for each in range(8)]
    return {"captured_at": at, "topics": [{"topic": OFFSETS_TOPIC, "partitions": partitions}],
            "offsets_partitions": [{"partition": PARTITION, "leader": leader}]}  # fmt: skip


def test_what_the_next_leader_never_got_is_critical(uneven, capfd):
    folder, code = uneven
    lost = lost_of(OLD, JOINED)
    types = Counter(record["record_type"] for _, record in lost)
    assert types == {COMMIT: 10, GENERATION: 1}
    assert code == 20
    (found,) = [row for row in rows(folder / "w", "findings") if row["kind"] == "failover_lost_records"]
    assert (found["severity"], found["subject"], found["message"]) == (
        "critical",
        f"{OFFSETS_TOPIC}-{PARTITION}",
        f"offsets partition {PARTITION}: leader epoch 1 began without {len(lost)} records that the coordinator before "
        f"had written of group {GROUP}: {types[COMMIT]} commits, 1 generation",
    )
    places = [each.offset for each, _ in lost]
    assert (found["evidence_partition"], found["evidence_first_offset"], found["evidence_last_offset"]) == (
        PARTITION, min(places), max(places),
    )  # fmt: skip
    (listed,) = answers(folder / "w", found["query"], capfd)
    assert listed["message"] == found["message"]


def test_the_view_says_who_led_and_how_long_nothing_was_written(uneven, capfd):
    folder, _ = uneven
    (row,) = answers(folder / "w", "SELECT * FROM v_failovers", capfd)
    assert (row["old_coordinator"], row["new_coordinator"], row["failure_case"]) == (5, 6, "after_sync")
    assert (row["num_groups"], row["groups"]) == (1, [GROUP])
    times = [each.timestamp for each in read_log(b"".join(JOINED)).records]
    gap = times[CUT] - times[CUT - 1]
    assert (row["gap_ms"], row["is_gap_exact"]) == (gap - gap % 1000, True)


def test_the_failover_stands_before_the_rebalance_that_it_set_off(uneven, capfd):
    """The new coordinator's first record is the generation, of which the join phase ended before."""
    folder, _ = uneven
    capfd.readouterr()
    assert cli.main(["rebalances", GROUP, "--warehouse", str(folder / "w"), "--format", "json"]) == 0
    events = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    kinds = [each["kind"] for each in events]
    place = kinds.index("coordinator_failover")
    failover, rebalance = events[place : place + 2]
    assert rebalance["kind"] == "rebalance" and rebalance["time"] < failover["time"]
    assert failover["detail"].endswith("; 10 commits and 1 generation lost")
    assert rebalance["evidence_last_offset"] == failover["evidence_first_offset"] == CUT


def test_copies_in_any_order_give_one_answer(tmp_path, capfd):
    old, new = write(tmp_path / "old", OLD), write(tmp_path / "new", NEW)
    replayed(tmp_path / "w", old, new)
    result = failovers(tmp_path / "w", capfd)
    assert [row["num_records_lost"] for row in result] == [len(lost_of(OLD, NEW))]
    replayed(tmp_path / "turned", new, old)
    assert failovers(tmp_path / "turned", capfd) == result
    assert cli.main(["replay", "--full", "--warehouse", str(tmp_path / "w"), "--quiet"]) == 0
    assert failovers(tmp_path / "w", capfd) == result


QUIET = {
    "a clean failover": (up_to(CUT - 1), NEW),
    "two equal copies": (NEW, NEW),
    "a copy that ends within a batch": ([*up_to(CUT - 1), OLD[-1][:40]], NEW),
    "the new leader's copy is compacted": (up_to(CUT - 1), [batch for batch in NEW if first_of(batch) % 3]),
    "the old leader's copy is compacted": ([batch for batch in up_to(CUT - 1) if first_of(batch) % 3], NEW),
    "no failover": (OLD, up_to(200)),
}


@pytest.mark.parametrize("name", QUIET)
def test_nothing_is_lost_where_the_next_leader_went_on(tmp_path, capfd, name):
    for number, log in enumerate(QUIET[name]):
        write(tmp_path / "log" / str(number), log)
    replayed(tmp_path / "w", tmp_path / "log")
    assert [row["num_records_lost"] for row in failovers(tmp_path / "w", capfd)] == [0] * (name != "no failover")
