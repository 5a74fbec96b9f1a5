"""Checks of history and of what the next run reads: intervals that overlap, and state that contradicts the tables."""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.checks.check import Check, CheckedWarehouse, Finding, Status
from jobs.output.progress import counting
from jobs.replaying.tables.lost_rows import PROGRESS, clusters_with, has_progress
from jobs.storage.refusals import raise_refusal
from jobs.warehouses.delta_tables import UNREADABLE
from schemas.tables import TABLES
from udfs.arrays.arrow_schema import table_schema
from udfs.arrays.nullable import NONE, numbers
from udfs.sentences.counts import counted

GROUP = ("cluster", "evidence_partition", "group_id")
# What has one interval at a time, by the table.
SUBJECTS = {
    "group_state_intervals": GROUP,
    "membership_intervals": (*GROUP, "member_id"),
    "ownership_intervals": (*GROUP, "topic", "topic_id", "partition", "role", "member_id"),
    "offset_history": (*GROUP, "topic", "partition"),
}
OPEN_END = 2**63 - 1
KEY = ("group_id", "topic", "partition")
REPLAY = "replay"
LIVE, GONE = "live", "gone"
SEPARATOR = "\0"
OFFSETS, OFFSET_STATES = "offset_history", "replayed_offsets"


def check_intervals(checked: CheckedWarehouse) -> Iterator[Finding]:
    with counting(len(SUBJECTS), "tables") as activity:
        for name, subject in SUBJECTS.items():
            if name in checked.tables and (line := overlap(checked, name, subject)):
                yield Finding(Status.BROKEN, "intervals", name, line, checked.repair(name))
            activity.done += 1


def overlap(checked: CheckedWarehouse, name: str, subject: Sequence[str]) -> str | None:
    rows = rows_of(checked, name, [*subject, "from_record_offset", "to_record_offset", "ended_by"])
    places = overlaps(joined(rows, subject), rows)
    if not len(places):
        return None
    example = rows.slice(int(places[0]), 1).to_pylist()[0]
    where = ", ".join(f"{column} {example[column]}" for column in (*subject, "from_record_offset"))
    return f"{counted(len(places), 'interval')} begin before the previous one ended, such as {where}"


def rows_of(checked: CheckedWarehouse, name: str, columns: Sequence[str]) -> pa.Table:
    """Of files that can be read: others are a finding of their own."""
    declared = table_schema(TABLES[name])
    schema = pa.schema([declared.field(column).with_nullable(True) for column in columns])
    parts = [schema.empty_table()]
    for path, _ in checked.files(name):
        try:
            with pq.ParquetFile(path.parquet_source(), pre_buffer=False) as file:
                parts.append(file.read([*columns], use_threads=False).select(columns).cast(schema))
        except UNREADABLE as error:
            raise_refusal(error, path)
    return pa.concat_tables(parts)


def joined(rows: pa.Table, columns: Sequence[str]) -> pa.ChunkedArray:
    parts = [rows.column(column).cast(pa.string()).fill_null("") for column in columns]
    return pc.binary_join_element_wise(*parts, SEPARATOR)


def overlaps(keys: pa.ChunkedArray, rows: pa.Table) -> np.ndarray:
    """Rows whose interval begins before the previous one of the same subject has ended."""
    if not rows.num_rows:
        return np.empty(0, np.int64)
    codes = keys.combine_chunks().dictionary_encode().indices.to_numpy()
    begin, end = numbers(rows.column("from_record_offset")), numbers(rows.column("to_record_offset"))
    is_ended = rows.column("ended_by").is_valid().to_numpy()
    # What ended before a hole has no record that ended it.
    end = np.where(end != NONE, end, np.where(is_ended, begin, OPEN_END))
    order = np.lexsort((end, begin, codes))
    is_same = codes[order][1:] == codes[order][:-1]
    return np.asarray(order[1:][is_same & (end[order][:-1] > begin[order][1:])])


def check_states(checked: CheckedWarehouse) -> Iterator[Finding]:
    """The next replay continues from stored offsets and from open rows of history: a stored offset is as history says,
    and each group with open rows has a stored one (see `udfs/commits/shown_states.py`)."""
    tables = (OFFSETS, OFFSET_STATES, PROGRESS[REPLAY])
    if any(name not in checked.tables or checked.has_damaged_files(name) for name in tables):
        return
    lost = clusters_without_progress(checked)
    ours, stored_by = ("cluster", "evidence_partition", *KEY), ("cluster", "offsets_partition", *KEY)
    history = rows_of(checked, OFFSETS, [*ours, "is_provisional", "ended_by"])
    history = history.filter(pc.and_(history.column("is_provisional"), pc.is_null(history.column("ended_by"))))
    stored = rows_of(checked, OFFSET_STATES, [*stored_by, "kind"])
    live, gone = (stored.filter(pc.equal(stored.column("kind"), kind)) for kind in (LIVE, GONE))
    shown = set(joined(history, ours).to_pylist())
    wrong = {
        "stored as in effect, which offset_history does not have": set(joined(live, stored_by).to_pylist()) - shown,
        "stored as deleted, which offset_history has in effect": set(joined(gone, stored_by).to_pylist()) & shown,
    }
    known = set(joined(stored, stored_by[:3]).to_pylist())
    wrong["of offset_history whose group is not stored"] = {
        key for key in shown if key.rsplit(SEPARATOR, 2)[0] not in known
    }
    wrong = {how: {key for key in keys if key.split(SEPARATOR)[0] not in lost} for how, keys in wrong.items()}
    problems = [
        f"{counted(len(keys), 'offset')} {how}, such as {' '.join(min(keys).split(SEPARATOR))}"
        for how, keys in wrong.items()
        if keys
    ]
    if problems:
        clusters = {key.split(SEPARATOR)[0] for keys in wrong.values() for key in keys}
        place, line = TABLES[OFFSET_STATES].folder, "; ".join(problems)
        yield Finding(Status.BROKEN, "state", place, line, checked.repair(OFFSET_STATES, clusters))


def clusters_without_progress(checked: CheckedWarehouse) -> set[str]:
    """They are a finding of their own."""
    clusters = clusters_with(checked.runs, REPLAY)
    return {each for each in clusters if not has_progress(checked.warehouse, REPLAY, each)}


def check_progress_runs(checked: CheckedWarehouse) -> Iterator[Finding]:
    """How far a job has come is named by a run."""
    known = {row["run_id"] for row in checked.runs}
    for name in PROGRESS.values():
        if name in checked.tables and known:
            run_ids = rows_of(checked, name, ["through_run_id"]).column("through_run_id").to_pylist()
            if unknown := {run_id for run_id in run_ids if run_id is not None} - known:
                line = f"continues after run {min(unknown)}, which `runs` does not have"
                yield Finding(Status.BROKEN, "progress runs", TABLES[name].folder, line, checked.repair(name))


CHECKS = (
    Check("intervals", "no two intervals of the same group, member, owner or offset overlap", check_intervals),
    Check("state", "stored offsets are as history says", check_states),
    Check("progress runs", "each job continues after a run that is in `runs`", check_progress_runs),
)
