"""Snapshots of real brokers, beside what Kafka's own tools say about the same clusters."""

import json
import signal
import subprocess
import sys
import time
from typing import Any, Final

import pytest
from kafka.protocol.broker_version_data import BrokerVersionData

from jobs import cli
from jobs.broker import groups as kafka_groups
from jobs.broker.connection import KafkaConnection
from jobs.sources.cluster_snapshot import GROUP_SETTINGS, SETTINGS
from jobs.spark.jars import jar_folder
from schemas.words.exit_codes import ExitCode
from tests.builders.logs.copies import commit
from tests.builders.logs.segments import batch, segment
from tests.kafka import kafka_tools
from tests.kafka.broker import running
from tests.kafka.capture import run_phase, scenario_sources
from tests.kafka.java_programs import compile_java
from tests.kafka.kafka_tools import EARLIEST, LATEST
from tests.kafka.phases import ANSWERS, Phase
from tests.kafka.releases import KAFKA_3_9_OLD, NEWEST, RELEASES
from tests.runs.ingested import ROOT, ingest, rows, run_ingest

pytestmark = pytest.mark.broker

OFFSETS_TOPIC = "__consumer_offsets"
SCENARIOS = {
    "3.9.1-old": ("Commits.byAdmin", "ClassicGroups.rebalanced:range"),
    "3.9.1-new": ("Commits.byAdmin", "ConsumerGroups.rebalanced"),
    NEWEST.name: ("Commits.byAdmin", "ShareGroups.rebalanced", "ConsumerGroups.rebalanced", "StreamsGroups.modern"),
}
# What a 4.4 broker does not tell: settings of older releases, and those that 4.4 has for its developers alone.
UNTOLD: Final = {
    "group.coordinator.new.enable",
    "inter.broker.protocol.version",
    *(f"group.{kind}.assignor.offload.enable" for kind in ("consumer", "share", "streams")),
    *(
        f"group.streams.{name}"
        for name in ("acceptable.recovery.lag", "num.warmup.replicas", "task.offset.interval.ms")
    ),
}
# As 4.4 has them; `streams.assignor.name` names one of `group.streams.assignors`.
FOR_STREAMS: Final = {
    "streams_assignment_interval_ms": 1500,
    "streams_assignor_name": "sticky",
    "streams_num_warmup_replicas": 1,
    "streams_rack_aware_assignment_tags": "zone",
    "streams_task_offset_interval_ms": 70000,
    "streams_acceptable_recovery_lag": 5000,
}
Snapshot = dict[str, Any]


@pytest.fixture(scope="module", params=RELEASES)
def broker(request, tmp_path_factory):
    """With groups, with a log that does not begin at zero, with leaders that are not the first ones."""
    release = RELEASES[request.param]
    with running(release, tmp_path_factory.mktemp("broker")) as started:
        play(started, SCENARIOS[release.name])
        kafka_tools.tool(started, kafka_tools.TOPICS, "--create", "--topic", "unread", "--partitions", "2")
        kafka_tools.delete_records(started, "orders", 1, 2)
        if release.is_modern:
            kafka_tools.tool(started, kafka_tools.TOPICS, "--create", "--topic", "only-shared")
            kafka_tools.start_share_group(started, "shared", "only-shared")
        started.restart({})
        yield started


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    with running(NEWEST, tmp_path_factory.mktemp("small")) as started:
        play(started, ("Commits.byAdmin",))
        kafka_tools.tool(started, kafka_tools.TOPICS, "--create", "--topic", "unread", "--partitions", "2")
        yield started


def play(broker, scenarios):
    classes = compile_java(scenario_sources(broker.release), [jar_folder(each) for each in broker.release.jar_sets])
    run_phase(broker, Phase(scenarios), classes, broker.folder)


def topics_of_groups(broker):
    """By the Java client, and where that knows no offsets, by the tool."""
    play(broker, (ANSWERS,))
    answers = json.loads((broker.folder / "answers.json").read_text())
    committed = {each["topic"] for offsets in answers["offsets"].values() for each in offsets}
    return committed | kafka_tools.topics_of_share_groups(broker)


def run_capture(broker, *arguments):
    return cli.main(["capture", "--source", f"kafka:{broker.bootstrap}", *map(str, arguments)])


