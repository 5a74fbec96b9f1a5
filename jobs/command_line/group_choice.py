"""The groups that `--group` and `--exclude-group` choose."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class GroupChoice:
    """Each is a regular expression that may match anywhere in a group id."""

    group: str | None = None
    exclude_group: str | None = None

    def has(self, group_id: str | None) -> bool:
        """True without a group: what is about no group is about all."""
        if group_id is None:
            return True
        is_wanted = self.group is None or re.search(self.group, group_id) is not None
        return is_wanted and not (self.exclude_group is not None and re.search(self.exclude_group, group_id))

    def rows(self, rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        return [row for row in rows if self.has(row.get("group_id"))]

    @property
    def words(self) -> str | None:
        parts = [
            None if self.group is None else f"groups that match {self.group}",
            None if self.exclude_group is None else f"without groups that match {self.exclude_group}",
        ]
        return ", ".join(filter(None, parts)) or None
