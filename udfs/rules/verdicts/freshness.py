"""The freshness objectives of groups from the settings, by patterns of group ids."""

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Objective:
    """The time lag that groups whose whole id matches must not exceed."""

    pattern: str
    seconds: int


def objective_ms(objectives: Sequence[Objective], group_id: str) -> int | None:
    """The strictest of those that match; None: there is none."""
    matching = [each.seconds for each in objectives if re.fullmatch(each.pattern, group_id)]
    return min(matching) * 1000 if matching else None
