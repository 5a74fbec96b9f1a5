"""The sample of `data/sample` after a whole audit, made once for all tests that look at what comes of it."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.once_a_run import once_a_run

ROOT = Path(__file__).parents[1]
SAMPLE = ROOT / "data" / "sample"


@pytest.fixture(scope="session")
def audited_sample(tmp_path_factory):
    """Its warehouse, which tests only read: they copy it before they write."""
    return once_a_run(tmp_path_factory, "audited_sample", lambda folder: audit_sample(folder / "w")) / "w"


def audit_sample(warehouse):
    words = [
        "audit",
        "--source",
        f"segments:{SAMPLE}",
        "--snapshots",
        f"{SAMPLE}/snapshots.jsonl",
        "--cluster",
        "sample",
    ]
    more = ["--warehouse", str(warehouse), "--config", str(ROOT / "conf" / "sample.toml"), "--fail-on", "never"]
    more += ["--report", str(warehouse.with_name("report"))]
    command = [sys.executable, "-m", "jobs.cli", *words, *more]
    subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=300)
