"""`spark-submit` runs audits and ingests from the zip that `make dist` packs, on a machine that has only what the
project depends on: the exit codes are the command's, and the tables are there."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from schemas.words.exit_codes import ExitCode
from tests.cluster.zip_alone import elsewhere
from tests.runs.ingested import ROOT, TABLES_OF_INGEST, history, ingest
from tests.runs.replayed_logs import ASSIGNMENTS, HISTORY, assert_same, recompute, replay, row_texts

__all__ = ["elsewhere"]

pytestmark = pytest.mark.spark

SAMPLE = ROOT / "data" / "sample"
# With groups of each type, and the partition that stopped.
PART = SAMPLE / "__consumer_offsets-[37]"
MODULES = """
from importlib.util import find_spec
print([find_spec(name) is not None for name in ("pyspark", "deltalake", "jobs", "schemas", "udfs")])
"""
# A job of somebody else, with a session of its own.
OWN_JOB = """
from pyspark.sql import SparkSession
from jobs.functions import register

spark = SparkSession.builder.getOrCreate()
functions = register(spark)
rows = spark.createDataFrame([(bytes.fromhex("0002000167"), "{}")] * 4, "key BINARY, spec STRING").repartition(2)
record = functions.decode_offsets_record("key", rows.key).alias("record")
for row in rows.select(record, functions.kafka_assign("spec").alias("answer")).distinct().collect():
    print(row.record.type, row.record.rejected.reason, row.answer, sep="|")
spark.stop()
"""


def test_the_project_is_nowhere_but_in_the_zip(elsewhere):
    words = [str(elsewhere.python), "-c", MODULES]
    assert elsewhere.run(words).stdout == "[True, True, False, False, False]\n"


@pytest.mark.drawn_together(2)
def test_the_sample_is_audited_by_tasks_of_spark(elsewhere, tmp_path):
    result = tmp_path / "result.json"
    source = ("--source", f"segments:{PART}", "--snapshots", SAMPLE / "snapshots.jsonl")
    done = elsewhere.submit(
        *source, "--warehouse", tmp_path / "w", "--result-file", result, "--report", tmp_path / "r", job="audit.py"
    )
    # Its story has a partition that stopped.
    assert done.returncode == ExitCode.FINDINGS, done.stderr
    found = json.loads(result.read_text())
    assert (found["verdict"], found["exit_code"]) == ("findings", ExitCode.FINDINGS)
    assert found["read"] == found["decoded"] > 2500
    # By templates and questions that are in the zip.
    assert found["report"].pop("seconds") > 0
    assert found["report"] == {"place": str(tmp_path / "r" / "index.html"), "is_unchanged": False}
    assert "partition_stopped" in (tmp_path / "r" / "index.html").read_text()
    assert all((tmp_path / "w" / name / "_delta_log").is_dir() for name in TABLES_OF_INGEST)
    ingest(tmp_path / "here", *source)
    replay(tmp_path / "here")
    recompute(tmp_path / "here")
    assert history(tmp_path / "w") == history(tmp_path / "here")
    tables = (*HISTORY, *ASSIGNMENTS)
    assert_same(row_texts(tmp_path / "here", tables), row_texts(tmp_path / "w", tables), "audit")
    assert list((elsewhere.folder / "cwd").iterdir()) == []


@pytest.mark.drawn_together(2)
def test_executors_find_the_functions_in_the_zip(elsewhere):
    (elsewhere.folder / "own_job.py").write_text(OWN_JOB)
    done = elsewhere.submit(job="own_job.py")
    assert done.returncode == 0, done.stderr
    answer = '{"id": null, "error": "line 1: group_protocol: missing"}'
    assert done.stdout == f"GroupMetadata|underrun|{answer}\n"


@pytest.mark.drawn_together(2)
def test_too_many_rejected_records_are_an_exit_code_of_their_own(elsewhere, tmp_path):
    damaged = tmp_path / "damaged"
    shutil.copytree(SAMPLE / "__consumer_offsets-3", damaged / "__consumer_offsets-3")
    for path in damaged.glob("*/*.log"):
        raw = bytearray(path.read_bytes())
        # In the first batch, behind its header.
        raw[80:81] = bytes([raw[80] ^ 0xFF]) if len(raw) > 80 else b""
        path.write_bytes(raw)
    done = elsewhere.submit("--source", f"segments:{damaged}", "--warehouse", tmp_path / "w")
    assert done.returncode == ExitCode.REJECTED_SHARE, done.stderr
    # spark-submit prints on one stream what Python writes on two.
    assert "records rejected or damaged; more than 0.1% is an error (setting max_rejected_share)" in done.stdout
    assert sum(map(len, history(tmp_path / "w").values())) > 600


@pytest.mark.drawn_together(2)
@pytest.mark.drawn(1)
@pytest.mark.parametrize("code", [ExitCode.UNREADABLE_INPUT, ExitCode.UNUSABLE_WAREHOUSE, ExitCode.USAGE])
def test_a_failure_is_told_in_a_line_and_by_its_exit_code(elsewhere, tmp_path, code):
    (tmp_path / "nothing").mkdir()
    (tmp_path / "file").touch()
    arguments = {
        ExitCode.UNREADABLE_INPUT: ("--source", f"segments:{tmp_path / 'nothing'}", "--warehouse", tmp_path / "w"),
        ExitCode.UNUSABLE_WAREHOUSE: ("--source", f"segments:{SAMPLE}", "--warehouse", tmp_path / "file"),
        ExitCode.USAGE: ("--warehouse", tmp_path / "w"),
    }
    done = elsewhere.submit(*arguments[code])
    assert done.returncode == code, done.stderr
    (line,) = done.stdout.splitlines()
    assert line.startswith("groupscope: ")
    assert str(tmp_path) in line or code is ExitCode.USAGE
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "w" / "runs").exists()


@pytest.mark.drawn_together(2)
def test_spark_submit_starts_where_the_environment_is_not_activated(tmp_path):
    """And on a machine without Java, by the one of the environment."""
    submit = Path(sys.executable).with_name("spark-submit")
    environment = {"PATH": "/usr/bin:/bin", "HOME": os.environ["HOME"]}
    done = subprocess.run(
        [submit, "--version"], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert f"version {pyspark.__version__}" in done.stderr


@pytest.mark.drawn_together(2)
def test_a_warehouse_is_maintained_by_spark_submit(elsewhere, tmp_path):
    ingest(tmp_path / "w", "--source", f"segments:{SAMPLE}")
    result = tmp_path / "result.json"
    done = elsewhere.submit(
        "--keep", "400d", "--warehouse", tmp_path / "w", "--result-file", result, job="maintain.py"
    )  # fmt: skip
    assert done.returncode == ExitCode.CLEAN, done.stderr
    found = json.loads(result.read_text())
    assert (found["job"], found["verdict"], found["num_rows_dropped"]) == ("maintain", "clean", 0)
