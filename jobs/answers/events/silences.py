"""Silences of a group that last, by the newest verdicts: of the whole group, of a member, or of partitions whose member
goes on with others."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from jobs.answers.events.timeline import Event
from jobs.answers.history import History
from jobs.answers.states.members import assignment_text
from jobs.answers.table_reader import Row, equal
from jobs.answers.verdicts import partition_verdicts, place
from jobs.output.rows import clock_text
from schemas.words.history import OwnershipPhase, TimelineKind
from schemas.words.lag import LagVerdict, OwnRule
from udfs.sentences.counts import counted

# Partitions that the group does not read.
OF_NOBODY = (OwnRule.NOT_SUBSCRIBED, OwnRule.NOTHING_HELD)


def silences(history: History, group: str) -> Iterator[Event]:
    """One of the whole group, if all its partitions are silent; or else one for each owner of silent partitions."""
    verdicts = partition_verdicts(history, group, None)
    if verdicts.as_of is None:
        return
    rows = [row for row in verdicts.of_partitions.values() if row["rule"] not in OF_NOBODY]
    silent = [row for row in rows if is_by(row, OwnRule.MEMBER_SILENT, OwnRule.SILENT)]
    if len(silent) == len(rows) > 0 or any(is_by(row, OwnRule.GROUP_DOWN, OwnRule.GROUP_SILENT) for row in rows):
        where = "its only partition" if len(rows) == 1 else f"all {len(rows)} partitions"
        yield silence(rows, where, verdicts.as_of)
        return
    owners = owners_at(history, group, verdicts.as_of)
    by_owner: dict[tuple[str, str | None], list[Row]] = {}
    for row in silent:
        by_owner.setdefault((row["rule"], owners.get(place(row))), []).append(row)
    for (_, owner), some in by_owner.items():
        named = str(assignment_text(map(place, some)))
        where = named if len(some) == 1 else f"{len(some)} of {len(rows)} partitions"
        more = [] if owner is None else [f"member {owner}"]
        yield silence(some, where, verdicts.as_of, [*more, *([] if where == named else [named])])


def is_by(row: Row, *rules: str) -> bool:
    return row["own_verdict"] == LagVerdict.STOP and row["rule"] in rules


def owners_at(history: History, group: str, at: datetime) -> dict[tuple[str, int], str]:
    """By topic, or topic id, and partition."""
    rows = history.rows_at("ownership_intervals", at, equal("group_id", group))
    return {place(row): row["member_id"] for row in rows if row["phase"] != OwnershipPhase.HELD}


def silence(rows: Sequence[Row], where: str, as_of: datetime, more: Sequence[str] = ()) -> Event:
    """None of these partitions was committed after the newest of their last commits."""
    times = [row["last_commit_time"] or row["since_time"] for row in rows]
    start = max((time for time in times if time is not None), default=None)
    newest = max(rows, key=lambda row: int(row["evidence_last_offset"]))
    lags = [row["lag"] for row in rows if row["lag"] is not None and row["own_verdict"] == LagVerdict.STOP]
    waiting = [f"{counted(sum(lags), 'message')} {'waits' if sum(lags) == 1 else 'wait'}"] if lags else []
    since = "" if start is None else f" since {clock_text(start, as_of)}"
    return Event(
        kind=TimelineKind.SILENCE,
        start=start,
        end=None,
        offset=newest["evidence_last_offset"],
        detail="; ".join([f"no commit{since} in {where}, as of {clock_text(as_of, as_of)}", *waiting, *more]),
        row=newest,
        confidence=newest["confidence"],
    )
