"""`decode_offsets_record` in a query of Spark and of DuckDB, against `groupscope dump` of the same records. The start
of `dump` counts; sessions are open already, as they are where the functions are used."""

import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.dump import dump_command, seconds_of
from benchmarks.rounds import Goal, Measured, take_turns
from benchmarks.run import Run, in_memory
from jobs.queries.engines.duckdb_functions import register_duckdb

RECORDS = 100_000
QUERY = "SELECT decode_offsets_record(key, value) AS record FROM records"


def measure_spark(run: Run) -> Measured:
    from jobs.functions import register
    from jobs.spark.session import spark_session

    file, num_records = written(run)
    settings = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    spark = spark_session(
        "groupscope benchmark", shuffle_partitions=2, settings={"spark.master": "local[2]", **settings}
    )
    try:
        register(spark)
        spark.read.parquet(str(file)).repartition(2).cache().createOrReplaceTempView("records")
        decoded = spark.sql(QUERY).write.format("noop").mode("overwrite")
        return beside_dump(run, "Spark", num_records, decoded.save)
    finally:
        spark.stop()


def measure_duckdb(run: Run) -> Measured:
    file, num_records = written(run)
    with duckdb.connect() as connection:
        register_duckdb(connection)
        connection.execute(f"CREATE TABLE records AS FROM read_parquet('{file}')")
        # What it prints of each record is made, and not handed out.
        query = f"SELECT sum(length(record.key)) + sum(length(record.value)) FROM ({QUERY})"
        return beside_dump(run, "DuckDB", num_records, lambda: connection.execute(query).fetchall())


def beside_dump(run: Run, engine: str, num_records: int, query: Callable[[], object]) -> Measured:
    def seconds() -> float:
        start = time.perf_counter()
        query()
        return time.perf_counter() - start

    dump = dump_command(run.segments(RECORDS))
    ours, theirs = take_turns(seconds, lambda: seconds_of(dump), run.rounds)
    name = f"decode_offsets_record over {num_records:,} records in {engine}"
    rates = (num_records / each for each in (ours, theirs))
    return Measured(name, "groupscope dump, start-up counted", "records/s", *rates, Goal(0.5, 1.0), run.rounds)


def written(run: Run) -> tuple[Path, int]:
    """The records that `dump` prints, all but the markers, as a file of two columns."""
    (segment,) = run.segments(RECORDS)
    records = in_memory(segment).records
    keys, values = (
        pa.array([side.bytes_at(row) for row in range(len(side))], pa.binary())
        for side in (records.keys, records.values)
    )
    file = run.folder / "records.parquet"
    pq.write_table(pa.table({"key": keys, "value": values}), file)
    return file, len(records)
