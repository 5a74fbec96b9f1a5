"""`[burrow] expire_group_s` above 7 days: commits as old as that count in a run that goes on, as in one from the
beginning."""

from pathlib import Path
from typing import Any

import pytest

from tests.builders.logs.by_hand import commit, write_log, write_snapshot
from tests.runs.ingested import ingest, rows
from tests.runs.replayed_logs import replay, result_of

DAY = 86_400


def verdicts(warehouse: Path) -> dict[tuple[str, int | None], tuple[str, str]]:
    """As of the newest time."""
    result: list[dict[str, Any]] = rows(warehouse, "group_verdicts")
    newest = max(row["as_of_time"] for row in result)
    return {
        (row["group_id"], row["partition"]): (row["burrow_verdict"], row["burrow_rule"])
        for row in result
        if row["as_of_time"] == newest
    }


@pytest.mark.parametrize(
    ("days", "partition", "group"),
    [(30, ("STOP", "silent"), ("ERR", "worst_partition")), (19, ("OK", "no_commits"), ("NOTFOUND", "no_group"))],
)
def test_a_commit_of_twenty_days_ago_counts_for_thirty(
    tmp_path: Path, days: int, partition: tuple[str, str], group: tuple[str, str]
) -> None:
    """It committed offset 7 of 9, and nothing since; another group shows that the log goes on."""
    config = tmp_path / "groupscope.toml"
    config.write_text(f"[burrow]\nexpire_group_s = {days * DAY}\n")
    warehouse, about = tmp_path / "w", ("--config", str(config))
    log = [
        commit("gone", "orders", 0, 10),
        commit("there", "orders", 0, 19 * DAY),
        commit("there", "orders", 0, 20 * DAY),
    ]
    # When the last run begins the first 19 days are settled.
    for number, (events, at) in enumerate(((log[:1], 20), (log[:2], 19 * DAY + 1), (log, 20 * DAY + 1))):
        for place, seconds in enumerate((1, at)):
            write_snapshot(tmp_path / f"{number}-{place}.jsonl", seconds, {"orders": 1})
        source = write_log(tmp_path / f"log-{number}", {0: events})
        ingest(warehouse, "--source", source, "--snapshots", str(tmp_path / f"{number}-*.jsonl"), *about)
        replay(warehouse, *about)
        result_of("lag", warehouse, *about)
    went_on = verdicts(warehouse)
    assert (went_on["gone", 0], went_on["gone", None]) == (partition, group)
    result_of("lag", warehouse, "--full", *about)
    assert verdicts(warehouse) == went_on
