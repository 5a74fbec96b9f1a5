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

# The rules of own_verdict that find a silence, by what is silent as a whole.
OF_GROUP, OF_MEMBER, OF_PARTITIONS = "group_silent", "member_silent", str(OwnRule.SILENT)


def silences(history: History, group: str) -> Iterator[Event]:
    """One of the whole group, or else one for each owner of silent partitions."""
    verdicts = partition_verdicts(history, group, None)
    if verdicts.as_of is None:
        return
    rows = [*verdicts.of_partitions.values()]
    if any(is_by(row, OF_GROUP) for row in (*verdicts.of_groups.values(), *rows)):
        yield silence(rows, all_of(len(rows)), verdicts.as_of)
        return
    owners = owners_at(history, group, verdicts.as_of)
    by_owner: dict[tuple[str, str | None], list[Row]] = {}
    for row in rows:
        if is_by(row, OF_MEMBER, OF_PARTITIONS):
            by_owner.setdefault((row["rule"], owners.get(place(row))), []).append(row)
    for (_, owner), silent in by_owner.items():
        is_whole = len(silent) == len(rows)
        where = all_of(len(rows)) if is_whole else f"{len(silent)} of {len(rows)} partitions"
        of_owner = "" if owner is None else f" of member {owner}"
        named = "" if is_whole else f": {assignment_text(map(place, silent))}"
        yield silence(silent, f"{where}{of_owner}", verdicts.as_of, named)


def is_by(row: Row, *rules: str) -> bool:
    return row["own_verdict"] == LagVerdict.STOP and row["rule"] in rules


def all_of(number: int) -> str:
    return "its only partition" if number == 1 else f"all {number} partitions"


def owners_at(history: History, group: str, at: datetime) -> dict[tuple[str, int], str]:
    """By topic, or topic id, and partition."""
    rows = history.rows_at("ownership_intervals", at, equal("group_id", group))
    return {place(row): row["member_id"] for row in rows if row["phase"] != OwnershipPhase.HELD}


def silence(rows: Sequence[Row], where: str, as_of: datetime, named: str = "") -> Event:
    """None of these partitions was committed after the newest of their last commits."""
    times = [row["last_commit_time"] or row["since_time"] for row in rows]
    start = max((time for time in times if time is not None), default=None)
    newest = max(rows, key=lambda row: int(row["evidence_last_offset"]))
    lags = [row["lag_floor"] for row in rows if row["lag_floor"] is not None]
    waiting = f"; {counted(sum(lags), 'message')} {'waits' if sum(lags) == 1 else 'wait'}" if lags else ""
    since = "" if start is None else f" since {clock_text(start, as_of)}"
    return Event(
        kind=TimelineKind.SILENCE,
        start=start,
        end=None,
        offset=newest["evidence_last_offset"],
        detail=f"no commit{since}{waiting}; in {where}{named}",
        row=newest,
        confidence=newest["confidence"],
    )