def lines_of(path):
    text = path.read_text()
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def capture_line(broker, path, *arguments):
    assert run_capture(broker, "--into", path, *arguments) == ExitCode.CLEAN
    return lines_of(path)[-1]


def written_by(broker, file, name):
    """What a broker's file in its log dir has on this line."""
    lines = (broker.log_dir / file).read_text().splitlines()
    return [line.removeprefix(name) for line in lines if line.startswith(name)]


def partitions_of(snapshot, name):
    return {
        (topic["topic"], each["partition"]): each[name] for topic in snapshot["topics"] for each in topic["partitions"]
    }


@pytest.mark.drawn_together(6)
@pytest.mark.drawn(1)
def test_a_snapshot_says_what_kafkas_own_tools_say(broker, tmp_path, monkeypatch):
    # Several requests for what would go into one.
    monkeypatch.setattr(kafka_groups, "GROUPS_A_REQUEST", 2)
    before = kafka_tools.offsets(broker, LATEST)
    earliest_ms = time.time_ns() // 1_000_000
    snapshot = capture_line(broker, tmp_path / "snapshots", "--topic", "unread")
    ends = kafka_tools.offsets(broker, LATEST)
    starts = kafka_tools.offsets(broker, EARLIEST)
    names = {topic["topic"] for topic in snapshot["topics"]}

    assert names == topics_of_groups(broker) | {OFFSETS_TOPIC, "unread"}
    assert earliest_ms <= snapshot["captured_at"] <= time.time_ns() // 1_000_000
    assert ("only-shared" in names) == broker.release.is_modern
    told = partitions_of(snapshot, "log_end_offset")
    assert told.keys() == {key for key in ends if key[0] in names}
    # Members whose session ends meanwhile write to the offsets topic.
    assert all(before[key] <= end <= ends[key] for key, end in told.items())
    assert {key: end for key, end in told.items() if key[0] != OFFSETS_TOPIC} == {
        key: end for key, end in ends.items() if key[0] in names - {OFFSETS_TOPIC}
    }
    assert partitions_of(snapshot, "log_start_offset") == {key: starts[key] for key in told}
    assert starts["orders", 1] == 2
    epochs = kafka_tools.leader_epochs(broker)
    assert partitions_of(snapshot, "leader_epoch") == {key: epochs[key] for key in told}
    assert min(epochs.values()) > 0
    topics = {each["topic"]: (each["topic_id"], len(each["partitions"])) for each in snapshot["topics"]}
    assert topics == {name: found for name, found in kafka_tools.topic_ids(broker).items() if name in names}
    assert set(map(tuple, partitions_of(snapshot, "racks").values())) == {("rack-a",)}
    assert snapshot["offsets_topic_id"] == kafka_tools.topic_ids(broker)[OFFSETS_TOPIC][0]
    assert snapshot["offsets_topic_id"] in written_by(broker, f"{OFFSETS_TOPIC}-0/partition.metadata", "topic_id: ")
    assert written_by(broker, "meta.properties", "cluster.id=") == [snapshot["cluster_id"]]
    assert snapshot["brokers"] == kafka_tools.nodes(broker)
    leaders = {each["partition"]: each["leader"] for each in snapshot["offsets_partitions"]}
    assert leaders == kafka_tools.leaders(broker, OFFSETS_TOPIC)
    settings = kafka_tools.settings(broker)
    assert snapshot["settings"] == {name: settings[name] for name in SETTINGS if name in settings}
    assert snapshot["settings"]["offsets.retention.minutes"] == "10080"
    assert broker.release is not NEWEST or set(SETTINGS) - set(settings) == UNTOLD


