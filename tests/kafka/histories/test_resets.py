"""Who can set offsets of a group, by real brokers."""

from pathlib import Path

import pytest

from jobs.output.rows import json_text
from tests.builders.warehouses.replayed_segments import command
from tests.kafka.broker import running
from tests.kafka.live_broker import ingest_live, play
from tests.kafka.releases import NEWEST
from tests.runs.ingested import rows

pytestmark = pytest.mark.broker

GROUPS = {f"by-{who}-{protocol}" for who in ("admin", "program") for protocol in ("classic", "consumer")}
WRITTEN = ("topic", "partition", "committed_offset", "leader_epoch", "metadata", "is_transactional", "value_version")


def test_nothing_in_the_log_tells_an_admin_from_a_program_that_commits_for_itself(tmp_path: Path) -> None:
    """Both set three partitions of two topics back at once, one of them with a leader epoch and metadata. While the
    groups had members, the broker refused the admin: the program that plays this would have failed otherwise."""
    warehouse = tmp_path / "warehouse"
    (tmp_path / "broker").mkdir()
    with running(NEWEST, tmp_path / "broker") as broker:
        play(broker, tmp_path / "played", "Commits.setBack")
        ingest_live(warehouse, broker)
    for step in ("replay", "lag"):
        command(warehouse, step)
    commits = rows(warehouse, "offset_commits")
    newest = {group: written(commits, group) for group in GROUPS}
    assert len({json_text(sorted(each)) for each in newest.values()}) == 1
    resets = rows(warehouse, "offset_resets")
    assert {row["group_id"] for row in resets} == GROUPS
    for group in GROUPS:
        of_group = [row for row in resets if row["group_id"] == group]
        assert {(row["topic"], row["actor"], row["num_members"]) for row in of_group} == {
            ("orders", "unknown", 0),
            ("returns", "unknown", 0),
        }
        assert len({row["at_time"] for row in of_group}) == 1


def written(commits: list[dict[str, object]], group: str) -> list[list[object]]:
    """The last three records of the group, which are one batch."""
    of_group = sorted(
        (row for row in commits if row["group_id"] == group), key=lambda row: int(str(row["record_offset"]))
    )
    last = of_group[-3:]
    assert len({row["batch_first_offset"] for row in last}) == 1
    return [[row[name] for name in WRITTEN] for row in last]
