"""Our own verdict of a history, asked at 4,000 s with a window of 3,600 s, so that it begins at 400 s."""

from typing import Any

from tests.builders.tables.measured import verdict_rows
from tests.builders.tables.verdict_history import Row, ends, history
from udfs.rules.verdicts.burrow_evaluation import BurrowRules
from udfs.rules.verdicts.own_verdict import OwnRules

NOW = 4000
# The group has had one member all the time; the group has never had one; it lost its last one at a time.
MEMBER: list[Row] = [{}]
EMPTY: list[Row] = [{"state": "Empty", "num_members": 0}]
OWNED: list[Row] = [{"from_time": 100}]
RISING = ends((100, 1000), (1000, 2000), (2000, 3000), (3000, 4000), (3990, 4990))


def left_at(time: int) -> list[Row]:
    gone = {"state": "Empty", "num_members": 0, "from_time": time, "from_record_offset": 50}
    return [{"to_time": time, "to_record_offset": 50, "ended_by": "next_state"}, gone]


def judged(rules: OwnRules = OwnRules(), **given: Any) -> Row:  # noqa: B008
    """The row of the one partition."""
    given.setdefault("group_state_intervals", MEMBER)
    partition, _ = verdict_rows(history(NOW, **given), BurrowRules(), rules).to_pylist()
    return dict(partition)


def every(gap: int, since: int, until: int, offset: int, rise: int = 0) -> list[tuple[float, int]]:
    return [(time, offset + rise * place) for place, time in enumerate(range(since, until + 1, gap))]


def outcome(**given: Any) -> tuple[str, str]:
    row = judged(**given)
    return row["own_verdict"], row["rule"]