@pytest.mark.drawn_together(6)
@pytest.mark.drawn(1)
def test_settings_of_groups_are_those_that_kafka_configs_shows(broker, tmp_path, monkeypatch):
    monkeypatch.setattr(kafka_groups, "GROUPS_A_REQUEST", 2)
    types = kafka_tools.groups_by_type(broker)
    named = sorted(name for name, kind in types.items() if kind != "classic")
    assert bool(named) == (broker.release is not KAFKA_3_9_OLD)
    if broker.release.is_modern:
        for name in named[::2]:
            kafka_tools.set_for_group(broker, name, consumer_session_timeout_ms=7000, streams_heartbeat_interval_ms=700)
        # Also one that no snapshot has.
        kafka_tools.set_for_group(broker, "shared", share_session_timeout_ms=9000, share_record_lock_duration_ms=20000)
        kafka_tools.set_for_group(broker, "streams-modern", **FOR_STREAMS)
    snapshot = capture_line(broker, tmp_path / "snapshots")
    if broker.release.name == "3.9.1-new":
        # It has consumer groups, and no settings of any.
        assert snapshot["groups"] is None
        return
    shown = kafka_tools.group_settings(broker) if broker.release.is_modern else {}
    own = {name: {key: value for key, value in found.items() if key in GROUP_SETTINGS} for name, found in shown.items()}
    assert snapshot["groups"] == [{"group_id": name, "settings": own.get(name, {})} for name in named]
    assert bool(own) == broker.release.is_modern
    assert not own or {name.replace(".", "_") for name in own["streams-modern"]} >= FOR_STREAMS.keys()
    (row,) = rows_by_snapshots(tmp_path / "warehouse", tmp_path / "snapshots")
    assert {each["group_id"]: dict(each["settings"]) for each in row["group_settings"]} == {
        name: own.get(name, {}) for name in named
    }


@pytest.mark.drawn_together(6)
@pytest.mark.parametrize("broker", [KAFKA_3_9_OLD.name], indirect=True)
def test_an_old_brokers_requests_leave_out_what_they_cannot_say(broker, tmp_path, monkeypatch):
    """A broker that speaks as those of 2.0 did: no topic ids, no kinds of groups, one group a question."""

    def captured():
        """The old broker's between two of the same one as it is."""
        before = capture_line(broker, tmp_path / "whole")
        with monkeypatch.context() as patch:
            patch.setattr(KafkaConnection, "_agreed_versions", lambda self: versions_of_2_0())
            old = capture_line(broker, tmp_path / "old")
        return before, old, capture_line(broker, tmp_path / "whole")

    deadline = time.monotonic() + 240
    whole, old, after = captured()
    # Members whose session ends meanwhile write to the offsets topic.
    while partitions_of(whole, "log_end_offset") != partitions_of(after, "log_end_offset"):
        assert time.monotonic() < deadline, "the offsets topic of the broker never rests"
        whole, old, after = captured()
    assert {each["topic_id"] for each in old["topics"]} == {None} == {old["offsets_topic_id"]}
    for snapshot in (whole, old):
        del snapshot["captured_at"], snapshot["offsets_topic_id"]
        for topic in snapshot["topics"]:
            del topic["topic_id"]
            for partition in topic["partitions"]:
                del partition["leader_epoch"]
    assert whole == old
    assert "orders" in {each["topic"] for each in old["topics"]}


def versions_of_2_0():
    return BrokerVersionData((2, 0))


@pytest.mark.drawn_together(6)
def test_a_line_and_the_tables_hold_the_same(small, tmp_path):
    """Whether `capture` wrote the tables or `ingest --snapshots` read its lines."""
    path, by_file, by_run = tmp_path / "snapshots.jsonl", tmp_path / "by-file", tmp_path / "by-run"
    capture_line(small, path, "--topic", "unread")
    ingest(by_file, "--snapshots", path)
    assert run_capture(small, "--topic", "unread", "--warehouse", by_run, "--cluster", "prod") == ExitCode.CLEAN
    for table in ("cluster_snapshots", "topic_snapshots"):
        found = [without_run(row) for row in rows(by_run, table)]
        assert found == [without_run(row) for row in rows(by_file, table)]
        assert found
    (run,) = rows(by_run, "runs")
    assert (run["job"], run["cluster"], run["exit_code"], run["verdict"]) == ("capture", "prod", 0, "clean")
    result = json.loads((by_run / "_runs" / f"{run['run_id']}.json").read_text())
    assert result["rows_added"] == {"cluster_snapshots": 1, "topic_snapshots": len(rows(by_run, "topic_snapshots"))}
    assert cli.main(["doctor", "--warehouse", str(by_run)]) == ExitCode.CLEAN
    # The cluster need not be named again, and what the file has of the same time is known.
    assert run_capture(small, "--warehouse", by_run) == ExitCode.CLEAN
    assert len(rows(by_run, "cluster_snapshots")) == 2
    assert {row["cluster"] for row in rows(by_run, "topic_snapshots")} == {"prod"}
    assert not list((by_run / "_runs").glob("*.manifest*"))


def without_run(row):
    return {name: value for name, value in row.items() if name not in {"run_id", "cluster", "captured_time"}}


