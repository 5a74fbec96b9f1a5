"""A real broker whose log names topics of targets by id alone: what numbers of partitions and records of share state
say about them, and that a topic stays one topic when a snapshot gives the id that its commits do not."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from tests.kafka.live_broker import KeptLog
from tests.kafka.unnamed_topics import unnamed_topics_of
from tests.runs.ingested import ingest, rows
from tests.runs.replayed_logs import replay, result_of

pytestmark = pytest.mark.broker

COUNTED: Final = ("partition_counts", "likely")
LISTED: Final = ("record", "certain")


@pytest.fixture(scope="module")
def kept() -> KeptLog:
    return unnamed_topics_of()


@pytest.fixture(scope="module")
def ids(kept: KeptLog) -> dict[str, str]:
    """As the broker told the admin client."""
    last = json.loads(kept.snapshots.read_text().splitlines()[-1])
    return {each["topic"]: each["topic_id"] for each in last["topics"]}


@pytest.fixture(scope="module")
def warehouse(kept: KeptLog, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unnamed") / "w"
    ingest(folder, "--source", f"segments:{kept.log_dir}")
    replay(folder)
    return folder


def test_ids_of_topics_of_different_sizes_are_named(warehouse: Path, ids: dict[str, str]) -> None:
    found = {row["topic"]: (row["topic_id"], row["source"], row["confidence"]) for row in rows(warehouse, "topics")}
    later = found.pop("later")
    # It was created after the last snapshot.
    assert (later[0] not in ids.values(), later[1:]) == (True, LISTED)
    assert found == {
        "wide": (ids["wide"], *COUNTED), "narrow": (ids["narrow"], *COUNTED), "growing": (ids["growing"], *LISTED),
        # Of the same size: either may be the other.
        "left": (None, "commit", "certain"), "right": (None, "commit", "certain"),
    }  # fmt: skip


def test_partitions_whose_share_state_begins_are_why_the_hash_changed(warehouse: Path) -> None:
    """The first member joined before its first topic had share state."""
    of_group = [row for row in rows(warehouse, "rebalances") if row["group_id"] == "sharing"]
    ordered = sorted(of_group, key=lambda row: row["assignment_offset"])
    assert [(row["trigger_detail"], row["confidence"]) for row in ordered[1:]] == [
        ("topic growing share state initialized, 2 partitions", "certain"),
        ("share state of partitions 2 to 4 of topic growing is being set up", "certain"),
        ("growing 2 → 5 partitions", "certain"),
        ("share state of partitions 0 to 2 of topic later is being set up", "certain"),
        ("topic later share state initialized, 3 partitions", "certain"),
    ]


@pytest.mark.in_order
def test_a_topic_is_one_row_a_day_before_and_after_it_is_committed(
    kept: KeptLog, warehouse: Path, ids: dict[str, str]
) -> None:
    """One snapshot is from before the first commits, which name no id, and one from after them."""
    ingest(warehouse, "--snapshots", kept.snapshots)
    replay(warehouse)
    result_of("lag", warehouse)
    for table in ("lag_days", "consumption_rates"):
        found: dict[Any, set[str | None]] = {}
        for row in rows(warehouse, table):
            found.setdefault((row["group_id"], row["topic"]), set()).add(row["topic_id"])
        groups = {"unequal": ("wide", "narrow"), "equal": ("left", "right")}
        assert found == {(group, name): {ids[name]} for group, names in groups.items() for name in names}, table
