"""Timeouts that groups set for themselves, as snapshots show them: whose rows they change, and which runs replay what.

In the sample static members of `modern-static` go away and are removed after their session."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from jobs.replaying.task.replay_messages import OwnTimeouts, Rules
from jobs.replaying.task.snapshot_rules import own_timeouts
from tests.oracles.history.unread import unlike
from tests.runs.ingested import ROOT, ingest, rows
from tests.runs.replayed_logs import HISTORY, assert_same, replay, row_texts
from udfs.groups.history.reading_ends import GROUP_SETTINGS, SNAPSHOT, Setting

SAMPLE: Final = ROOT / "data" / "sample"
# After all snapshots of the sample.
LATER: Final = 1_900_000_000_000
GROUP, SESSION, HEARTBEAT = "modern-static", "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"
AWAY: Final = "the member said that it goes away; "
AS_BROKERS_SAY: Final = {f"{said}delivery 0.5 s from a snapshot" for said in ("", AWAY)}
OF_THE_GROUP: Final = {f"{said}delivery 0.7 s from the group's settings" for said in ("", AWAY)}


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    result = tmp_path_factory.mktemp("sample") / "w"
    ingest(result, "--source", f"segments:{SAMPLE}", "--snapshots", SAMPLE / "snapshots.jsonl")
    replay(result)
    return result


def look(warehouse: Path, second: int, *groups: dict[str, Any]) -> int:
    """Takes a snapshot in and replays; answers how many offsets partitions were replayed from their beginning."""
    path = warehouse.with_suffix(f".{second}.jsonl")
    path.write_text(json.dumps({"captured_at": LATER + 1000 * second, "topics": [], "groups": groups}) + "\n")
    ingest(warehouse, "--snapshots", path)
    result: int = replay(warehouse)["num_partitions_replayed_whole"]
    return result


def of_group(group_id: str, **settings: object) -> dict[str, Any]:
    return {"group_id": group_id, "settings": {name.replace("_", "."): value for name, value in settings.items()}}


def bases(warehouse: Path) -> set[str]:
    unread_basis = {row["unread_basis"] for row in rows(warehouse, "partition_moves") if row["group_id"] == GROUP}
    return unread_basis - {None}


def test_the_newest_snapshot_that_lists_a_group_shows_its_timeouts(warehouse: Path) -> None:
    short = of_group(GROUP, consumer_heartbeat_interval_ms=700)
    assert bases(warehouse) == AS_BROKERS_SAY
    # Only the group's own offsets partition rests on them.
    assert (look(warehouse, 10, short), bases(warehouse)) == (1, OF_THE_GROUP)
    assert unlike(warehouse)[0] == []
    # The same again; others, without any or with those of other types; no groups; what it was before.
    others = (of_group("stranger"), of_group("other-type", share_record_lock_duration_ms=9))
    for second, groups in ((11, (short,)), (12, others), (13, ()), (5, (of_group(GROUP),))):
        assert (look(warehouse, second, *groups), bases(warehouse)) == (0, OF_THE_GROUP), second
    # A group of which the log knows nothing rests in one offsets partition too.
    assert look(warehouse, 14, of_group("stranger", share_session_timeout_ms=7000)) == 1
    before = row_texts(warehouse, HISTORY)
    replay(warehouse, "--full")
    assert_same(row_texts(warehouse, HISTORY), before, "full")
    # Taken back: the brokers' value counts again.
    assert (look(warehouse, 20, of_group(GROUP)), bases(warehouse)) == (1, AS_BROKERS_SAY)


def test_without_a_number_of_offsets_partitions_each_may_hold_the_group() -> None:
    """`g` belongs to partition 3 of 10."""
    settings = {"g": [(SESSION, "6000"), ("share.heartbeat.interval.ms", "900")], "none": []}
    result = [("consumer", 6000, None), ("share", None, 900)]
    assert own_timeouts(settings, 10) == tuple(OwnTimeouts(3, "g", *each) for each in result)
    unknown = Rules(own_timeouts=own_timeouts(settings, None))
    known = Rules(own_timeouts=own_timeouts(settings, 10))
    assert unknown.of_partition(7, set(), ()) == unknown
    assert known.of_partition(3, set(), ()) == known
    assert known.of_partition(7, set(), ()) == Rules()
    assert known.timeouts_by_group(7) == {}


@pytest.mark.parametrize("value", [None, "", "-1", "x", "1.5"])
def test_what_is_no_number_is_no_timeout(value: str | None) -> None:
    assert own_timeouts({"g": [(SESSION, value)]}, 10) == ()
    assert own_timeouts({"g": [(SESSION, value), (HEARTBEAT, "7")]}, 10) == (OwnTimeouts(3, "g", "consumer", None, 7),)


def test_what_a_group_does_not_set_is_as_the_brokers_have_it() -> None:
    own = own_timeouts({"g": [(SESSION, "6000"), ("share.session.timeout.ms", "7000")]}, 10)
    rules = Rules(timeouts=(("consumer", 45_000, 5_000), ("share", None, None)), own_timeouts=own)
    assert rules.timeouts_by_group(3) == {
        ("g", "consumer"): Setting(6_000, 5_000, GROUP_SETTINGS, SNAPSHOT),
        ("g", "share"): Setting(7_000, None, GROUP_SETTINGS, SNAPSHOT),
    }
