"""Partitions of a classic group that two members were assigned, or claim to own, at the same time."""

from collections.abc import Iterable

from schemas.words.history import AnomalyKind, Severity
from udfs.groups.classic.rounds import Round
from udfs.groups.readers.classic_records import NOTHING, Tps
from udfs.groups.states.kip429_sets import GroupSets


def names_of(round_: Round, tps: Iterable[int]) -> str:
    return ", ".join(sorted(map(round_.group.context.topics.partition_text, tps)))


def check_claims(round_: Round, sets: GroupSets) -> None:
    members = round_.now.value.members
    if not sets.is_disjoint:
        for tp, ids in shared_by({member.member_id: member.assigned or NOTHING for member in members}).items():
            two_owners(round_, f"{names_of(round_, [tp])} was assigned to {' and '.join(ids)}")
    if not sets.claimed or sum([len(member.claimed or ()) for member in members]) == len(sets.claimed):
        return
    # A claim of an older generation does not count. Two claims of the same generation are a conflict.
    for generation in {member.generation_id for member in members if member.claimed}:
        of_one = {each.member_id: each.claimed or NOTHING for each in members if each.generation_id == generation}
        for tp, ids in shared_by(of_one).items():
            two_owners(round_, f"{names_of(round_, [tp])} was claimed by {' and '.join(ids)}", Severity.WARNING)


def shared_by(sets: dict[str, Tps]) -> dict[int, list[str]]:
    by_tp: dict[int, list[str]] = {}
    for member_id, tps in sorted(sets.items()):
        for tp in tps:
            by_tp.setdefault(tp, []).append(member_id)
    return {tp: ids for tp, ids in sorted(by_tp.items()) if len(ids) > 1}


def two_owners(round_: Round, line: str, severity: Severity = Severity.CRITICAL) -> None:
    round_.group.anomaly(round_.record, AnomalyKind.TWO_OWNERS, severity, line)
