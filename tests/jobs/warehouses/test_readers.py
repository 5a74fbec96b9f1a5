"""Tables of a warehouse as others see them: Spark, DuckDB and delta-rs read the same, Spark may change them, and what
Delta's log says of a file is true, so that queries may leave files and row groups out."""

import shutil
from dataclasses import dataclass
from datetime import datetime

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from pyspark.sql.types import ArrayType, MapType, StructType

from benchmarks.segments import Plan, write_segments
from jobs import cli
from jobs.spark.types import table_type
from schemas.tables import BESIDE_RUNS, TABLES, sql_type
from tests.builders.logs.copies import Written, WrittenBatch, commit, keys_of, random_log, write_copy
from tests.runs.ingested import ROOT, ingest
from udfs.arrays.arrow_schema import table_schema

pytestmark = pytest.mark.spark

SAMPLE = ROOT / "data" / "sample"
# By the names that SQL has for them.
ARROW_NAMES = {
    pa.string(): "STRING",
    pa.binary(): "BINARY",
    pa.bool_(): "BOOLEAN",
    pa.int32(): "INT",
    pa.int64(): "BIGINT",
    pa.float64(): "DOUBLE",
    pa.timestamp("us", "UTC"): "TIMESTAMP",
}
# What a consumer records beside runs is not there.
WRITTEN = [name for name in TABLES if name not in BESIDE_RUNS]
LOG = random_log(np.random.default_rng(3), 10)
Column = tuple[str, str, bool, str]


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory):
    """Of the sample, all of which can be decoded and fits: so with rows that cannot, from a log with unknown record
    types, and with a commit of an offset that is none."""
    root = tmp_path_factory.mktemp("readers")
    rng = np.random.default_rng(1)
    negative = WrittenBatch(10_000, 9, (Written(0, *commit("group-0", "topic-0", 0, -5)),), 0)
    write_copy(root / "odd", 40, [*random_log(rng, 60), negative], rng)
    ingest(root / "w", "--source", f"segments:{SAMPLE}")
    ingest(root / "w", "--source", f"segments:{root / 'odd'}", "--snapshots", SAMPLE / "snapshots.jsonl")
    for job in ("replay", "assignments", "lag"):
        assert cli.main([job, "--warehouse", str(root / "w")]) == 0
    assert cli.main(["gate", "--warehouse", str(root / "w"), "--fail-on", "never"]) == 0
    return root / "w"


@pytest.mark.drawn(3)
@pytest.mark.parametrize("name", WRITTEN)
def test_types_nullability_and_comments_are_as_declared(warehouse, spark, name):
    declared = [
        (column.name, sql_type(column.type), column.is_nullable, column.comment) for column in TABLES[name].columns
    ]
    delta = pa.schema(DeltaTable(warehouse / TABLES[name].folder).schema().to_arrow())
    frame = spark.read.format("delta").load(str(warehouse / TABLES[name].folder))
    assert arrow_columns(delta) == declared == spark_columns(frame.schema)
    assert frame.schema == table_type(TABLES[name])
    assert delta.equals(table_schema(TABLES[name]))
    described = spark.sql(f"DESCRIBE delta.`{warehouse / TABLES[name].folder}`").limit(len(declared)).collect()
    assert [(row.col_name, row.comment) for row in described] == [(name, comment) for name, *_, comment in declared]


def arrow_columns(schema):
    return [
        (field.name, arrow_sql(field.type), field.nullable, field.metadata[b"comment"].decode()) for field in schema
    ]


def arrow_sql(kind):
    if pa.types.is_list(kind):
        return f"ARRAY<{arrow_sql(kind.value_type)}>"
    if pa.types.is_map(kind):
        return f"MAP<{arrow_sql(kind.key_type)}, {arrow_sql(kind.item_type)}>"
    if pa.types.is_struct(kind):
        return f"STRUCT<{', '.join(f'{field.name}: {arrow_sql(field.type)}' for field in kind)}>"
    return ARROW_NAMES[kind]


def spark_columns(schema):
    return [(field.name, spark_sql(field.dataType), field.nullable, field.metadata["comment"]) for field in schema]


