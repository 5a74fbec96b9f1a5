"""The sample holds what its story tells, and its README names it; so does a sample that is made anew (`soak`)."""

import re
import socket
from itertools import pairwise

import pytest

from tests.sample import group_events, offset_events
from tests.sample.page import page
from tests.sample.story import Event, Sample, checked_in

FINDERS = {
    finder.__name__: finder
    for finder in (
        group_events.phase,
        group_events.classic_rebalances,
        group_events.static_bounce,
        group_events.static_expired,
        group_events.session_timeout,
        group_events.assignor_upgrade,
        group_events.rebalance_storm,
        group_events.consumer_rebalances,
        group_events.converted_to_consumer,
        group_events.converted_to_classic,
        group_events.regex_subscription,
        group_events.consumer_static_members,
        group_events.share_rebalances,
        group_events.streams_rebalances,
        group_events.connect_rebalances,
        group_events.partitions_added,
        group_events.broker_restart,
        offset_events.simple_consumer,
        offset_events.commit_metadata,
        offset_events.partition_stalled,
        offset_events.partition_stopped,
        offset_events.transactions,
        offset_events.transaction_open,
        offset_events.admin_reset,
        offset_events.offsets_deleted,
        offset_events.group_deleted,
        offset_events.offset_expired,
        offset_events.topic_deleted,
        offset_events.topic_recreated,
        offset_events.end_state,
    )
}
OTHER_FILES = ("README.md", "snapshots.jsonl", "story.json")
MADE_ANEW = pytest.param("made anew", marks=[pytest.mark.soak, pytest.mark.broker])


@pytest.fixture(scope="module", params=["checked in", MADE_ANEW])
def sample(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Sample:
    if request.param == "checked in":
        return checked_in()
    from tests.kafka.sample import make

    folder = tmp_path_factory.mktemp("made") / "sample"
    make(folder)
    return Sample(folder)


@pytest.mark.parametrize("kind", FINDERS)
def test_every_event_is_in_the_log(sample: Sample, kind: str) -> None:
    events = sample.of_kind(kind)
    assert events
    for event in events:
        assert FINDERS[kind](sample, event), event.name


def test_every_kind_of_event_has_its_finder(sample: Sample) -> None:
    assert {event.kind for event in sample.events} == set(FINDERS)


def test_events_have_names_of_their_own_and_lie_in_time(sample: Sample) -> None:
    names = [event.name for event in sample.events]
    assert len(set(names)) == len(names)
    assert all(event.from_ms <= event.to_ms for event in sample.events)
    assert [event.from_ms for event in sample.events] == sorted(event.from_ms for event in sample.events)


def test_the_readme_is_the_one_of_this_story_and_names_every_event(sample: Sample) -> None:
    text = (sample.folder / "README.md").read_text(encoding="utf-8")
    assert text == page([dict(event.fields) for event in sample.events], sample.folder)
    assert [event.name for event in sample.events if f"`{event.name}`" not in text] == []


def test_it_is_small_and_holds_nothing_else(sample: Sample) -> None:
    files = [path for path in sample.folder.rglob("*") if path.is_file()]
    assert set(files) == {*sample.segments, *(sample.folder / name for name in OTHER_FILES)}
    assert sum(path.stat().st_size for path in files) < 2_000_000


def test_segments_are_several_and_whole(sample: Sample) -> None:
    folders = {path.parent for path in sample.segments}
    assert len(folders) == 8
    assert len(sample.segments) > 2 * len(folders)
    assert not [record for record in sample.log if "rejected" in record]
    assert len(sample.log) > 3_000


def test_every_record_type_that_this_release_writes_is_there(sample: Sample) -> None:
    types = {record["record_type"] for record in sample.log if not record["is_control"]}
    # 4 and 16 only when something goes, or by regular expression; 0, 9 and 18 no release of today writes.
    assert types == set(range(1, 24)) - {9, 18}


def test_snapshots_are_well_formed_and_ends_never_go_back(sample: Sample) -> None:
    times = [snapshot["captured_at"] for snapshot in sample.snapshots]
    assert len(times) >= 8
    assert times == sorted(times)
    last: dict[tuple[str, int], tuple[int, int]] = {}
    for snapshot in sample.snapshots:
        assert set(snapshot) == {"captured_at", "topics", "brokers", "offsets_partitions", "settings"}
        assert len(snapshot["offsets_partitions"]) == 8
        assert snapshot["settings"]["offsets.retention.minutes"] == "10080"
        for topic in snapshot["topics"]:
            assert re.fullmatch("[A-Za-z0-9_-]{22}", topic["topic_id"])
            for each in topic["partitions"]:
                assert set(each) == {"partition", "log_start_offset", "log_end_offset", "leader_epoch", "racks"}
                place, ends = (topic["topic_id"], each["partition"]), (each["log_start_offset"], each["log_end_offset"])
                assert all(now >= before for now, before in zip(ends, last.get(place, ends), strict=True))
                assert ends[0] <= ends[1]
                last[place] = ends


def test_every_phase_begins_and_ends_with_a_snapshot(sample: Sample) -> None:
    times = [snapshot["captured_at"] for snapshot in sample.snapshots]
    phases = [*sample.of_kind("phase"), *sample.of_kind("broker_restart")]
    for each in phases:
        inside = [time for time in times if each.from_ms <= time <= each.to_ms]
        assert len(inside) >= 2, each.name
        assert no_event_begins(sample, each, each.from_ms + 1, inside[0]), each.name
    assert len(times) > 2 * len(phases)


def no_event_begins(sample: Sample, phase: Event, from_ms: int, to_ms: int) -> bool:
    return not [event for event in sample.events if event is not phase and from_ms <= event.from_ms < to_ms]


def test_the_story_is_one_of_minutes_and_its_phases_follow_each_other(sample: Sample) -> None:
    phases = sorted([*sample.of_kind("phase"), *sample.of_kind("broker_restart")], key=lambda event: event.from_ms)
    assert all(after.from_ms >= before.to_ms for before, after in pairwise(phases))
    assert 60_000 < phases[-1].to_ms - phases[0].from_ms < 360_000


def test_nothing_names_the_machine_that_made_it(sample: Sample) -> None:
    hosts = {broker["host"] for snapshot in sample.snapshots for broker in snapshot["brokers"]}
    assert hosts == {"127.0.0.1"}
    clients = {match for record in sample.log for match in re.findall(r"'client_host': '(.*?)'", str(record))}
    assert clients == {"/127.0.0.1"}
    content = b"".join(path.read_bytes() for path in sample.folder.rglob("*") if path.suffix in (".log", ".json"))
    traces = [b"/tmp", b"/home", b"/root", b"/var/", b"groupscope-sample"]
    # A short name is met by chance, in ids.
    if len(name := socket.gethostname()) >= 8 and name != "localhost":
        traces.append(name.encode())
    assert [trace for trace in traces if trace in content] == []
