"""Whose rules a replay followed, in words, for the page of a run."""

from collections.abc import Mapping, Sequence
from typing import Any

from udfs.log.release_lines import LINES, SIGNS, TODAY


def rules_text(progress: Sequence[Mapping[str, Any]], release: str) -> str:
    """`progress`: of each offsets partition, its `line_spans` and `release_signs`. `release`: the setting."""
    names = lines_in(progress)
    of = ", ".join(f"of {name}" for name in names)
    if release:
        return f'{of}: setting release = "{release}"'
    if len(names) > 1:
        return f"{of}: each where the records show it"
    signs = {each["name"] for row in progress for each in row["release_signs"] or ()}
    is_shown = names != [TODAY.name] or any(SIGNS[each][0] >= (4, 3) for each in signs)
    return f"{of}: {'the records show it' if is_shown else 'no record shows an earlier one'}"


def lines_in(progress: Sequence[Mapping[str, Any]]) -> list[str]:
    """In the order of releases. An offsets partition without records of commits or groups shows none."""
    spans = [row["line_spans"] or () for row in progress if row["release_signs"] or row["line_spans"]]
    used = {each["name"] for of_partition in spans for each in of_partition}
    used |= {TODAY.name for of_partition in spans if not of_partition or of_partition[0]["first_offset"] > 0}
    return [name for name in LINES if name in used] or [TODAY.name]