@pytest.mark.drawn_together(6)
def test_topics_of_the_warehouses_commits_are_captured_too(small, tmp_path, capsys):
    """Absent ones, and names that no topic can have, are nothing to tell."""
    names = ("unread", "deleted-since", "no topic's name", "..", "x" * 300)
    records = [commit("gone", name, 0, 1) for name in names]
    warehouse = tmp_path / "warehouse"
    ingest(warehouse, "--source", f"segments:{segment(tmp_path, batch(0, records)).parent}", "--cluster", "a")
    other = segment(tmp_path / "other", batch(0, [commit("gone", "orders-of-b", 0, 1)]))
    kafka_tools.tool(small, kafka_tools.TOPICS, "--create", "--topic", "orders-of-b")
    ingest(warehouse, "--source", f"segments:{other.parent}", "--cluster", "b")
    capsys.readouterr()
    assert run_capture(small, "--warehouse", warehouse, "--cluster", "a") == ExitCode.CLEAN
    assert {row["topic"] for row in rows(warehouse, "topic_snapshots")} == {"orders", "unread", OFFSETS_TOPIC}
    assert capsys.readouterr().err == ""


@pytest.mark.drawn_together(6)
def test_another_clusters_snapshots_are_refused(small, tmp_path, capsys):
    warehouse, path = tmp_path / "warehouse", tmp_path / "snapshots"
    snapshot = capture_line(small, path)
    (ours,) = (each["topic_id"] for each in snapshot["topics"] if each["topic"] == OFFSETS_TOPIC)
    path.write_text(path.read_text().replace(ours, "A" * 21 + "Q"))
    ingest(warehouse, "--snapshots", path, "--cluster", "a")
    before = rows(warehouse, "runs")
    assert run_capture(small, "--warehouse", warehouse) == ExitCode.UNREADABLE_INPUT
    assert capsys.readouterr().err.endswith("give this Kafka cluster another name: --cluster NAME\n")
    assert rows(warehouse, "runs") == before
    assert run_capture(small, "--warehouse", warehouse, "--cluster", "b") == ExitCode.CLEAN


@pytest.mark.drawn_together(6)
@pytest.mark.drawn(1)
def test_snapshots_of_one_broker_beside_the_log_of_another_are_refused(broker, small, tmp_path, capsys):
    """Both have topics of the same names."""
    theirs, ours, warehouse = tmp_path / "theirs", tmp_path / "ours", tmp_path / "warehouse"
    foreign, own = capture_line(broker, theirs), capture_line(small, ours)
    log = ("--source", f"segments:{small.log_dir}")
    assert run_ingest(tmp_path / "none", *log, "--snapshots", theirs) == ExitCode.UNREADABLE_INPUT
    assert foreign["cluster_id"] in (line := capsys.readouterr().err) and own["cluster_id"] in line
    ingest(warehouse, "--snapshots", theirs)
    assert run_ingest(warehouse, *log, "--snapshots", ours) == ExitCode.UNREADABLE_INPUT
    assert "maintain --drop-snapshots" in (line := capsys.readouterr().err) and "--cluster" not in line
    assert run_capture(small, "--warehouse", warehouse) == ExitCode.UNREADABLE_INPUT
    assert cli.main(["maintain", "--warehouse", str(warehouse), "--drop-snapshots", ".."]) == ExitCode.CLEAN
    ingest(warehouse, *log, "--snapshots", ours)
    ids = {(row["cluster_id"], row["offsets_topic_id"]) for row in rows(warehouse, "source_files")}
    assert ids == {(own["cluster_id"], own["offsets_topic_id"])}
    assert run_capture(broker, "--warehouse", warehouse) == ExitCode.UNREADABLE_INPUT
    assert run_capture(small, "--warehouse", warehouse) == ExitCode.CLEAN


