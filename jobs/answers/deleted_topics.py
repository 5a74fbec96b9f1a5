"""Topics that were deleted, by the rows of `topics`."""

from collections.abc import Mapping, Sequence
from typing import Any

COLUMNS = ["topic", "is_provisional"]


def deleted_topics(rows: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """Names of topics that no longer exist. A recreated topic has another row."""
    return frozenset(row["topic"] for row in rows) - {row["topic"] for row in rows if row["is_provisional"]}