def spark_sql(kind):
    match kind:
        case ArrayType():
            return f"ARRAY<{spark_sql(kind.elementType)}>"
        case MapType():
            return f"MAP<{spark_sql(kind.keyType)}, {spark_sql(kind.valueType)}>"
        case StructType():
            return f"STRUCT<{', '.join(f'{field.name}: {spark_sql(field.dataType)}' for field in kind)}>"
    return kind.simpleString().upper()


@pytest.mark.drawn(3)
@pytest.mark.parametrize("name", WRITTEN)
def test_delta_rs_duckdb_and_spark_read_the_same_rows(warehouse, spark, name):
    delta = DeltaTable(warehouse / TABLES[name].folder)
    held = delta.to_pyarrow_table()
    if name not in ("group_partition_metadata", "replayed_moves"):
        assert held.num_rows > 0
    assert as_set(by_duckdb(delta)) == as_set(held)
    assert as_set(spark.read.format("delta").load(str(warehouse / TABLES[name].folder)).toArrow()) == as_set(held)


def by_duckdb(delta):
    dataset = delta.to_pyarrow_dataset()
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.register("dataset", dataset)
        return connection.sql("SELECT * FROM dataset").to_arrow_table()


def as_set(table):
    return sorted(repr({name: plain(value) for name, value in row.items()}) for row in table.to_pylist())


def plain(value):
    """One form of what readers give in several: zones of one meaning, pairs of maps."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value


@pytest.mark.parametrize("name", WRITTEN)
def test_old_readers_and_writers_of_delta_may_use_the_tables(warehouse, name):
    delta = DeltaTable(warehouse / TABLES[name].folder)
    protocol = delta.protocol()
    assert (protocol.min_reader_version, protocol.reader_features) == (1, None)
    assert protocol.min_writer_version in (2, 3)
    assert protocol.writer_features is None
    assert delta.metadata().configuration["groupscope.contract_version"] == "3"


@pytest.mark.parametrize("name", WRITTEN)
def test_statistics_of_files_are_true(warehouse, name):
    check_statistics(DeltaTable(warehouse / TABLES[name].folder), warehouse / TABLES[name].folder)


def check_statistics(delta, folder):
    for action in pa.table(delta.get_add_actions(flatten=False)).to_pylist():
        held = pq.read_table(folder / action["path"])
        assert (action["num_records"], action["size_bytes"]) == (
            held.num_rows,
            (folder / action["path"]).stat().st_size,
        )
        leading = [field.name for field in held.schema if not pa.types.is_nested(field.type)][:12]
        # What is not known is none, here as a null: of lists, and of a column behind the leading ones where one before
        # it is the table's partition.
        null_count = {name: number for name, number in action["null_count"].items() if isinstance(number, int)}
        assert set(null_count) <= set(leading)
        assert all(
            action[side][column] is not None
            for side in ("min", "max")
            for column in always_bounded(held)
            if column in leading
        )
        for column, number in null_count.items():
            assert (column, number) == (column, held.column(column).null_count)
        for side, extreme in (("min", pc.min), ("max", pc.max)):
            for column, bound in action[side].items():
                if column in null_count and bound is not None:
                    assert (column, bound) == (column, extreme(held.column(column)).as_py())


def always_bounded(held):
    """What queries leave files out by, where there are values of it."""
    names = ("cluster", "offsets_partition", "record_offset", "record_time")
    return [name for name in names if name in held.column_names and held.column(name).null_count < held.num_rows]


@pytest.mark.drawn_together(2)
def test_groups_whose_bounds_parquet_does_not_keep_are_read(tmp_path, spark):
    """Of texts above 4096 bytes it keeps none; those of the file's other row groups must not stand for them."""
    written = {0: ["m"] * 17_000, 1: ["a" * 5000, "z" * 5000, "a" * 5000]}
    for partition, groups in written.items():
        write_copy(tmp_path / "log", partition, log_of(groups), np.random.default_rng(partition))
    ingest(tmp_path / "w", "--source", f"segments:{tmp_path / 'log'}")
    path = tmp_path / "w" / "offset_commits"
    check_statistics(DeltaTable(path), path)
    frame = spark.read.format("delta").load(str(path))
    for group in ("m", "a" * 5000, "z" * 5000):
        number = sum(groups.count(group) for groups in written.values())
        assert frame.where(frame.group_id == group).count() == number


