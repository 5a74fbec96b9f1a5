"""Words with what each means: code takes the values from here, the view v_enums and the docs the meanings.

A member is `value: meaning`, and an enumeration names the columns that have its values:

    class StormKind(Meant, of="v_rebalance_storms.kind"):
        STORM = "storm: A client left and came back again and again."

Of tables without a column, the next column to the right is meant: `of="transactions, findings.confidence"`.
"""

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from importlib import import_module
from typing import ClassVar

# Modules beside this one.
SUBJECTS = ("assignments", "gate", "history", "lag", "records")
# All of these have a type of group in `group_type`, and how sure a row is in `confidence`.
OF_GROUPS = """group_state_intervals, membership_intervals, ownership_intervals, rebalances, generation_members,
    partition_moves, assignment_audit, assignment_whatif, assignor_upgrades, lag_points, lag_days, lag_minutes,
    consumption_rates, group_verdicts, offset_resets, odd_commits, expiry_forecast"""
MODERN_TABLES = """group_metadata, group_member_metadata, target_assignment_metadata, target_assignment_members,
    current_member_assignments, group_partition_metadata"""
# A command whose lines are rows of no table.
TIMELINE = "groupscope rebalances"
# The state of the client-side assignment proposal that a value is about. Initialize, while a coordinator loads, leaves
# no record but a higher epoch in coordinator_epochs.
PROPOSAL_STATES: Mapping[tuple[str, str], str] = {
    ("state", "Empty"): "Stable (no members)",
    ("state", "Stable"): "Stable (active)",
    ("state", "PreparingRebalance"): "Joining",
    ("state", "CompletingRebalance"): "AwaitingSync",
    ("ended_by", "deleted"): "Down",
}


class Meant(StrEnum):
    meaning: str
    places: ClassVar[tuple[tuple[str, str], ...]]

    def __new__(cls, said: str) -> "Meant":
        words, sentence = " ".join(said.split()).split(": ", 1)
        value = re.split("[,{]", words)[0]
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = sentence
        return member

    def __init_subclass__(cls, of: str) -> None:
        super().__init_subclass__()
        cls.places = tuple(columns_in(of))


def columns_in(said: str) -> Iterator[tuple[str, str]]:
    tables = []
    for each in said.split(","):
        table, _, column = each.strip().partition(".")
        tables.append(table)
        if column:
            yield from ((table, column) for table in tables)
            tables = []


def enumerations() -> list[type[Meant]]:
    modules = (import_module(f"schemas.words.{subject}") for subject in SUBJECTS)
    classes = (each for module in modules for each in vars(module).values() if isinstance(each, type))
    return [each for each in dict.fromkeys(classes) if issubclass(each, Meant) and each is not Meant]


def rows() -> Iterator[tuple[str, str, Meant]]:
    """Table, column and value, but for those that cannot be there."""
    modern = {(*place, "classic") for place in columns_in(f"{MODERN_TABLES}.group_type")}
    impossible = {*modern, ("assignment_whatif", "group_protocol", "streams")}
    for enumeration in enumerations():
        for table, column in enumeration.places:
            yield from ((table, column, each) for each in enumeration if (table, column, each.value) not in impossible)


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def value_rows() -> str:
    """What is none is an empty text until it is read: NULL alone has no type that every engine knows."""
    lines = []
    for table, column, value in rows():
        of_proposal = PROPOSAL_STATES.get((column, value.value), "") if table == "group_state_intervals" else ""
        cells = (table, column, value.value, value.meaning, of_proposal)
        lines.append(f"  ({', '.join(map(literal, cells))})")
    return ",\n".join(lines)
