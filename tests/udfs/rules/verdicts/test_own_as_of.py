"""Our own verdict as of a time: only what was in the log by that time counts, and the window ends there."""

from typing import Any

import pytest

from tests.builders.tables.measured import verdict_rows
from tests.builders.tables.own_verdicts import EMPTY, MEMBER, NOW, RISING, every, judged, left_at
from tests.builders.tables.verdict_history import Row, committed, ends, history
from udfs.rules.verdicts.burrow_evaluation import BurrowRules
from udfs.rules.verdicts.own_verdict import OwnRules

# As of


def test_nothing_after_the_time_counts() -> None:
    early, late = every(2, 2000, 2990, 1500, 1), every(2, 4001, 4101, 4990, 0)
    given = committed(*early, *late)
    states = [{"to_time": 4100, "to_record_offset": 900, "ended_by": "next_state"},
              {"state": "Empty", "num_members": 0, "from_time": 4100, "from_record_offset": 900}]  # fmt: skip
    members = [{"subscribed_topics": ["t"]}, {"assignment_offset": 900, "subscribed_topics": ["u"]}]
    row = judged(**given, ends=[*RISING, *ends((4050, 9000))], group_state_intervals=states, generation_members=members)
    assert (
        row["reason"] == "no commit of the whole group for 16 min 50 s, since 1970-01-01T00:49:50Z, "
        "before that one every 2 s; 2,995 messages to read"
    )


def test_a_value_that_is_committed_on_after_the_time_was_committed_last_before_it() -> None:
    row = judged(**committed(*every(10, 1500, 4500, 1000)), ends=RISING)
    assert (row["last_commit_time"].timestamp(), row["rule"]) == (4000, "stands_still")


@pytest.mark.parametrize(("second", "rule"), [(399, "not_in_use"), (400, "caught_up")])
def test_a_group_without_members_is_in_use_by_its_commits_of_the_window(second: int, rule: str) -> None:
    row = judged(**committed((second, 4990)), ends=RISING, group_state_intervals=EMPTY)
    assert row["rule"] == rule


@pytest.mark.parametrize(("second", "rule"), [(399, "too_few"), (400, "keeps_up")])
def test_a_snapshot_at_the_begin_of_the_window_counts(second: int, rule: str) -> None:
    given = {**committed((390, 10), (3950, 4000)), "ends": ends((second, 1000), (3990, 4990))}
    assert judged(**given)["rule"] == rule


@pytest.mark.parametrize(("second", "is_rewound"), [(400, False), (401, True)])
def test_a_rewind_within_the_window_counts(second: int, is_rewound: bool) -> None:
    row = judged(**committed((300, 100), (second, 50)), ends=RISING)
    assert (row["rule"] == "rewound") is is_rewound


@pytest.mark.parametrize(("second", "rule"), [(400, "not_in_use"), (401, "caught_up")])
def test_a_group_without_members_is_in_use_by_the_members_that_it_had_in_the_window(second: int, rule: str) -> None:
    row = judged(**committed((300, 4990)), ends=RISING, group_state_intervals=left_at(second))
    assert row["rule"] == rule


@pytest.mark.parametrize(("ended", "last_commit"), [(NOW, 3999), (NOW + 1, 2990)])
def test_a_transaction_that_ends_at_the_very_time_has_committed(ended: int, last_commit: int) -> None:
    given = committed(*every(2, 2000, 2990, 1500, 1))
    given["commits"] += [
        {"record_offset": 9000, "record_time": 3999, "commit_time": 3999, "committed_offset": 4000,
         "is_transactional": True, "producer_id": 3}
    ]  # fmt: skip
    transactions = [{"producer_id": 3, "first_offset": 9000, "outcome": "committed", "end_time": ended}]
    given["offset_history"][-1] |= {
        "to_time": ended,
        "to_record_offset": 9001,
        "ended_by": "commit",
        "is_provisional": False,
    }
    # A row that ends later shows when it was committed last.
    held = {"from_time": ended, "from_record_offset": 9001, "committed_offset": 4000, "last_commit_time": NOW + 50}
    given["offset_history"].append(held | {"commit_time": 3999, "via": "transaction"})
    row = judged(**given, transactions=transactions, ends=RISING)
    assert row["last_commit_time"].timestamp() == last_commit


@pytest.mark.parametrize("most", [1, 1 << 20])
def test_a_partition_is_judged_by_its_own_snapshots_whatever_others_there_are(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """Of some there are few snapshots, or none in the window; lags are worked out in pieces of so many."""
    monkeypatch.setattr("udfs.rules.verdicts.window_lags.MOST_SNAPSHOTS", most)
    seen = {0: (100, 1000, 2000, 3000, 3990), 1: (2000, 3000, 3990), 2: (3990,), 3: (100, 1000, 2000, 3000, 3990)}
    rise = {0: 10, 1: 10, 2: 10, 3: -1}
    alone = {}
    for number, times in seen.items():
        steps = committed(*every(10, 100, 3990, 5, rise=1), first_offset=100 + 1000 * number, partition=number)
        points = ends(*((time, 5 + time // 10 + 500 + rise[number] * time // 100) for time in times), partition=number)
        alone[number] = {**steps, "ends": points}
    together = {name: [row for given in alone.values() for row in given[name]] for name in alone[0]}
    together["commits"].sort(key=lambda row: int(row["record_offset"]))
    states: dict[str, Any] = {"group_state_intervals": MEMBER}
    rows = verdict_rows(history(NOW, **together, **states), BurrowRules(), OwnRules()).to_pylist()
    result = {row["partition"]: (row["own_verdict"], row["rule"], row["reason"]) for row in rows}
    for number, given in alone.items():
        row = judged(**given)
        assert result[number] == (row["own_verdict"], row["rule"], row["reason"])
    assert [result[number][1] for number in seen] == ["falls_behind", "falls_behind", "too_few", "keeps_up"]
    assert result[1][2].endswith("(3 snapshots)")


@pytest.mark.parametrize(("known_until", "shown"), [(3950, "(3 snapshots)"), (3990, "(4 snapshots)")])
def test_a_trend_ends_where_the_log_does(known_until: int, shown: str) -> None:
    """Lag at later snapshots rests on commits that may be missing."""
    covered: list[Row] = [{"first_offset": 0, "from_time": 0, "to_time": known_until}]
    row = judged(**committed(*every(10, 100, 3990, 100, rise=1)), ends=RISING, history_coverage=covered)
    assert (row["rule"], row["reason"].endswith(shown)) == ("falls_behind", True), row["reason"]
