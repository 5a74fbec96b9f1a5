"""Which groups the report is about."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from jobs.reporting.rows.listings import Row


@dataclass(frozen=True)
class GroupChoice:
    """Patterns that are found anywhere in a name, as those of `gate`."""

    group: str | None = None
    exclude_group: str | None = None

    def takes(self, group_id: str | None) -> bool:
        """What is about no group is about all."""
        if group_id is None:
            return True
        is_wanted = self.group is None or re.search(self.group, group_id) is not None
        return is_wanted and not (self.exclude_group is not None and re.search(self.exclude_group, group_id))

    def rows(self, rows: Iterable[Row]) -> list[Row]:
        return [row for row in rows if self.takes(row.get("group_id"))]

    @property
    def words(self) -> str | None:
        parts = [
            None if self.group is None else f"groups that match {self.group}",
            None if self.exclude_group is None else f"without groups that match {self.exclude_group}",
        ]
        return ", ".join(filter(None, parts)) or None
