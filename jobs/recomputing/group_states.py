"""Reads the state of groups that earlier runs stored, each fold's own part, only for the groups that it meets."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

PARTS = ("classic", "modern", "upgrades")


class GroupStates:
    """`texts`: by group id, as in recomputed_groups."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts
        self.read: dict[str, dict[str, Any]] = {}

    def of(self, group_id: str) -> dict[str, Any]:
        if group_id not in self.read:
            self.read[group_id] = json.loads(self.texts[group_id]) if group_id in self.texts else {}
        return self.read[group_id]

    def texts_after(self, states: Mapping[str, Mapping[str, Any]]) -> dict[str, str | None]:
        """`states`: by part, for the groups that its fold met. None: nothing is left to remember."""
        texts: dict[str, str | None] = {}
        for group_id in sorted({group_id for each in states.values() for group_id in each}):
            before = self.of(group_id)
            parts = {part: each[group_id] if group_id in each else before.get(part) for part, each in states.items()}
            kept = {part: state for part, state in parts.items() if state is not None}
            texts[group_id] = json.dumps(kept, separators=(",", ":")) if kept else None
        return texts


class PartOfStates(Mapping[str, Any]):
    """For groups that have this part."""

    def __init__(self, states: GroupStates, part: str) -> None:
        self.states, self.part = states, part

    def __getitem__(self, group_id: str) -> Any:
        return self.states.of(group_id)[self.part]

    def __iter__(self) -> Iterator[str]:
        return (group_id for group_id in self.states.texts if self.part in self.states.of(group_id))

    def __len__(self) -> int:
        return sum(1 for _ in self)
