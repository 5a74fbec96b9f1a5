"""Exit codes of jobs behind the ingest, as whoever calls spark-submit sees them. Those of an ingest: test_submit.py."""

import shutil

import pytest

from jobs import cli
from schemas.words.exit_codes import ExitCode
from tests.cluster.zip_alone import elsewhere
from tests.runs.ingested import ROOT, rows
from tests.runs.replayed_logs import batch_ends

__all__ = ["elsewhere"]

pytestmark = pytest.mark.spark

SAMPLE = ROOT / "data" / "sample"
# Of the sample: with a partition that stopped, which is a critical finding.
FOLDER = "__consumer_offsets-7"
SNAPSHOTS = ("--snapshots", str(SAMPLE / "snapshots.jsonl"))


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """Warehouses, settings and a damaged log, by the names that commands below give them."""
    folder = tmp_path_factory.mktemp("codes")
    found = {name: folder / name for name in ("audited", "new", "wrong.toml", "damaged")}
    source = folder / "log"
    shutil.copytree(SAMPLE / FOLDER, source / FOLDER)
    words = ["audit", "--warehouse", str(found["audited"]), "--source", f"segments:{source}", *SNAPSHOTS]
    assert cli.main(words) == ExitCode.FINDINGS
    found["wrong.toml"].write_text("[gate]\nmax_unread = 1\n")
    shutil.copytree(source, found["damaged"])
    damage(min(found["damaged"].glob("*/*.log")))
    return found


def damage(segment):
    """One batch in ten, in its last byte."""
    raw = bytearray(segment.read_bytes())
    for end in batch_ends(bytes(raw))[::10]:
        raw[end - 1] ^= 0xFF
    segment.write_bytes(raw)


@pytest.mark.drawn(1)
@pytest.mark.parametrize(
    ("code", "job", "words"),
    [
        (ExitCode.CLEAN, "lag.py", "--warehouse {audited}"),
        (ExitCode.FINDINGS, "gate.py", "--warehouse {audited}"),
        (ExitCode.CLEAN, "gate.py", "--warehouse {audited} --fail-on never"),
        (ExitCode.USAGE, "gate.py", "--warehouse {audited} --config {wrong.toml}"),
        # Findings too, but what could not be read says more.
        (ExitCode.REJECTED_SHARE, "audit.py", "--warehouse {new} --source segments:{damaged}"),
    ],
)
def test_the_code_of_the_job_is_that_of_spark_submit(elsewhere, places, code, job, words):
    given = [places_in(word, places) for word in words.split()]
    done = elsewhere.submit(*given, *(SNAPSHOTS if job == "audit.py" else ()), job=job)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    if code is ExitCode.REJECTED_SHARE:
        assert "critical" in {row["severity"] for row in rows(places["new"], "findings")}


def places_in(word, places):
    for name, path in places.items():
        word = word.replace(f"{{{name}}}", str(path))
    return word
