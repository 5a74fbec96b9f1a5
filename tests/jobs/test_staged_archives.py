"""Archives, broken lines, snapshots and records taken up again: Spark's writer leaves what the direct one does."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.parquet as pq
import pytest

from tests.jobs.ingested import history, ingest, rows
from tests.jobs.test_ingest_archives import archived, lines, segments, table
from tests.written_copies import random_log

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.soak]

COUNTS = ("read", "decoded", "rejected", "already_known", "num_files_read", "reject_reasons", "rows_added")


def test_both_writers_take_archives_alike(tmp_path: Path, spark: "SparkSession", rng: np.random.Generator) -> None:
    logs = {partition: random_log(rng, 20) for partition in (3, 11)}
    segments(tmp_path / "a", logs, rng)
    found = archived(tmp_path / "a")
    damaged = segments(tmp_path / "damaged", {3: logs[3]}, rng)
    path = sorted(damaged.rglob("*.log"))[0]
    raw = bytearray(path.read_bytes())
    raw[len(logs[3][0].bytes) - 1] ^= 0xFF
    path.write_bytes(raw)
    text = lines(found).splitlines(keepends=True)
    for place in (5, 6, 40):
        text[place] = text[place].replace('"key": "', '"key": "?')
    (tmp_path / "lines.jsonl").write_text("".join(text) + "no line at all\n")
    pq.write_table(table(found), tmp_path / "whole.parquet")
    (tmp_path / "snapshot.jsonl").write_text(
        '{"captured_at": 1700000000000, "topics": [{"topic": "t", "topic_id": "AAAAAAAAAAAAAAAAAAAAAA", "partitions": '
        '[{"partition": 0, "log_start_offset": 0, "log_end_offset": 9}]}]}\n'
    )
    (tmp_path / "spark.toml").write_text('[ingest]\nwriter = "spark"\n')
    steps = [
        ["--source", f"segments:{damaged}", "--snapshots", tmp_path / "snapshot.jsonl"],
        ["--source", f"records:{tmp_path / 'lines.jsonl'}"],
        ["--source", f"records:{tmp_path / 'whole.parquet'}", "--snapshots", tmp_path / "snapshot.jsonl"],
        ["--retry-rejected", "--optimize", "full"],
    ]
    for number, step in enumerate(steps):
        direct = ingest(tmp_path / "direct", *step)
        staged = ingest(tmp_path / "staged", *step, "--config", tmp_path / "spark.toml")
        assert {name: staged[name] for name in COUNTS} == {name: direct[name] for name in COUNTS}, number
        assert history(tmp_path / "staged") == history(tmp_path / "direct"), number
    for name in ("cluster_snapshots", "topic_snapshots"):
        assert len(rows(tmp_path / "staged", name)) == len(rows(tmp_path / "direct", name)) == 1
