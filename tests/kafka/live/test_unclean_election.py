"""Real brokers lose what a coordinator had written: the only follower of its partition is down, the leader goes on
alone and is killed, and the follower is elected as it is."""

import json

import pytest

from jobs import cli
from tests.kafka.live import three_nodes
from tests.kafka.live.three_nodes import REPLICATED, three_running
from tests.kafka.live_broker import copied_segments, play
from tests.kafka.releases import NEWEST
from tests.oracles.log.framing import read_log
from tests.runs.ingested import ingest

pytestmark = [pytest.mark.broker, pytest.mark.soak]

# The third node votes, and has no copy.
UNCLEAN = {
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "2",
    "default.replication.factor": "1",
    "unclean.leader.election.enable": "true",
    "replica.lag.time.max.ms": "3000",
}
LOG = "__consumer_offsets-0"


def records_of(folder):
    segments = sorted((folder / LOG).glob("*.log"))
    return read_log(b"".join(each.read_bytes() for each in segments)).records


def leader_of(node, snapshots):
    assert cli.main(["capture", "--source", f"kafka:{node.bootstrap}", "--into", str(snapshots)]) == 0
    return json.loads(snapshots.read_text().splitlines()[-1])["offsets_partitions"][0]["leader"]


def test_what_a_leader_wrote_alone_is_lost_with_it(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(three_nodes, "REPLICATED", REPLICATED | UNCLEAN)
    with three_running(NEWEST, tmp_path / "nodes") as nodes:
        play(nodes[0], tmp_path / "before", "Commits.byAdmin")
        snapshots = tmp_path / "snapshots.jsonl"
        number = leader_of(nodes[0], snapshots)
        leader = next(node for node in nodes if node.number == number)
        (follower,) = [node for node in nodes if node is not leader and (node.log_dir / LOG).is_dir()]
        follower.kill()
        play(leader, tmp_path / "alone", "Commits.byAdmin", "Commits.withMetadata")
        leader.kill()
        follower.start({})
        play(follower, tmp_path / "after", "Commits.byAdmin")
        assert leader_of(follower, snapshots) == follower.number
        follower.kill()
        copies = [copied_segments(node, tmp_path / "log" / str(node.number)) for node in (leader, follower)]
    ours, theirs = map(records_of, copies)
    begin = min(each.offset for each in theirs if each.leader_epoch == max(other.leader_epoch for other in theirs))
    lost = [each for each in ours if each.offset >= begin]
    assert lost
    ingest(tmp_path / "w", "--source", f"segments:{tmp_path / 'log'}", "--snapshots", snapshots)
    assert cli.main(["replay", "--warehouse", str(tmp_path / "w"), "--quiet"]) == 0
    capfd.readouterr()
    columns = "num_records_lost, num_commits_lost, evidence_first_offset, old_coordinator, new_coordinator"
    statement = f"SELECT {columns} FROM v_failovers WHERE num_records_lost > 0"
    assert cli.main(["sql", statement, "--warehouse", str(tmp_path / "w"), "--format", "json"]) == 0
    (found,) = map(json.loads, capfd.readouterr().out.splitlines())
    # Keys of commits begin with the number 1; an empty group has a value of its own.
    commits = [each for each in lost if each.key[:2] == b"\0\1" and each.value is not None]
    assert found == {
        "num_records_lost": len(lost), "num_commits_lost": len(commits), "evidence_first_offset": begin,
        "old_coordinator": leader.number, "new_coordinator": follower.number,
    }  # fmt: skip