def log_of(groups):
    """A commit of each group in turn."""
    result = []
    for start in range(0, len(groups), 500):
        some = groups[start : start + 500]
        records = tuple(Written(delta, *commit(group, "topic", 0, delta)) for delta, group in enumerate(some))
        result.append(WrittenBatch(start, 0, records, len(some) - 1))
    return result


@pytest.fixture(scope="module")
def changed(warehouse, spark, tmp_path_factory):
    """The warehouse with a damaged batch more, after Spark has appended, deleted and rewritten."""
    root = shutil.copytree(warehouse, tmp_path_factory.mktemp("changed") / "w")
    damaged = write_segment(root.parent / "damaged", with_wrong_crc(LOG, 4))
    run = ingest(root, "--source", f"segments:{damaged}", "--optimize", "never")
    assert run["reject_reasons"]["bad_crc"] == 1
    path = root / "offset_commits"
    before = DeltaTable(path).to_pyarrow_table()
    names = ", ".join(before.column_names[1:])
    some = f"SELECT 'elsewhere', {names} FROM delta.`{path}` WHERE offsets_partition = 1 LIMIT 50"
    spark.sql(f"INSERT INTO delta.`{path}` {some}")
    assert DeltaTable(path).to_pyarrow_table().num_rows == before.num_rows + 50
    spark.sql(f"DELETE FROM delta.`{path}` WHERE cluster = 'elsewhere' AND record_offset % 2 = 1")
    for name in ("offset_commits", "rejected_records"):
        spark.sql(f"OPTIMIZE delta.`{root / name}`")
        assert len(DeltaTable(root / name).file_uris()) == 1
    after = DeltaTable(path).to_pyarrow_table()
    assert as_set(after) == as_set(spark.read.format("delta").load(str(path)).toArrow())
    kept = after.filter(pc.equal(after.column("cluster"), "elsewhere"))
    assert 0 < kept.num_rows < 50 and all(offset % 2 == 0 for offset in kept.column("record_offset").to_pylist())
    assert as_set(after.filter(pc.equal(after.column("cluster"), "default"))) == as_set(before)
    return root


@pytest.mark.drawn(1)
@pytest.mark.parametrize("mode", ["never", "full"])
def test_an_ingest_goes_on_where_spark_has_changed_tables(changed, tmp_path, spark, mode):
    root = shutil.copytree(changed, tmp_path / "w")
    before = {name: held(root, name) for name in ("offset_commits", "rejected_records")}
    log = random_log(np.random.default_rng(2), 20)
    write_copy(tmp_path / "more", 41, log, np.random.default_rng(2))
    run = ingest(root, "--source", f"segments:{tmp_path / 'more'}", "--cluster", "default", "--optimize", mode)
    assert run["read"] == run["decoded"] + run["rejected"] == len(keys_of(log))
    after = {name: held(root, name) for name in before}
    for name, number in (("offset_commits", run["decoded"]), ("rejected_records", run["rejected"])):
        assert set(before[name]) <= set(after[name])
        assert len(after[name]) == len(set(after[name])) == len(before[name]) + number
    path = root / "offset_commits"
    assert as_set(spark.read.format("delta").load(str(path)).toArrow()) == after["offset_commits"]
    check_statistics(DeltaTable(path), path)


def test_rejected_rows_go_also_where_spark_has_rewritten_them(changed, tmp_path):
    root = shutil.copytree(changed, tmp_path / "w")
    before = DeltaTable(root / "rejected_records").to_pyarrow_table().to_pylist()
    good = write_segment(tmp_path / "good", b"".join(batch.bytes for batch in LOG))
    arguments = ("--cluster", "default", "--optimize", "never")
    run = ingest(root, "--source", f"segments:{good}", *arguments)
    after = DeltaTable(root / "rejected_records").to_pyarrow_table().to_pylist()
    stays = [row for row in before if row["reason"] != "bad_crc"]
    assert len(stays) == len(before) - 1
    assert [row for row in after if row in stays] == [row for row in after if row["run_id"] != run["run_id"]]
    assert len(after) == len(stays) + run["rejected"]


def held(root, name):
    return as_set(DeltaTable(root / name).to_pyarrow_table())


