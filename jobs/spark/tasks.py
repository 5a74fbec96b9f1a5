"""Runs plain functions as tasks of Spark: what they are given and what they answer are Python objects."""

import os
import pickle
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar

import pyarrow as pa
from pyspark.accumulators import Accumulator
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from jobs.failure import Failure
from jobs.spark.cores import cores
from jobs.spark.quiet_java import quiet_java
from jobs.spark.session import spark_session
from schemas.exit_codes import ExitCode

SCHEMA = "answer binary"
# How lines of a trace begin that tell where, not why.
NO_CAUSE = ("at ", "File ", "...", "JVM stacktrace", "Driver stacktrace")

Given = TypeVar("Given")
Answer = TypeVar("Answer")


def run_tasks(
    spark: SparkSession,
    function: Callable[[Given], Answer],
    given: Sequence[Given],
    seen: Callable[[Answer], int] | None = None,
    tell: Callable[[int, int], None] | None = None,
    every_seconds: float = 5.0,
) -> list[Answer]:
    """One task each, in the order given. `tell` hears from time to time how many are done, and the sum of what `seen`
    makes of their answers."""
    if not given:
        return []
    context = spark.sparkContext
    done, total = context.accumulator(0), context.accumulator(0)

    def work(one: Given) -> Answer:
        found = function(one)
        done.add(1)
        if seen is not None:
            total.add(seen(found))
        return found

    with told_of_progress(done, total, tell, every_seconds), failures_told():
        # Not a frame: its first query takes seconds to plan and to compile.
        return list(context.parallelize(given, len(given)).map(work).collect())


def answers_of(frame: DataFrame, function: Callable[[Iterator[pa.RecordBatch]], Answer]) -> list[Answer]:
    """What the function makes of each partition of the frame."""

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield pa.record_batch([pa.array([pickle.dumps(function(batches))], pa.binary())], ["answer"])

    with failures_told():
        return [pickle.loads(bytes(row.answer)) for row in frame.mapInArrow(work, SCHEMA).collect()]


@contextmanager
def told_of_progress(
    done: Accumulator[int], total: Accumulator[int], tell: Callable[[int, int], None] | None, every_seconds: float
) -> Iterator[None]:
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(every_seconds):
            if tell is not None:
                tell(done.value, total.value)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@contextmanager
def with_settings(spark: SparkSession, settings: Mapping[str, str] | None) -> Iterator[None]:
    """The session's own again afterwards."""
    before = {name: str(spark.conf.get(name)) for name in settings or ()}
    for name, value in (settings or {}).items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


@contextmanager
def failures_told() -> Iterator[None]:
    """What Spark says of a failed task is pages long."""
    try:
        yield
    except Exception as error:
        # A worker that died comes as an error of py4j, which pyspark does not wrap.
        if not isinstance(error, PySparkException) and not hasattr(error, "java_exception"):
            raise
        told = f"a task failed, please report it: {cause_of(str(error))} (--debug shows where)"
        raise Failure(ExitCode.FAILED, told) from error


def cause_of(text: str) -> str:
    """The line that tells why: what a lost task died of, else the last line of a Python trace."""
    lost = re.search(r"Lost task .*?: \S*Exception: (?P<cause>.*)", text)
    if lost and "Traceback" not in text:
        return lost["cause"].strip(" :")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in reversed(lines) if not line.startswith(NO_CAUSE)), "no reason given")


class Workers:
    """Spark, started when the first task needs it: a run that finds little to do never does."""

    def __init__(self, name: str, *, is_debug: bool) -> None:
        self.name, self.is_debug = name, is_debug
        self.session: SparkSession | None = None

    @property
    def spark(self) -> SparkSession:
        if self.session is None:
            with quiet_java(self.is_debug):
                self.session = spark_session(self.name, shuffle_partitions=cores() * 2, settings=local_settings())
        return self.session

    @property
    def num_cores(self) -> int:
        return self.spark.sparkContext.defaultParallelism

    def run(
        self,
        function: Callable[[Given], Answer],
        given: Sequence[Given],
        seen: Callable[[Answer], int] | None = None,
        tell: Callable[[int, int], None] | None = None,
    ) -> list[Answer]:
        return run_tasks(self.spark, function, given, seen, tell) if given else []


def local_settings() -> dict[str, str]:
    """Where no spark-submit decides: all cores of this machine, and a second chance for a task whose worker died."""
    is_submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    return {} if is_submitted else {"spark.master": f"local[{cores()},3]", "spark.driver.memory": "2g"}
