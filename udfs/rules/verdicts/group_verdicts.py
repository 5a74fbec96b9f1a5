"""Makes the rows of group_verdicts: every partition of every group by Burrow's rules and by ours, and each group as a
whole."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import chain, compress
from typing import Any

import numpy as np
import pyarrow as pa

from schemas.tables import TABLES
from schemas.words.history import Confidence
from schemas.words.lag import BurrowRule, LagVerdict, OwnRule
from schemas.words.records import GroupType
from udfs.arrays.arrow_schema import table_schema
from udfs.arrays.capped import capped
from udfs.arrays.nullable import Numbers, known_only
from udfs.arrays.texts import listed
from udfs.lag.as_of import NOWHERE, at
from udfs.lag.confidence import CERTAIN, LIKELY, POSSIBLE, are_possible, doubts, named, weakest
from udfs.lag.partition_history import PartitionHistory
from udfs.rules.facts.verdict_keys import KEY, UNNAMED, keyed_commits, keys_at
from udfs.rules.verdicts.absences import Life, share_groups_down
from udfs.rules.verdicts.burrow_evaluation import (
    VERDICT_OF,
    BurrowRules,
    confirmed_rules,
    group_rule,
    partition_rules,
    severity,
)
from udfs.rules.verdicts.burrow_windows import MILLISECOND, SECOND, BurrowWindows, burrow_windows, snapshot_rows
from udfs.rules.verdicts.freshness import Objective, objective_ms
from udfs.rules.verdicts.own_answers import own_answers
from udfs.rules.verdicts.own_facts import OwnFacts, ends_of
from udfs.rules.verdicts.own_verdict import OwnAnswer, OwnRules
from udfs.rules.verdicts.standings import OfAllKeys
from udfs.sentences.counts import counted

COLUMNS = tuple(column.name for column in TABLES["group_verdicts"].columns if column.name != "cluster")
SCHEMA = pa.schema([table_schema(TABLES["group_verdicts"]).field(name) for name in COLUMNS])
# What is said of a group as a whole and not of one of its partitions.
OF_GROUPS = (OwnRule.GROUP_DOWN, OwnRule.WENT_AWAY_UNSEEN, OwnRule.RETIRED)
# What our rules conclude from what is not in the log.
CONCLUDED = frozenset({
    OwnRule.NEVER_COMMITTED, OwnRule.GROUP_SILENT, OwnRule.MEMBER_SILENT, OwnRule.SILENT, OwnRule.STANDS_STILL,
    OwnRule.FALLS_BEHIND, OwnRule.GROUP_DOWN, OwnRule.RETIRED,
})  # fmt: skip


@dataclass(frozen=True)
class Partitions:
    """The rows of partitions by column, in the order of groups, topics and partitions."""

    group_id: list[str]
    group_type: list[str]
    topic: list[str | None]
    topic_id: list[str | None]
    partition: list[int]
    burrow_verdict: list[LagVerdict]
    burrow_rule: list[BurrowRule]
    own_verdict: list[LagVerdict]
    rule: list[OwnRule]
    reason: list[str]
    last_commit_time: list[int | None]
    since_time: list[int | None]
    lag: list[int | None]
    time_lag_ms: list[int | None]
    burrow_lag: list[int | None]
    burrow_complete: list[float]
    evidence_first_offset: list[int]
    evidence_last_offset: list[int]
    confidence: list[str]


class Verdicts:
    """Columns of GROUP_VERDICTS but `cluster`, at `as_of_time`: of partitions with a commit that holds, of owned ones
    and of those whose commits Burrow counts, and of their groups."""

    def __init__(self, burrow: BurrowRules, own: OwnRules, objectives: Sequence[Objective] = ()) -> None:
        self.burrow, self.own, self.objectives = burrow, own, objectives
        self.of_all = OfAllKeys()
        # Of each range of keys.
        self.names: list[pa.Table] = []
        self.columns: list[dict[str, list[Any]]] = []

    def facts_of(self, history: PartitionHistory) -> OwnFacts:
        keys = keys_at(history)
        snapshots = snapshot_rows(history.watermarks, keys, history.as_of_time)
        return OwnFacts.of(history, keys, keyed_commits(history, keys), snapshots, self.own)

    def look(self, history: PartitionHistory) -> None:
        self.of_all.add(history.once("own_facts", self.facts_of))

    def take(self, history: PartitionHistory) -> None:
        facts = history.once("own_facts", self.facts_of)
        snapshots = snapshot_rows(history.watermarks, facts.keys, history.as_of_time)
        by_burrow = burrow_windows(history, facts.keys, facts.commits, snapshots, self.burrow)
        is_shown = (facts.live >= 0) | (facts.owner >= 0) | facts.is_in_hole | (by_burrow.windows.sizes > 0)
        columns = columns_of_keys(facts, self.of_all, by_burrow, self.burrow)
        self.names.append(facts.keys.rows.select([*KEY]).filter(pa.array(is_shown)))
        self.columns.append({name: [*compress(values, is_shown)] for name, values in columns.items()})

    def rows(self, history: PartitionHistory) -> pa.Table:
        partitions = self.partitions()
        rows = {field.name: getattr(partitions, field.name) for field in fields(Partitions)}
        for start, stop in group_bounds(partitions.group_id):
            is_full = np.array(partitions.burrow_complete[start:stop]) == 1.0
            for name, value in group_row(partitions, start, stop, is_full).items():
                rows[name].append(value)
        for group, life, reason in share_groups_down(history, self.own):
            for name, value in share_group_row(group, life, reason).items():
                rows[name].append(value)
        size = len(rows["group_id"])
        asked = {group: objective_ms(self.objectives, group) for group in {*rows["group_id"]}}
        rows |= {
            "as_of_time": [history.as_of_time] * size, "evidence_partition": [history.offsets_partition] * size,
            "freshness_objective_ms": [asked[group] for group in rows["group_id"]],
        }  # fmt: skip
        table = pa.table([pa.array(rows[name], SCHEMA.field(name).type) for name in COLUMNS], schema=SCHEMA)
        return table.sort_by([(name, "ascending") for name in ("group_id", "topic", "partition")])

    def partitions(self) -> Partitions:
        """One of a key; in the order of the table."""
        names = pa.concat_tables(self.names)
        places = names.append_column("place", pa.array(np.arange(names.num_rows)))
        order = places.sort_by([(name, "ascending") for name in KEY]).column("place").to_pylist()
        columns = {field.name: [*chain(*(each[field.name] for each in self.columns))] for field in fields(Partitions)}
        if order == [*range(len(order))]:
            return Partitions(**columns)
        return Partitions(**{name: [values[place] for place in order] for name, values in columns.items()})


def columns_of_keys(
    facts: OwnFacts, of_all: OfAllKeys, by_burrow: BurrowWindows, burrow: BurrowRules
) -> dict[str, Sequence[Any]]:
    windows, names = by_burrow.windows, facts.keys.rows
    answers = own_answers(facts, of_all)
    now_s, log_until_s = facts.history.as_of_time // SECOND, facts.log_until // SECOND
    decided = partition_rules(windows, burrow, now_s)
    rules = confirmed_rules(decided, windows, now_s, log_until_s, facts.rules.least_time_lag_s).tolist()
    first, last = evidence(facts, by_burrow)
    return {
        "group_id": listed(names.column("group_id")),
        "group_type": [facts.groups.types[group] for group in facts.group.tolist()],
        "topic": listed(names.column("topic"), lambda topic: None if topic.startswith(UNNAMED) else topic),
        "topic_id": topic_ids(facts),
        "partition": names.column("partition").to_pylist(),
        "burrow_verdict": [VERDICT_OF[rule] for rule in rules],
        "burrow_rule": rules,
        "own_verdict": [answer.verdict for answer in answers],
        "rule": [answer.rule for answer in answers],
        "reason": [answer.reason for answer in answers],
        "last_commit_time": known_only(facts.last_commit, facts.live >= 0),
        "since_time": [answer.since for answer in answers],
        "lag": known_only(facts.lag, facts.lag != NOWHERE),
        "time_lag_ms": [None if lag is None else lag // MILLISECOND for lag in facts.time_lags()],
        "burrow_lag": known_only(windows.current_lags(), windows.sizes > 0),
        "burrow_complete": windows.complete().tolist(),
        "evidence_first_offset": first,
        "evidence_last_offset": last,
        "confidence": confidences(facts, answers),
    }  # fmt: skip


def topic_ids(facts: OwnFacts) -> list[str | None]:
    """Of the commit that holds, else of the owner."""
    of_live = texts_at(facts.keys.offsets, "topic_id", facts.live)
    of_owner = texts_at(facts.keys.owned, "topic_id", facts.owner)
    named = listed(facts.keys.rows.column("topic_id"))
    held = zip(facts.live.tolist(), of_live, facts.owner.tolist(), of_owner, named, strict=True)
    return [committed if live >= 0 else owned if owner >= 0 else name for live, committed, owner, owned, name in held]


def texts_at(table: pa.Table, name: str, rows: Numbers) -> list[str | None]:
    """None where there is no row: keys are few, and rows many."""
    return listed(table.column(name).take(pa.array(rows, mask=rows < 0)))


def evidence(facts: OwnFacts, by_burrow: BurrowWindows) -> tuple[list[int], list[int]]:
    """First and last record of the offset that holds, of its owner, and of the commits that Burrow counts."""
    commits, has_window = facts.commits, by_burrow.windows.sizes > 0
    newest = commits.bounds[1:] - 1
    has_repeat = (facts.live >= 0) & (newest >= commits.bounds[:-1])
    owned = at(facts.keys.owned.column("from_record_offset").to_numpy(), facts.owner, NOWHERE)
    # A key that is shown and neither held, owned nor counted is lost in a hole: its newest row says so.
    lost = np.full(facts.keys.size, NOWHERE)
    np.maximum.at(lost, facts.keys.of_offsets, facts.keys.offsets.column("from_record_offset").to_numpy())
    of_live = np.where(facts.live >= 0, facts.from_record_offset, NOWHERE)
    offsets = np.stack([
        of_live,
        np.where(has_repeat, np.maximum(at(commits.record_offset, newest, NOWHERE), of_live), NOWHERE),
        np.where(facts.live < 0, owned, NOWHERE),
        np.where(has_window, by_burrow.first_offsets, NOWHERE),
        np.where(has_window, by_burrow.last_offsets, NOWHERE),
        np.where(facts.is_in_hole, lost, NOWHERE),
    ])  # fmt: skip
    first = np.where(offsets == NOWHERE, np.iinfo(np.int64).max, offsets).min(axis=0)
    return first.tolist(), offsets.max(axis=0).tolist()


def confidences(facts: OwnFacts, answers: list[OwnAnswer]) -> list[str]:
    """As the offset that holds; what silence or a trend is concluded from is likely at best. Steps back and trends
    compare offsets of the whole window, so none of these may be surer than the others."""
    offsets = facts.keys.offsets
    doubt = at(doubts(offsets.column("confidence")), facts.live, CERTAIN)
    is_concluded = np.array([answer.rule in CONCLUDED for answer in answers], np.bool_)
    is_compared = are_possible(offsets) & (ends_of(offsets) > facts.since)
    doubt = np.maximum(doubt, np.where(is_concluded, LIKELY, CERTAIN))
    # A silence that may be none, since the log goes on.
    is_unseen = [
        answer.rule == OwnRule.WENT_AWAY_UNSEEN or (answer.rule == OwnRule.LOG_ENDED and answer.since is not None)
        for answer in answers
    ]
    doubt[is_unseen] = POSSIBLE
    doubt[facts.keys.of_offsets[is_compared]] = POSSIBLE
    return listed(pa.chunked_array([named(doubt)]))


def group_bounds(group_ids: list[str]) -> list[tuple[int, int]]:
    starts = [place for place, name in enumerate(group_ids) if not place or group_ids[place - 1] != name]
    return list(zip(starts, [*starts, len(group_ids)][1:], strict=True))


def group_row(of: Partitions, start: int, stop: int, is_full: Any) -> dict[str, Any]:
    """Of the group whose partitions are these rows."""
    # Burrow knows a partition only by the commits that it counts.
    num_counted = stop - start - of.burrow_lag[start:stop].count(None)
    burrow, burrow_rule = group_rule(of.burrow_verdict[start:stop], is_known=num_counted > 0)
    worst = of.own_verdict.index(max({*of.own_verdict[start:stop]}, key=severity), start)
    away = next((place for place in range(start, stop) if of.rule[place] in OF_GROUPS), None)
    counted_lags, lags, time_lags, commits = (
        [value for value in column[start:stop] if value is not None]
        for column in (of.burrow_lag, of.lag, of.time_lag_ms, of.last_commit_time)
    )
    of_worst = zip(of.own_verdict[start:stop], of.since_time[start:stop], strict=True)
    since = min(
        (value for verdict, value in of_worst if value is not None and verdict == of.own_verdict[worst]), default=None
    )
    own, rule = of.own_verdict[worst], OwnRule.WORST_PARTITION
    reason = group_reason(of, start, stop, worst, len(lags))
    if away is not None and severity(of.own_verdict[away]) >= severity(own):
        rule, reason, since = of.rule[away], of.reason[away], of.since_time[away]
        own = LagVerdict.DOWN if rule == OwnRule.GROUP_DOWN else own
    return {
        "group_id": of.group_id[start], "group_type": of.group_type[start], "topic": None, "topic_id": None,
        "partition": None, "burrow_verdict": burrow, "burrow_rule": burrow_rule,
        "own_verdict": own, "rule": rule, "reason": reason,
        "last_commit_time": max(commits, default=None), "since_time": since,
        "lag": capped(sum(lags)) if lags else None, "time_lag_ms": max(time_lags, default=None),
        "burrow_lag": capped(sum(counted_lags)) if counted_lags else None,
        "burrow_complete": float(is_full.sum() / num_counted) if num_counted else None,
        "evidence_first_offset": min(of.evidence_first_offset[start:stop]),
        "evidence_last_offset": max(of.evidence_last_offset[start:stop]),
        "confidence": weakest(of.confidence[start:stop]),
    }  # fmt: skip


def share_group_row(group_id: str, life: Life, reason: str) -> dict[str, Any]:
    """Burrow knows no offsets of it. What else is not named is unknown."""
    return dict.fromkeys(field.name for field in fields(Partitions)) | {
        "group_id": group_id, "group_type": str(GroupType.SHARE), "burrow_verdict": LagVerdict.NOTFOUND,
        "burrow_rule": BurrowRule.NO_GROUP, "own_verdict": LagVerdict.DOWN, "rule": OwnRule.GROUP_DOWN,
        "reason": reason, "since_time": life.went_away, "evidence_first_offset": life.emptied_by,
        "evidence_last_offset": life.emptied_by, "confidence": str(Confidence.LIKELY),
    }  # fmt: skip


def group_reason(of: Partitions, start: int, stop: int, worst: int, num_known: int) -> str:
    size, verdict = stop - start, of.own_verdict[worst]
    num_like = of.own_verdict[start:stop].count(verdict)
    where = f"{of.topic[worst] or of.topic_id[worst]} {of.partition[worst]}"
    unknown = f"; the lag of {counted(size - num_known, 'partition')} is unknown" if num_known < size else ""
    partitions = "partition" if size == 1 else "partitions"
    return f"{num_like} of {size} {partitions} {verdict}, such as {where}: {of.reason[worst]}{unknown}"
