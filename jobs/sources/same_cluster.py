"""Whether the log and the snapshots that a run reads are of one Kafka cluster, and of that which the warehouse has.

    one = SameCluster(warehouse, "prod")
    one.add_snapshots(clusters, topics, places)
    one.check_ids(named_ids)     # of the log, before it is read
    one.check_commits(files)     # by the topics that commits name, where no id of the log decides

Snapshots of another cluster make lag and verdicts meaningless. The log decides what is foreign: its cluster id, and the
id of its offsets topic. Without them, and between snapshots alone, the topics that commits name decide.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from jobs.output.failure import Failure
from jobs.sources.committed_topics import agreeing, commit_files, committed_ids, contradicted
from jobs.sources.log_ids import WORDS, NamedId, stored_log_ids
from jobs.sources.stored_snapshots import (
    NAMED_SCHEMA,
    OTHER_CLUSTER,
    TIME,
    StoredSnapshots,
    drop_command,
    iso_of,
)
from jobs.storage.places.place import Place
from jobs.warehouses.warehouse import Warehouse
from schemas.tables import TABLES
from schemas.words.exit_codes import ExitCode
from schemas.words.records import OFFSETS_TOPIC
from udfs.arrays.arrow_schema import table_schema
from udfs.sentences.counts import counted

# Of topics in stored snapshots that a run looks at.
MOST_ROWS = 1_000_000
OF_THIS = "give those of the cluster that the log is of"
IDS = table_schema(TABLES["cluster_snapshots"]).empty_table().select([TIME, *WORDS])


@dataclass
class SameCluster:
    """`log` and `snapshots`: what the run has read. `topics`: time, topic and id of each topic in a snapshot of the
    run, `times`: with both ids of each snapshot, `places`: where a snapshot was read."""

    warehouse: Warehouse
    cluster: str
    log: list[NamedId] = field(default_factory=list)
    snapshots: list[NamedId] = field(default_factory=list)
    topics: pa.Table = field(default_factory=NAMED_SCHEMA.empty_table)
    times: pa.Table = field(default_factory=lambda: IDS)
    places: dict[datetime, str] = field(default_factory=dict)

    @cached_property
    def stored_log(self) -> list[NamedId]:
        return stored_log_ids(self.warehouse, self.cluster)

    @cached_property
    def stored(self) -> StoredSnapshots:
        return StoredSnapshots(self.warehouse, self.cluster)

    def add_snapshots(self, clusters: pa.Table, topics: pa.Table, places: dict[datetime, str]) -> None:
        """Rows of the two tables; `places`: by time, where a snapshot was read."""
        self.times, self.places = clusters.select(IDS.column_names), places
        self.topics = once_a_topic(topics.select(NAMED_SCHEMA.names))
        first = {
            (kind, row[kind]): NamedId(kind, row[kind], self.place_of(row[TIME]))
            for row in reversed(self.times.to_pylist())
            for kind in WORDS
            if row[kind] is not None
        }
        self.snapshots = [first[each] for each in sorted(first, key=lambda each: (each[0], first[each].place, each[1]))]

    def place_of(self, time: datetime) -> str:
        return self.places.get(time, "the snapshot")

    def check_ids(self, log: Iterable[NamedId]) -> None:
        """`log`: of the log that the run reads, as far as anything names it."""
        self.log = list(log)
        for kind in WORDS if self.log or self.snapshots else ():
            logs, given = first_of(kind, [*self.log, *self.stored_log]), first_of(kind, self.snapshots)
            if len(logs) > 1:
                raise two_logs(*logs[:2], is_one_run=logs[1] in self.log)
            if logs:
                self.check_by_log(logs[0], given, self.stored.ids(kind))
            elif len(given) > 1:
                line = "snapshots of two Kafka clusters; give those of one, or each a name of its own: --cluster NAME"
                raise failure(f"{differ(*given[:2])}: {line}")

    def check_by_log(self, log: NamedId, given: Sequence[NamedId], stored: Collection[str]) -> None:
        for each in given:
            if each.id != log.id:
                renamed = "" if log in self.log else ", or give these a cluster of their own: --cluster NAME"
                raise failure(f"{differ(each, log)}: snapshots of another Kafka cluster; {OF_THIS}{renamed}")
        for each_id in sorted({*stored} - {log.id}):
            raise failure(self.unlike_log(log, each_id))

    def unlike_log(self, log: NamedId, stored: str) -> str:
        """A warehouse that knows no id of its log may have commits of it: the log that the run reads may be another."""
        is_known = any(each.kind == log.kind for each in self.stored_log)
        if not is_known and self.agrees(self.stored_topics(), commit_files(self.warehouse, self.cluster)):
            line = (
                f"{log.place}: {WORDS[log.kind]} is {log.id}, but snapshots of cluster {self.cluster} in the warehouse"
            )
            return f"{line} have {stored}, and those are of the log there; {OTHER_CLUSTER}"
        line = f"{log.place} has {WORDS[log.kind]} {log.id}, but {self.stored_line(log.kind, stored)}"
        return line if is_known else f"{line}; or give the log of this cluster, if that is another one"

    def check_beside_stored(self, commits: Sequence[Place]) -> None:
        """Where the log has no id of this kind, and snapshots have."""
        for each in self.snapshots:
            if not first_of(each.kind, [*self.log, *self.stored_log]):
                for other in sorted({*self.stored.ids(each.kind)} - {each.id}):
                    raise failure(self.unlike_stored(each, other, commits))

    def unlike_stored(self, given: NamedId, other: str, commits: Sequence[Place]) -> str:
        """Of two snapshots, that one belongs to the log whose topics have the ids that commits name."""
        is_given, is_stored = self.agrees(self.topics, commits), self.agrees(self.stored_topics(), commits)
        if is_given and not is_stored:
            return (
                f"{given.place}: {WORDS[given.kind]} is {given.id}, and its topics have the ids that commits name, but "
                f"{self.stored_line(given.kind, other)}"
            )
        times = self.times_of(given.kind, other)
        line = (
            f"{given.place}: {WORDS[given.kind]} is {given.id}, but {self.number_of(times)} of cluster {self.cluster} "
            f"in the warehouse have {other}"
        )
        if is_stored and not is_given:
            return f"{line}, and those are of the log there; {OF_THIS}, or {OTHER_CLUSTER}"
        return f"{line}; if those are wrong, remove them with `{self.command(times)}`, else {OTHER_CLUSTER}"

    def agrees(self, topics: pa.Table, commits: Sequence[Place]) -> bool:
        """Whether commits name a topic with the id that it has there."""
        return topics.num_rows > 0 and any(agreeing(topics, [part]) for part in committed_ids(commits, self.cluster))

    def stored_topics(self) -> pa.Table:
        return pa.concat_tables([NAMED_SCHEMA.empty_table(), *self.stored.topics(MOST_ROWS)])

    def stored_line(self, kind: str, each_id: str) -> str:
        times = self.times_of(kind, each_id)
        return (
            f"{self.number_of(times)} of cluster {self.cluster} in the warehouse have {each_id}: they are of another "
            f"Kafka cluster; remove them with `{self.command(times)}`, and run this again"
        )

    def number_of(self, times: Sequence[datetime]) -> str:
        span = f"captured from {iso_of(times[0])} to {iso_of(times[-1])}"
        return f"{counted(len(times), 'snapshot')} {span}"

    def times_of(self, kind: str, each_id: str) -> list[datetime]:
        rows = self.stored.ids_by_time()
        return list(rows.filter(pc.equal(rows.column(kind), each_id)).column(TIME).to_pylist())

    def command(self, times: Collection[datetime]) -> str:
        return drop_command(self.warehouse, self.cluster, times, self.stored.rows.column(TIME).to_pylist())

    def check_commits(self, new: Sequence[Place]) -> None:
        """By what the log itself says. `new`: files of commits that this run has written."""
        if not (new or self.snapshots or self.topics.num_rows):
            return
        known = commit_files(self.warehouse, self.cluster)
        self.check_beside_stored([*new, *known])
        given = at_times(self.topics, self.undecided(self.times))
        if given.num_rows and (found := self.contradicted(given, [*new, *known])).num_rows:
            raise failure(f"{self.place_of(found[TIME][0].as_py())}: {contradiction(found)}; {OF_THIS}")
        times = self.undecided(self.stored.rows) if new else pa.array([])
        if not len(times):
            return
        stored = at_times(self.stored_topics(), times)
        # Earlier runs have looked at the commits that they read. Other topics there may agree.
        suspected = self.contradicted(stored, new)
        if not suspected.num_rows:
            return
        stored = at_times(stored, suspected.column(TIME).combine_chunks())
        if (found := self.contradicted(stored, [*new, *known])).num_rows:
            times = sorted(set(found.column(TIME).to_pylist()))
            line = f"{self.number_of(times)} in the warehouse, cluster {self.cluster}: {contradiction(found)}"
            raise failure(f"{line}; remove them with `{self.command(times)}`, and run this again")

    def undecided(self, times: pa.Table) -> pa.Array:
        """Times of snapshots without an id that the log has too. `times`: with the ids of each snapshot."""
        for kind in sorted({each.kind for each in (*self.log, *self.stored_log)}):
            times = times.filter(times.column(kind).is_null())
        return times.column(TIME).combine_chunks()

    def contradicted(self, topics: pa.Table, files: Iterable[Place]) -> pa.Table:
        return contradicted(topics, committed_ids(files, self.cluster))


def at_times(topics: pa.Table, times: pa.Array) -> pa.Table:
    return topics.filter(pc.is_in(topics.column(TIME), value_set=times))


def once_a_topic(rows: pa.Table) -> pa.Table:
    """Of topics with an id. A topic's partitions lie beside each other, and there may be millions."""
    rows = rows.filter(rows.column("topic_id").is_valid()).combine_chunks()
    if not rows.num_rows:
        return rows
    before, after = rows.slice(0, rows.num_rows - 1), rows.slice(1)
    is_new = [pc.not_equal(before.column(name), after.column(name)) for name in rows.column_names]
    is_first = pc.or_(pc.or_(is_new[0], is_new[1]), is_new[2])
    return rows.filter(pa.chunked_array([pa.array([True]), *is_first.chunks]))


