"""Runs of a replay over one offsets partition, without files: what a run reads and what it leaves are Arrow tables.

What a run decides and does is the code of every replay (`replay_task`, `PartitionReplay`); only where it would open
files it is given tables.

runs = MemoryRuns(rules)
runs.ingest(tables, ranges)      # decoded tables of one run, and the offsets that it has seen
runs.replay()
runs.history()                   # every table of the history that all can read
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from unittest import mock

import pyarrow as pa

from jobs.replaying.log.opened import REPEATED, Opened
from jobs.replaying.log.partition import PartitionLog, offsets_of
from jobs.replaying.log.row_groups import RowGroup, Wanted
from jobs.replaying.log.topic_names import COLUMNS, sightings
from jobs.replaying.partition import replay_task
from jobs.replaying.partition.commit_pass import TRANSACTIONS
from jobs.replaying.partition.replay_task import partitions_to_replay, replay_slice, rules_text
from jobs.replaying.run import progress_of_all
from jobs.replaying.tables.earlier_rows import EarlierRows
from jobs.replaying.tables.history_files import by_openness
from jobs.replaying.task.messages import LogTaskResult, PartitionSlice, deserialize
from jobs.replaying.task.replay_messages import Progress, ReplayInput, Rules, progress_of
from jobs.replaying.task.warehouse_state import PROGRESS, WRITTEN, with_micros
from jobs.replaying.whole_tables import whole_tables
from jobs.storage.places.local_place import LocalPlace
from schemas.tables import TABLES
from tests.make.log import CLUSTER, PARTITION, Decoded
from udfs.arrays.arrow_schema import table_schema
from udfs.commits.transactions import merged
from udfs.log.offset_ranges import Range, join_ranges
from udfs.log.release_lines import BY_RELEASE
from udfs.topics.growths import Growths
from udfs.topics.names import Snapshots, merge, names_of

NAMES = pa.dictionary(pa.int32(), pa.string())
# State that the next run reads is written in many orders that mean the same.
STATES = frozenset({PROGRESS, "replayed_groups", "replayed_moves", "replayed_offsets"})
HISTORY = tuple(name for name in WRITTEN.names if name not in STATES)


class MemoryOpened(Opened):
    """Pieces of decoded tables: `path` is the table's name, `group` the run."""

    def __init__(self, runs: Sequence[Decoded]) -> None:
        super().__init__()
        self.runs = runs

    def read(self, piece: RowGroup, columns: Sequence[str], wanted: Wanted) -> pa.Table:
        return self.runs[piece.group][str(piece.path)].select(list(columns))


class MemoryLog(PartitionLog):
    def __post_init__(self) -> None:
        assert isinstance(self.opened, MemoryOpened)
        after = -1 if self.wanted.after_run is None else int(self.wanted.after_run)
        for run, tables in enumerate(self.opened.runs):
            for name, rows in tables.items():
                if run > after and rows.num_rows:
                    self.row_groups.setdefault(name, []).append(piece_of(name, run, rows))
        for pieces in self.row_groups.values():
            pieces.sort(key=lambda piece: (piece.first, piece.last))


def piece_of(name: str, run: int, rows: pa.Table) -> RowGroup:
    offsets = offsets_of(rows)
    return RowGroup(LocalPlace(Path(name)), run, int(offsets.min()), int(offsets.max()), rows.num_rows, is_mixed=False)


@dataclass
class Written:
    """Takes rows where a task would write files."""

    of: dict[tuple[str, bool | None], list[pa.Table]] = field(default_factory=dict)

    def write(self, name: str, rows: pa.Table, partition: int, *, is_ordered: bool = False) -> None:
        # Texts may be dictionaries, which a file has as texts.
        for is_provisional, part in by_openness(TABLES[name], rows.cast(table_schema(TABLES[name]))):
            self.of.setdefault((name, is_provisional), []).append(part)


