"""A real broker's groups of every protocol lost all their members at once, while messages went on to come: such a group
is down at any later time, until somebody is back or its offsets are gone."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from tests.kafka.lost_groups import LostGroups, lost_groups_of
from tests.runs.ingested import rows
from tests.runs.typed_here import typed_here

pytestmark = pytest.mark.broker

Row = dict[str, Any]
SECOND, HOUR = 1_000, 3_600_000
# No record of a share group tells a member that went silent from one that left: it must have been in use for a while.
BY_SILENCE: Final = ("classic", "consumer", "streams")
SHORT_USE: Final = "[verdicts]\nin_use_s = 4\nwindow_s = 60\n"
WAIVER: Final = """[[waivers]]
kind = "group_down"
group = "lost-classic"
reason = "it moves to another cluster"
who = "ada"
until = 2100-01-01T00:00:00Z
"""


@pytest.fixture(scope="module")
def lost() -> LostGroups:
    return lost_groups_of()


def audited(folder: Path, log_dir: Path, snapshots: Path, settings: str = "", waivers: str = "") -> dict[str, Row]:
    """The groups that are down, each by its one finding."""
    (folder / "settings.toml").write_text(settings)
    (folder / "waivers.toml").write_text(waivers)
    words = ["audit", "--source", f"segments:{log_dir}", "--snapshots", str(snapshots), "--warehouse", "w", "--quiet"]
    done = typed_here([*words, "--config", "settings.toml", "--report", "report"], folder)
    down = [row for row in rows(folder / "w", "findings") if row["kind"] == "group_down"]
    assert done.returncode == (20 if any(row["waived_until_time"] is None for row in down) else 0), done.stderr
    assert {row["severity"] for row in down} <= {"critical"}
    assert len({row["group_id"] for row in down}) == len(down)
    return {row["group_id"]: row for row in down}


def of_copy(lost: LostGroups, copy: str, folder: Path, waivers: str = "") -> dict[str, Row]:
    snapshots = folder / "snapshots.jsonl"
    snapshots.write_text("".join(json.dumps(line) + "\n" for line in lost.snapshots(copy)))
    return audited(folder, lost.log_dir(copy), snapshots, waivers=waivers)


def named(*words: str, protocols: tuple[str, ...] = BY_SILENCE) -> set[str]:
    return {f"{word}-{protocol}" for word in words for protocol in protocols}


@pytest.mark.parametrize("away", [30 * SECOND, 2 * HOUR, 48 * HOUR], ids=["30 s", "2 h", "2 d"])
def test_groups_whose_members_were_all_killed_are_down_however_long_ago(
    away: int, lost: LostGroups, tmp_path: Path
) -> None:
    """And the one that left by itself after some seconds is not."""
    passed = lost.times["down"] - lost.times["lost"]
    down = audited(tmp_path, *lost.later(away - passed, tmp_path))
    assert down.keys() == named("lost", "back") | {"deleted-consumer"}
    for group, row in down.items():
        assert f"its last member timed out at {row['since_time']:%Y-%m-%dT%H:%M:%SZ} ({group}-1" in row["message"]
        assert abs(row["since_time"].timestamp() * 1_000 - lost.times["lost"]) < 2_000


def test_a_share_group_is_down_by_how_long_it_was_in_use(lost: LostGroups, tmp_path: Path) -> None:
    down = audited(tmp_path, *lost.later(2 * HOUR, tmp_path), SHORT_USE)
    assert named("lost", "back", protocols=("share",)) <= down.keys()
    assert "it was in use for 100% of the " in down["lost-share"]["message"]


def test_it_ends_with_the_first_member_with_its_deletion_and_with_a_waiver(lost: LostGroups, tmp_path: Path) -> None:
    down = of_copy(lost, "back", tmp_path, WAIVER)
    assert down.keys() == named("lost")
    assert {group for group, row in down.items() if row["waived_until_time"]} == {"lost-classic"}


def test_it_ends_when_the_broker_has_deleted_its_offsets(lost: LostGroups, tmp_path: Path) -> None:
    assert of_copy(lost, "expired", tmp_path) == {}
