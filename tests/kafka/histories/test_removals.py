"""Who removed offsets, by logs of real brokers: expiry, admin tools, and deletions of groups and topics. All of them
write the same tombstones."""

import json
import subprocess

import pytest

from jobs import cli
from jobs.spark.jars import jar_folder
from schemas.words.exit_codes import ExitCode
from schemas.words.lag import ResetActor
from tests.builders.warehouses.replayed_segments import LATER_MS, command
from tests.kafka.broker import kafka_command, running
from tests.kafka.capture import HERE
from tests.kafka.expiries import RETENTION_MS, expiries_of
from tests.kafka.fresh_brokers import PlayError
from tests.kafka.java_programs import compile_java
from tests.kafka.live_broker import KeptLog, copied_segments
from tests.kafka.releases import NEWEST
from tests.kafka.sample import killed_after
from tests.runs.ingested import ingest, rows

pytestmark = pytest.mark.broker

PROGRAMS = (HERE / "java" / "Cluster.java", HERE / "java" / "Member.java", HERE / "java" / "removed" / "Removed.java")
SECONDS = 300
# What Expiries.java leaves to the sweep, and what it gave an expiry time of its own.
EXPIRED = {
    ("emptied", "orders", (0, 1)),
    ("modern-emptied", "orders", (0, 1)),
    ("simple", "orders", (0,)),
    ("stable", "payments", (0,)),
    ("modern", "payments", (0,)),
    ("pending", "orders", (0,)),
    ("own-time", "payments", (0,)),
}
OWN_TIME = {("own-time", "orders", (0,))}
# What Removed.java deletes by the admin API alone: some offsets of a topic, or all.
SOME = {("left", "orders", (0,)), ("classic", "orders", (0,))}
ALL = {("simple", "orders", (0, 1)), ("consumer", "orders", (0, 1))}
BY_ADMIN = SOME | ALL
WHOLE = {("whole", "orders", (0, 1))}
OF_TOPIC = {("of-doomed", "doomed", (0,))}


def removals(warehouse, log_dir, *arguments):
    """Kind, actor, confidence and reason, by group, topic and partitions."""
    ingest(warehouse, "--source", f"segments:{log_dir}", *arguments)
    for step in ("replay", "lag"):
        command(warehouse, step)
    resets = rows(warehouse, "offset_resets")
    assert {row["actor"] for row in resets} <= {str(actor) for actor in ResetActor}
    found = [(row["group_id"], row["topic"], tuple(row["partitions"])) for row in resets]
    assert len(found) == len(set(found))
    of_row = ("kind", "actor", "confidence", "actor_reason")
    return {key: tuple(row[name] for name in of_row) for key, row in zip(found, resets, strict=True)}


def test_without_the_brokers_retention_expiry_is_one_of_the_causes_and_nobody_is_blamed(tmp_path):
    found = removals(tmp_path / "w", expiries_of().after)
    assert found.keys() == EXPIRED | OWN_TIME
    assert {kind for kind, *_ in (found[key] for key in EXPIRED)} == {"deleted"}
    for key in EXPIRED:
        _, actor, confidence, why = found[key]
        assert confidence == "possible", key
        assert "expired" in why and "7 days is only Kafka's default" in why, key
        # One sweep may take offsets of a topic in several groups, as the deletion of the topic does, and no admin tool.
        cause = "the topic was deleted" if actor == "coordinator" else "an admin tool"
        assert actor in ("unknown", "coordinator") and cause in why, key
    # The commit named the time, whatever the broker's retention.
    assert {found[key][:2] for key in OWN_TIME} == {("expired", "coordinator")}


def test_with_the_brokers_retention_they_expired(tmp_path):
    commits = tmp_path / "settings.jsonl"
    line = {"captured_at": LATER_MS, "topics": [], "brokers": [], "offsets_partitions": []}
    minutes = str(RETENTION_MS // 60_000)
    commits.write_text(json.dumps(line | {"settings": {"offsets.retention.minutes": minutes}}) + "\n")
    found = removals(tmp_path / "w", expiries_of().after, "--snapshots", str(commits))
    assert found.keys() == EXPIRED | OWN_TIME
    assert {row[:2] for row in found.values()} == {("expired", "coordinator")}


@pytest.fixture(scope="module")
def removed(tmp_path_factory):
    kept = KeptLog(tmp_path_factory.mktemp("removed"))
    (kept.folder / "broker").mkdir()
    with running(NEWEST, kept.folder / "broker") as broker:
        play(broker, kept)
        copied_segments(broker, kept.log_dir)
    return kept


def play(broker, kept):
    """With a snapshot before and after the removals."""
    classes = compile_java(PROGRAMS, [jar_folder(each) for each in NEWEST.jar_sets])
    program = kafka_command(NEWEST, "Removed", [broker.bootstrap], classes, options=broker.scratch_options)
    said = []
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(program, text=True, encoding="utf-8", **pipes) as story, killed_after(SECONDS, story):
        for line in story.stdout:
            said.append(line)
            if line in ("@committed\n", "@removed\n"):
                capture = ["capture", "--source", f"kafka:{broker.bootstrap}", "--into", str(kept.snapshots)]
                assert cli.main(capture) == ExitCode.CLEAN
                story.stdin.write("\n")
                story.stdin.flush()
    if story.returncode:
        raise PlayError(broker, "".join(said))


def test_what_only_an_admin_tool_can_have_deleted_is_called_that(removed, tmp_path):
    """They are too young to have expired, and the snapshot after still has their topic. Of the neighbours, one went
    with its group, which only an admin tool deletes so early, and one with its topic."""
    found = removals(tmp_path / "w", removed.log_dir, "--snapshots", str(removed.snapshots))
    assert found.keys() == BY_ADMIN | WHOLE | OF_TOPIC
    assert {found[key][:3] for key in BY_ADMIN} == {("deleted", "admin_likely", "likely")}
    why = "no consumer can delete offsets; these had not expired, and a snapshot still has their topic"
    assert {found[key][3] for key in ALL} == {why}
    assert {found[key][:2] for key in WHOLE} == {("deleted", "admin_likely")}
    assert {found[key][:2] for key in OF_TOPIC} == {("deleted", "coordinator")}


def test_without_snapshots_their_topic_may_have_been_deleted(removed, tmp_path):
    found = removals(tmp_path / "w", removed.log_dir)
    for key in BY_ADMIN:
        kind, actor, confidence, why = found[key]
        assert (kind, actor, confidence) == ("deleted", "unknown", "possible"), key
        assert why.startswith("an admin tool deleted the offsets or their topic: ")
    assert {found[key][:2] for key in WHOLE} == {("deleted", "admin_likely")}