@dataclass
class MemoryRuns:
    """`rules`, `snapshots`, `num_slices` may be others for the next run."""

    rules: Rules = field(default_factory=Rules)
    snapshots: Snapshots = field(default_factory=lambda: Snapshots({}))
    num_slices: int = 1
    # The setting.
    release: str = ""
    runs: list[Decoded] = field(default_factory=list)
    ranges: list[Range] = field(default_factory=list)
    rows: dict[tuple[str, bool | None], list[pa.Table]] = field(default_factory=dict)
    earlier: dict[int, Progress] = field(default_factory=dict)
    whole: dict[str, pa.Table] = field(default_factory=dict)
    num_anew: int = 0

    def ingest(self, tables: Decoded, ranges: Sequence[Range]) -> None:
        self.runs.append({name: as_read(rows) for name, rows in tables.items()})
        self.ranges += ranges

    def replay(self) -> None:
        run_input = self.run_input()
        new = sum(rows.num_rows for tables in self.runs[self.num_seen :] for rows in tables.values())
        if not partitions_to_replay(run_input, {PARTITION: new}):
            return
        with in_memory(self.held() if self.earlier else {}):
            answer, written = self.answer(run_input)
            if answer.insufficient:
                answer, written = self.answer(replace(run_input, earlier={}))
        self.take(answer, written, run_input)

    @property
    def num_seen(self) -> int:
        return int(self.earlier[PARTITION].through_run_id) + 1 if self.earlier else 0

    def run_input(self) -> ReplayInput:
        known = {each.key: each for each in self.snapshots.sightings()}
        for progress in self.earlier.values():
            merge(known, progress.sightings)
        for tables in self.runs[self.num_seen :]:
            for name in COLUMNS:
                if name in tables:
                    merge(known, [each for each in sightings(tables[name], name) if each.topic_id is not None])
        run = str(len(self.runs) - 1)
        covered = {PARTITION: join_ranges(self.ranges)}
        return ReplayInput(
            cluster=CLUSTER, run_id=run, through_run_id=run, earlier=self.earlier,
            root=LocalPlace(Path()), covered=covered, names=names_of(known.values()), rules=self.rules,
            growths=Growths.of(self.snapshots.topics),
            line=BY_RELEASE[self.release].name if self.release else None,
        )  # fmt: skip

    def answer(self, run_input: ReplayInput) -> tuple[LogTaskResult[Progress], Written]:
        answer, written, opened = LogTaskResult[Progress](), Written(), MemoryOpened(self.runs)
        for number in range(self.num_slices):
            of = PartitionSlice(PARTITION, number, self.num_slices)
            replay_slice(run_input, of, written, opened, answer)  # type: ignore[arg-type]
        if answer.transactions:
            together = merged([deserialize(content) for _, content in answer.transactions])
            written.write(TRANSACTIONS, together, PARTITION)
        return answer, written

    def held(self) -> dict[str, pa.Table]:
        """Rows that may still change."""
        return {
            name: pa.concat_tables(parts)
            for (name, is_provisional), parts in self.rows.items()
            if is_provisional or name in WRITTEN.renewed
        }

    def take(self, answer: LogTaskResult[Progress], written: Written, run_input: ReplayInput) -> None:
        """New rows take the place of those that may have changed; of all, where it was done from its beginning."""
        self.num_anew += bool(answer.whole)
        kept = {
            key: parts for key, parts in self.rows.items() if not (answer.whole or key[1] or key[0] in WRITTEN.renewed)
        }
        for key, parts in written.of.items():
            kept.setdefault(key, []).extend(parts)
        self.rows = kept
        self.earlier = progress_of_all([answer])
        for each in self.earlier.values():
            # Else the next run would begin anew.
            each.rules = rules_text(run_input, each)
        self.whole = whole_tables(CLUSTER, self.earlier.values(), self.snapshots)
        # As it comes back from its table.
        rows = [with_micros(row) for row in self.whole[PROGRESS].to_pylist()]
        self.earlier = {row["offsets_partition"]: progress_of(row) for row in rows}

    def history(self) -> dict[str, pa.Table]:
        result = dict(self.whole)
        for (name, _), parts in self.rows.items():
            result[name] = pa.concat_tables([*([result[name]] if name in result else []), *parts])
        return {name: result.get(name, table_schema(TABLES[name]).empty_table()) for name in HISTORY}


@contextmanager
def in_memory(held: Mapping[str, pa.Table]) -> Iterator[None]:
    def log_of(run_input: ReplayInput, partition: int, opened: Opened, after_run: str | None) -> PartitionLog:
        return MemoryLog(Wanted(CLUSTER, partition, after_run), {}, opened)

    def read(self: EarlierRows, name: str) -> pa.Table:
        rows = held.get(name) if self.held is not None else None
        return table_schema(TABLES[name]).empty_table() if rows is None else self.slice.rows(rows).combine_chunks()

    with mock.patch.object(replay_task, "log_of", log_of), mock.patch.object(EarlierRows, "read", read):
        yield


def as_read(rows: pa.Table) -> pa.Table:
    """Names that come again and again are codes, as a file gives them."""
    for name in REPEATED:
        if name in rows.column_names and not pa.types.is_dictionary(rows.schema.field(name).type):
            place = rows.schema.get_field_index(name)
            rows = rows.set_column(place, name, rows.column(name).dictionary_encode())
    return rows
