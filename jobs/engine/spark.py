"""The Spark engine: a frame of the files and offsets to read, grouped by task, in; a frame of the written files out.

Both frames have typed columns, so Spark's pages show them. What all tasks share (rules, settings, state of earlier
runs) is pickled with the function.
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark import TaskContext
from pyspark.accumulators import Accumulator, AccumulatorParam
from pyspark.sql import DataFrame, Row, SparkSession

from jobs.engine.engine import Engine, FinishedTasks
from jobs.engine.executors import check_written
from jobs.engine.facts import restore, text_of
from jobs.engine.task import Result, Step, TaskSpec, Work, result_of
from jobs.output.failure import Failure
from jobs.spark.compiled_loops import keep_compiled_loops
from jobs.spark.failures import note_task, reword_spark_failures, task_in
from jobs.storage.closes import wait_for_closes
from jobs.warehouses.delta_tables import DataFile
from schemas.words.exit_codes import ExitCode

PLAN = pa.schema(
    [
        pa.field("task", pa.int32(), nullable=False),
        pa.field("offsets_partition", pa.int32()),
        pa.field("slice", pa.int32(), nullable=False),
        pa.field("path", pa.string()),
        pa.field("first_offset", pa.int64()),
        pa.field("last_offset", pa.int64()),
        pa.field("num_records", pa.int64()),
        pa.field("num_bytes", pa.int64()),
    ]
)
# One row per written file, and one with the task's facts.
RESULT = (
    "task int, table string, path string, num_rows bigint, size_bytes bigint, is_provisional boolean, stats string, "
    "facts string"
)
COLUMNS = [column.split()[0] for column in RESULT.split(", ")]
RESULT_TYPES = [pa.int32(), *[pa.string()] * 2, *[pa.int64()] * 2, pa.bool_(), *[pa.string()] * 2]
FILES = "files"
# Pause between two checks of which tasks are done.
WATCH_SECONDS = 0.5


class SparkEngine(Engine):
    @property
    def num_workers(self) -> int:
        return self.spark.sparkContext.defaultParallelism

    @property
    def hadoop_settings(self) -> Mapping[str, str]:
        settings = self.spark.sparkContext.getConf().getAll()
        return {name: value for name, value in settings if name.startswith("spark.hadoop.")}

    def run_all(self, step: Step[Work, Result], specs: Sequence[TaskSpec[Work]], done: FinishedTasks) -> list[Result]:
        if not specs:
            return []
        run, works = step.run, [spec.work for spec in specs]
        counts = Counts(self.spark, done)
        numbers = counts.numbers

        def work(rows: pd.DataFrame) -> pd.DataFrame:
            keep_compiled_loops()
            number = int(rows["task"].iloc[0])
            with note_task(number):
                result = result_of(run(works[number]))
                # Spark ends its workers as it likes.
                wait_for_closes()
            numbers.add(1 << number)
            return pd.DataFrame(result_rows(number, result), columns=COLUMNS)

        plan = self.spark.createDataFrame(plan_rows(specs)).repartitionById(len(specs), "task")
        self.may_still_write = True
        with counts.showing_progress(), named_failures(specs, counts):
            collected = plan.groupBy("task").applyInPandas(work, RESULT).collect()
        self.may_still_write = False
        by_number = results(collected, step.result)
        check_written(self.warehouse, [(table, file) for each in by_number.values() for table, file in each.files])
        return [by_number[number] for number in range(len(specs))]


def results_of(frame: DataFrame, run: Callable[[Iterator[pa.RecordBatch]], Result], kind: type[Result]) -> list[Result]:
    """The rows that the function returns for each partition of the frame."""

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        keep_compiled_loops()
        result = run(batches)
        wait_for_closes()
        columns = zip(*result_rows(TaskContext().partitionId(), result), strict=True)
        yield pa.record_batch(list(map(pa.array, columns, RESULT_TYPES)), COLUMNS)

    with reword_spark_failures():
        rows = frame.mapInArrow(work, RESULT).collect()
    numbers = sorted({row.task for row in rows})
    by_number = results(rows, kind)
    return [by_number[each] for each in numbers]


def plan_rows(specs: Sequence[TaskSpec[Any]]) -> pa.Table:
    rows = ({"task": number, **row._asdict()} for number, spec in enumerate(specs) for row in spec.reads)
    return pa.Table.from_pylist(list(rows), PLAN)


def result_rows(number: int, result: Any) -> list[tuple[Any, ...]]:
    files = [
        (number, table, file.name, file.num_rows, file.size, file.is_provisional, file.stats, None)
        for table, file in result.files
    ]
    return [*files, (number, None, None, None, None, None, None, text_of(result, leave_out=(FILES,)))]


def results(rows: Sequence[Row], kind: type[Result]) -> dict[int, Result]:
    """Results by task."""
    by_task: dict[int, Result] = {
        row.task: restore(kind, json.loads(row.facts)) for row in rows if row.facts is not None
    }
    for row in rows:
        if row.facts is None:
            file = DataFile(row.path, row.size_bytes, row.num_rows, row.stats, is_provisional=row.is_provisional)
            by_task[row.task].files.append((row.table, file))
    return by_task


@contextmanager
def named_failures(specs: Sequence[TaskSpec[Any]], counts: "Counts") -> Iterator[None]:
    """Adds to a failure the offsets partitions of the lost task, or of all tasks that it could be."""
    try:
        with reword_spark_failures():
            yield
    except Failure as failure:
        if failure.code != ExitCode.FAILED:
            raise
        lost = task_in(str(failure.__cause__))
        open_tasks = [int(lost["task"])] if lost else counts.unfinished_tasks(len(specs))
        rows = [row for number in open_tasks if number < len(specs) for row in specs[number].reads]
        raise Failure(failure.code, f"{TaskSpec(None, tuple(rows)).name}: {failure}") from failure.__cause__


class Numbers(AccumulatorParam[int]):
    """Task numbers as bits: a task that finishes twice counts once."""

    def zero(self, value: int) -> int:
        return 0

    def addInPlace(self, value1: int, value2: int) -> int:
        return value1 | value2


class Counts:
    """Which tasks are done: an accumulator that the executors add to."""

    def __init__(self, spark: SparkSession, done: FinishedTasks) -> None:
        self.done = done
        self.numbers: Accumulator[int] = spark.sparkContext.accumulator(0, Numbers())

    def unfinished_tasks(self, num_tasks: int) -> list[int]:
        return [number for number in range(num_tasks) if not self.numbers.value >> number & 1]

    @contextmanager
    def showing_progress(self) -> Iterator[None]:
        ended = threading.Event()
        thread = threading.Thread(target=self.watch, args=(ended,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def watch(self, ended: threading.Event) -> None:
        while not ended.wait(WATCH_SECONDS):
            self.look()

    def look(self) -> None:
        value = self.numbers.value
        self.done.are(number for number in range(value.bit_length()) if value >> number & 1)
