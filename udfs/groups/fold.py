"""Replays all groups of one offsets partition, or of a slice of it, in log order, from where the last run ended."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from schemas.words.history import AnomalyKind, LeaveKind, OwnershipEnd, Severity, StateEnd
from udfs.groups import conversions
from udfs.groups.classic import classic_groups
from udfs.groups.history.ledger import Ledger
from udfs.groups.history.rows import RowsByTable
from udfs.groups.modern import modern_groups, notes, state_json
from udfs.groups.readers.classic_columns import TYPE
from udfs.groups.readers.pause_collector import uncollected
from udfs.groups.readers.records import ImpossibleLog, Moment, Record
from udfs.groups.states.classic import Classic
from udfs.groups.states.group import Context, Group
from udfs.groups.states.holders import Holders
from udfs.groups.states.modern import Modern

# By record type, for values and tombstones. It changes only the group's current state.
HANDLERS: Mapping[int, Callable[[Group, Record], None]] = {
    TYPE: classic_groups.take,
    **dict.fromkeys(notes.NOTES, notes.take),
}
# A state has no cycles, so the encoder need not look for them.
as_json = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


class KnownPeriod(NamedTuple):
    """A period in which the log has records of a group."""

    since: Moment
    # None: still.
    until: Moment | None


class Fold:
    def __init__(self, context: Context, states: Mapping[str, str]) -> None:
        """`states`: of groups that may get records, by group id, as `finish` returned them."""
        self.context = context
        self.states = states
        self.groups: dict[str, Group] = {}
        # For each group, when it existed, in this run and at the end of earlier ones.
        self.known: dict[str, list[KnownPeriod]] = {}
        # The newest operation of each group, which may continue.
        self.held: dict[str, list[Record]] = {}

    @uncollected()
    def take(self, records: Iterable[tuple[str, Record]]) -> None:
        """Takes a chunk of the log, in log order."""
        held = self.held
        for group_id, record in records:
            operation = held.get(group_id)
            if operation is None:
                held[group_id] = [record]
            elif operation[0].batch == record.batch and operation[0].time == record.time:
                operation.append(record)
            else:
                self.apply(group_id, operation)
                held[group_id] = [record]

    def hole(self, last_offset: int, last_time: int | None) -> None:
        """Records after this offset are missing. Everything known ends here."""
        self.settle_held()
        for group_id in {**self.states, **self.groups}:
            group = self.group(group_id)
            time = group.time if last_time is None else max(last_time, group.time or last_time)
            at = Moment(last_offset, time)
            if isinstance(group.now, Modern):
                modern_groups.hole(group, at)
            ends = (StateEnd.COVERAGE_HOLE, LeaveKind.COVERAGE_HOLE, OwnershipEnd.COVERAGE_HOLE)
            group.ledger.end_all(at, *ends, is_exact=False)
            group.now = None
            self.note(group_id, at)

    @uncollected()
    def finish(self, open_rows: RowsByTable) -> dict[str, str]:
        """Returns the states of all groups that had records, and adds open intervals to `open_rows`."""
        self.settle_held()
        for group in self.groups.values():
            if isinstance(group.now, Classic):
                classic_groups.confirm(group, group.now)
            group.ledger.open_rows(open_rows)
            if isinstance(group.now, Modern):
                modern_groups.open_rows(group, open_rows)
        return {group_id: self.state(group) for group_id, group in self.groups.items()}

    @property
    def existence(self) -> dict[str, list[KnownPeriod]]:
        """For each group in `states` or in records: the last period in which earlier runs knew it, then those of this
        run."""
        untouched = {
            group_id: state for group_id, state in self.states.items() if state and group_id not in self.groups
        }
        return {**{group_id: known_of(json.loads(state)) for group_id, state in untouched.items()}, **self.known}

    def settle_held(self) -> None:
        for group_id, operation in self.held.items():
            self.apply(group_id, operation)
        self.held.clear()

    def apply(self, group_id: str, operation: list[Record]) -> None:
        group = self.groups.get(group_id) or self.group(group_id)
        before = group.now
        for record in operation:
            at = group.moment(record)
            if record.left_out is not None:
                line = f"ignored negative partition numbers, which no topic has: {record.left_out}"
                group.anomaly(record, AnomalyKind.NEGATIVE_PARTITION, Severity.WARNING, line)
        handlers = [HANDLERS[record.type] for record in operation]
        try:
            for record, handler in zip(operation, handlers, strict=True):
                handler(group, record)
            settle(group, before, operation, at)
        except ImpossibleLog as why:
            # No content of a log may end the run: the anomaly names the records, and the replay continues. Any other
            # error is one of this program.
            first = operation[0].offset
            group.anomaly(operation[-1], AnomalyKind.IMPOSSIBLE_ORDER, Severity.CRITICAL, str(why), first)
        if (before is None) != (group.now is None):
            self.note(group_id, at)

    def note(self, group_id: str, at: Moment) -> None:
        """Records that the group began or ceased to exist."""
        spans = self.known.setdefault(group_id, [])
        if self.groups[group_id].now is not None:
            spans.append(KnownPeriod(at, None))
        elif spans and spans[-1].until is None:
            spans[-1] = KnownPeriod(spans[-1].since, at)

    def group(self, group_id: str) -> Group:
        group = self.groups.get(group_id)
        if group is None:
            group = self.groups[group_id] = self.restore_group(group_id, self.states.get(group_id))
        return group

    def restore_group(self, group_id: str, state: str | None) -> Group:
        rows, topics = self.context.rows, self.context.topics
        if not state:
            return Group(group_id, self.context, Ledger(group_id, rows))
        plain = json.loads(state)
        now: Classic | Modern | None = None
        if plain["kind"] is not None:
            read = Classic.from_plain if plain["kind"] == "classic" else state_json.from_plain
            now = read(plain["now"], topics)
        self.known[group_id] = known_of(plain)
        ledger = Ledger.from_plain(group_id, rows, plain["ledger"], topics)
        if isinstance(now, Modern):
            now.holders = Holders.of(ledger.stretches())
        return Group(
            group_id=group_id, context=self.context, ledger=ledger, time=plain["time"], seen=plain["seen"], now=now
        )

    def state(self, group: Group) -> str:
        topics, now = self.context.topics, group.now
        kind, plain = None, None
        if isinstance(now, Classic):
            kind, plain = "classic", now.plain(topics)
        elif isinstance(now, Modern):
            kind, plain = "modern", state_json.plain(now, topics)
        spans = self.known.get(group.group_id)
        return as_json(
            {
                "kind": kind,
                "now": plain,
                "ledger": group.ledger.plain(topics),
                "time": group.time,
                "seen": group.seen,
                "known": spans[-1] if spans else None,
            }
        )


def known_of(state: dict[str, Any]) -> list[KnownPeriod]:
    if state["known"] is None:
        return []
    since, until = state["known"]
    return [KnownPeriod(Moment(*since), None if until is None else Moment(*until))]


def settle(group: Group, before: Classic | Modern | None, operation: list[Record], at: Moment) -> None:
    """Chooses by the group's type before and after the operation."""
    now = group.now
    if not isinstance(before, Modern) and not isinstance(now, Modern):
        classic_groups.settle(group, before, operation, at)
    elif before is None or now is None or before.group_type == now.group_type:
        # Not Classic: the other one is None or of the same type.
        assert not isinstance(before, Classic)
        modern_groups.settle(group, before, operation, at)
    else:
        if isinstance(before, Classic):
            # Intervals that are converted end with the last record of the classic group, whether or not a run ended in
            # between.
            classic_groups.confirm(group, before)
        conversions.settle(group, before, operation, at)
