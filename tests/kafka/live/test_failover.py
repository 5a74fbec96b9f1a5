"""Three nodes, one of which is killed while it is read: the read goes on at the next leader, and nothing is missing."""

import pytest

import jobs.ingestion.live.span
from jobs.broker.fetch import fetch
from tests.kafka.live.three_nodes import three_running
from tests.kafka.live_broker import copied_segments, history_of_segments, play
from tests.kafka.releases import NEWEST
from tests.runs.ingested import history, ingest, rows

pytestmark = pytest.mark.broker

SCENARIOS = ("Commits.byAdmin", "Commits.withMetadata", "Transactions.committedAndAborted", "Transactions.interleaved")
ANSWERS_BEFORE = 5


def test_a_leader_that_is_killed_while_it_is_read(tmp_path, monkeypatch):
    with three_running(NEWEST, tmp_path / "nodes") as nodes:
        play(nodes[0], tmp_path / "played", *SCENARIOS)
        killed = kill_leader_amid(nodes, monkeypatch)
        servers = ",".join(node.bootstrap for node in nodes)
        found = ingest(tmp_path / "live", "--source", f"kafka:{servers}")
        assert len(killed) == 1
        assert found["read"] == found["decoded"] > 0
        again = ingest(tmp_path / "live", "--source", f"kafka:{servers}")
        # Other leaders, other epochs: the last known record of each partition is looked at.
        assert again["decoded"] == 0
        assert again["already_known"] == again["read"] > 0
        survivor = next(node for node in nodes if node not in killed)
        for node in nodes:
            node.kill()
        expected = history_of_segments(tmp_path / "files", copied_segments(survivor, tmp_path / "copied"))
        assert history(tmp_path / "live") == expected
        assert rows(tmp_path / "live", "transaction_markers")


def kill_leader_amid(nodes, patched):
    """Small answers, so that there are many, and after some of them the end of the node that gives them."""
    killed = []
    num_answers = 0

    def amid(cluster, topic, partition, *told):
        nonlocal num_answers
        for answer in fetch(cluster, topic, partition, *told):
            num_answers += 1
            if num_answers == ANSWERS_BEFORE:
                leader = cluster.leader(topic, partition)
                killed.extend(node for node in nodes if node.number == leader)
                killed[0].kill()
            yield answer

    patched.setattr(jobs.ingestion.live.span, "fetch", amid)
    patched.setattr(jobs.ingestion.live.span, "MOST_AT_ONCE", 1000)
    patched.setattr(jobs.ingestion.live.span, "LEAST_AT_ONCE", 1000)
    return killed
