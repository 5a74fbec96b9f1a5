"""Checks whether all snapshots of a cluster are of one Kafka cluster, and of that whose log the warehouse has."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from jobs.checks.check import Check, CheckedWarehouse, Finding, Status
from jobs.sources.committed_topics import agreeing, commit_files, committed_ids, contradicted
from jobs.sources.log_ids import WORDS, stored_log_ids
from jobs.sources.same_cluster import contradiction
from jobs.sources.stored_snapshots import NAMED_SCHEMA, TIME, StoredSnapshots, drop_command, iso_of
from jobs.warehouses.warehouse import Warehouse
from udfs.sentences.counts import counted

NAME = "snapshots"
THEN = "then run groupscope audit"

Times = set[datetime]


@dataclass(frozen=True)
class CheckedSnapshots:
    """Snapshots of one cluster."""

    warehouse: Warehouse
    cluster: str

    @cached_property
    def stored(self) -> StoredSnapshots:
        return StoredSnapshots(self.warehouse, self.cluster)

    @cached_property
    def ids(self) -> pa.Table:
        return self.stored.ids_by_time()

    @cached_property
    def every(self) -> Times:
        return set(self.ids.column(TIME).to_pylist())

    @cached_property
    def topics(self) -> pa.Table:
        return pa.concat_tables([NAMED_SCHEMA.empty_table(), *self.stored.topics()])

    @cached_property
    def commits(self) -> list[pa.Table]:
        return list(committed_ids(commit_files(self.warehouse, self.cluster), self.cluster))

    def topics_at(self, times: Times) -> pa.Table:
        wanted = pa.array(sorted(times), self.topics.schema.field(TIME).type)
        return self.topics.filter(pc.is_in(self.topics.column(TIME), value_set=wanted))

    def times_by_id(self, kind: str, times: Times) -> dict[str, Times]:
        by_id: dict[str, Times] = {}
        for time, own_id in zip(*(self.ids.column(name).to_pylist() for name in (TIME, kind)), strict=True):
            if own_id is not None and time in times:
                by_id.setdefault(own_id, set()).add(time)
        return dict(sorted(by_id.items()))

    def foreign(self) -> Iterator[tuple[Times, str]]:
        """Which snapshots are foreign, and why: by the ids of the log; where that has none, by the topics that commits
        name, and by what other snapshots say."""
        right, wrong = Times(), Times()
        for each in stored_log_ids(self.warehouse, self.cluster):
            for own_id, times in self.times_by_id(each.kind, self.every - wrong).items():
                if own_id == each.id:
                    right |= times
                else:
                    wrong |= times
                    yield times, f"{WORDS[each.kind]} is {own_id}, but the log has {each.id}"
        right -= wrong
        undecided = self.every - right - wrong
        found = contradicted(self.topics_at(undecided), self.commits)
        if times := set(found.column(TIME).to_pylist()):
            # Others with their ids are of the same cluster.
            same = (some for kind in WORDS for some in self.times_by_id(kind, undecided).values() if some & times)
            times = times.union(*same)
            wrong |= times
            yield times, contradiction(found)
        for kind in WORDS:
            by_id = self.times_by_id(kind, self.every - wrong)
            if len(by_id) > 1:
                yield from self.unlike_others(kind, by_id, right)

    def unlike_others(self, kind: str, by_id: dict[str, Times], right: Times) -> Iterator[tuple[Times, str]]:
        sure = right | agreeing(self.topics_at(set().union(*by_id.values())), self.commits)
        of_log = [own_id for own_id, times in by_id.items() if times & sure]
        for own_id, times in by_id.items():
            if len(of_log) != 1:
                others = ", ".join(each for each in by_id if each != own_id)
                yield (
                    times,
                    f"{WORDS[kind]} is {own_id}, in other snapshots {others}; remove those of the wrong cluster",
                )
            elif own_id != of_log[0]:
                yield times, f"{WORDS[kind]} is {own_id}, but {of_log[0]} in those whose topics commits name"


def check_foreign(checked: CheckedWarehouse) -> Iterator[Finding]:
    for cluster in checked.warehouse.clusters():
        snapshots = CheckedSnapshots(checked.warehouse, cluster)
        for times, why in snapshots.foreign() if snapshots.every else ():
            span = f"captured from {iso_of(min(times))} to {iso_of(max(times))}"
            line = f"cluster {cluster} has {counted(len(times), 'snapshot')} of another Kafka cluster, {span}: {why}"
            mend = f"{drop_command(checked.warehouse, cluster, times, snapshots.every)}; {THEN}"
            yield Finding(Status.BROKEN, NAME, "cluster_snapshots", line, mend)


CHECKS = (Check(NAME, "all snapshots of a cluster are of the Kafka cluster that its log is of", check_foreign),)