def write_segment(folder, raw):
    path = folder / "__consumer_offsets-42" / f"{0:020}.log"
    path.parent.mkdir(parents=True)
    path.write_bytes(raw)
    return folder


def with_wrong_crc(log, number):
    raw = [bytearray(batch.bytes) for batch in log]
    raw[number][-1] ^= 0xFF
    return b"".join(raw)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """More rows and partitions than one row group takes."""
    root = tmp_path_factory.mktemp("large")
    write_segments(root / "log", Plan(300_000, seed=5, partitions=6))
    ingest(root / "w", "--source", f"segments:{root / 'log'}")
    return root / "w" / "offset_commits"


@dataclass(frozen=True)
class Scan:
    """What Spark has read of a table for a query, and how many rows that left."""

    num_files: int
    num_rows_read: int
    num_rows: int


def scan(frame):
    num_rows = len(frame.collect())
    leaves = frame._jdf.queryExecution().executedPlan().collectLeaves()
    assert leaves.size() == 1
    metrics = leaves.head().metrics()
    files, read = (metrics.get(name).get().value() for name in ("numFiles", "numOutputRows"))
    return Scan(files, read, num_rows)


def groups_kept(path, is_kept):
    """Row groups that may hold what a query asks for by their own bounds, and how many there are."""
    result = [bounds for name in DeltaTable(path).file_uris() for bounds in row_groups(pq.read_metadata(name))]
    return sum(map(is_kept, result)), len(result)


def row_groups(metadata):
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        columns = [group.column(place) for place in range(group.num_columns)]
        yield {each.path_in_schema: (each.statistics.min, each.statistics.max) for each in columns if has_bounds(each)}


def has_bounds(column):
    return bool(column.is_stats_set and column.statistics.has_min_max)


def holds(name, low, high):
    return lambda bounds: bounds[name][0] <= high and low <= bounds[name][1]


@pytest.mark.drawn_together(2)
def test_a_query_for_one_partition_reads_little_of_the_table(large, spark):
    frame = spark.read.format("delta").load(str(large))
    whole = scan(frame.select("record_offset"))
    assert whole.num_rows_read == whole.num_rows > 150_000
    for partition in range(6):
        part = scan(frame.where(frame.offsets_partition == partition).select("record_offset"))
        assert 0 < part.num_rows <= part.num_rows_read < whole.num_rows_read / 2
        kept, number = groups_kept(large, holds("offsets_partition", partition, partition))
        assert 0 < kept < number / 2
    group = frame.where(frame.offsets_partition == 2).select("group_id").first().group_id
    of_group = scan(frame.where((frame.group_id == group) & (frame.offsets_partition == 2)))
    assert 0 < of_group.num_rows < of_group.num_rows_read < whole.num_rows_read / 2


@pytest.mark.drawn_together(2)
def test_a_query_for_a_stretch_of_time_reads_little_of_a_long_log(tmp_path, large, spark):
    frame = spark.read.format("delta").load(str(large))
    times = DeltaTable(large).to_pyarrow_table(columns=["record_time"]).column("record_time")
    first, last = pc.min(times).as_py(), pc.max(times).as_py()
    stretch = (first + (last - first) * 0.9, last)
    whole = scan(frame.select("record_offset"))
    part = scan(frame.where(frame.record_time.between(*stretch)).select("record_offset"))
    assert part.num_rows == pc.sum(pc.greater_equal(times, pa.scalar(stretch[0], times.type))).as_py()
    kept, number = groups_kept(large, holds("record_time", *stretch))
    assert (part.num_rows_read, kept) < (whole.num_rows_read, number)


@pytest.mark.drawn_together(2)
def test_partitions_of_one_file_are_row_groups_of_their_own(tmp_path, spark):
    write_segments(tmp_path / "log", Plan(75_000, seed=6, partitions=2))
    ingest(tmp_path / "w", "--source", f"segments:{tmp_path / 'log'}")
    frame = spark.read.format("delta").load(str(tmp_path / "w" / "offset_commits"))
    for partition in (0, 1):
        part = scan(frame.where(frame.offsets_partition == partition).select("record_offset"))
        assert part.num_files == 1
        assert part.num_rows_read == part.num_rows > 16_384