def first_of(kind: str, ids: Iterable[NamedId]) -> list[NamedId]:
    """Of each distinct id the first one."""
    first: dict[str, NamedId] = {}
    for each in ids:
        if each.kind == kind:
            first.setdefault(each.id, each)
    return list(first.values())


def failure(line: str) -> Failure:
    return Failure(ExitCode.UNREADABLE_INPUT, line)


def differ(one: NamedId, other: NamedId) -> str:
    return f"{one.place}: {WORDS[one.kind]} is {one.id}, but {other.place} has {other.id}"


def two_logs(one: NamedId, other: NamedId, *, is_one_run: bool) -> Failure:
    if is_one_run:
        return failure(f"{differ(one, other)}: logs of two Kafka clusters; give the log of one")
    return failure(f"{differ(one, other)}: another log, or {OFFSETS_TOPIC} was recreated; {OTHER_CLUSTER}")


def contradiction(found: pa.Table) -> str:
    """What the first of these snapshots and commits say of the same topics."""
    first = found.filter(pc.equal(found.column(TIME), found.column(TIME)[0])).sort_by("topic").to_pylist()
    named = [f"topic {row['topic']} has id {row['topic_id']}, in commits {row['committed_id']}" for row in first[:2]]
    more = f"; of {counted(len(first), 'topic')} none has the id that commits name" if len(first) > 2 else ""
    return f"{'; '.join(named)}{more}: snapshots of another Kafka cluster"