class Clock:
    """Time that goes by only while a series sleeps, which it also does in truth."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        time.sleep(seconds)
        self.now += seconds


@pytest.mark.drawn_together(6)
def test_a_series_keeps_its_time(small, tmp_path, monkeypatch):
    path, begin_ms = tmp_path / "snapshots", time.time() * 1000
    monkeypatch.setattr("jobs.capture.time", Clock())
    assert run_capture(small, "--into", path, "--every", "0.5", "--for", "1.5") == ExitCode.CLEAN
    times = [each["captured_at"] for each in lines_of(path)]
    assert len(times) == 3
    assert all(time - begin_ms >= 500 * number - 50 for number, time in enumerate(times))
    assert times == sorted(set(times))


@pytest.mark.drawn_together(6)
def test_a_killed_series_leaves_whole_lines(small, tmp_path):
    path = tmp_path / "snapshots"
    process = series(small, path)
    wait_until(lambda: path.exists() and path.read_bytes().count(b"\n") >= 3)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    begun = len(lines_of(path))
    # What a kill within a write can leave.
    with path.open("a") as file:
        file.write('{"captured_at":17')
    capture_line(small, path)
    assert len(lines_of(path)) == begun + 1
    assert len(rows_by_snapshots(tmp_path / "warehouse", path)) == begun + 1


def rows_by_snapshots(warehouse, path):
    ingest(warehouse, "--snapshots", path)
    return rows(warehouse, "cluster_snapshots")


@pytest.mark.drawn_together(6)
def test_a_series_outlives_its_broker(small, tmp_path):
    path, config = tmp_path / "snapshots", tmp_path / "client.properties"
    config.write_text("default.api.timeout.ms=1000\n")
    process = series(small, path, "--command-config", config, "--for", "600")
    wait_until(lambda: path.exists() and path.read_bytes().count(b"\n") >= 1)
    small.stop()
    assert process.stderr is not None
    # What it says first may be of the node that it was connected to.
    told = f"groupscope: no snapshot: {small.bootstrap}: "
    assert any(line.startswith(told) for line in process.stderr)
    num_before = len(lines_of(path))
    small.start({})
    wait_until(lambda: len(lines_of(path)) > num_before + 1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == ExitCode.INTERRUPTED
    assert "Traceback" not in said


def series(broker, path, *arguments):
    words = ["--source", f"kafka:{broker.bootstrap}", "--into", path, "--every", "0.2", *arguments]
    command = [sys.executable, "-m", "jobs.cli", "capture", *map(str, words)]
    return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)


def wait_until(holds, seconds=240):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"the broker's snapshots did not come in {seconds} s"
        time.sleep(0.05)


@pytest.mark.drawn_together(6)
def test_what_is_wrong_is_told_on_one_line(small, tmp_path, capsys):
    def run_and_line(*arguments, source=f"kafka:{small.bootstrap}"):
        code = cli.main(["capture", "--source", source, *map(str, arguments)])
        (line,) = capsys.readouterr().err.splitlines()
        return code, line.removeprefix("groupscope: ")

    path = tmp_path / "snapshots"
    absent = (21, "--topic ordres: the cluster has no such topic")
    assert run_and_line("--into", path, "--topic", "orders", "--topic", "ordres") == absent
    assert run_and_line("--into", path, source="segments:x")[0] == ExitCode.USAGE
    assert run_and_line("--into", path, source="kafka:")[0] == ExitCode.USAGE
    assert run_and_line("--into", path, "--every", "0")[0] == ExitCode.USAGE
    assert run_and_line("--into", path, "--for", "9")[0] == ExitCode.USAGE
    assert run_and_line("--into", path, "--warehouse", tmp_path / "w")[0] == ExitCode.USAGE
    assert run_and_line("--into", "hdfs://there/x")[0] == ExitCode.USAGE
    assert run_and_line("--into", tmp_path / "none" / "x")[0] == ExitCode.FAILED
    assert run_and_line("--into", "/dev/full") == (
        1,
        "--into /dev/full: No space left on device; give a file that can be written",
    )
    assert path.read_text() == ""
    path.write_text("orders:0:7\n")
    code, line = run_and_line("--into", path)
    assert code == ExitCode.USAGE
    assert line.startswith(f"--into {path}: is not a file of snapshots")
    assert path.read_text() == "orders:0:7\n"


@pytest.mark.drawn_together(6)
def test_a_cluster_without_groups_has_a_snapshot(tmp_path):
    with running(NEWEST, folder(tmp_path)) as broker:
        snapshot = capture_line(broker, tmp_path / "snapshots")
        assert (snapshot["topics"], snapshot["offsets_partitions"]) == ([], None)
        assert len(rows_by_snapshots(tmp_path / "warehouse", tmp_path / "snapshots")) == 1


def folder(above):
    (above / "broker").mkdir()
    return above / "broker"
