"""Who may import whom, as data, and a walk over every import that fails on a wrong arrow."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

STANDARD_LIBRARY = frozenset(sys.stdlib_module_names)
# What would let a pure function reach a file, the clock, the machine or chance.
IMPURE = frozenset({"datetime", "glob", "os", "pathlib", "random", "secrets", "shutil", "socket", "subprocess", "time"})
IMPURE |= {"importlib"}  # would reach all of them, unseen by this walk
ALLOWED = {
    "schemas": STANDARD_LIBRARY | {"schemas"},
    "udfs": (STANDARD_LIBRARY - IMPURE) | {"numpy", "pyarrow", "pandas", "google_crc32c", "xxhash", "schemas", "udfs"},
    "jobs": STANDARD_LIBRARY
    # What pyproject.toml declares: whatever else is installed is there by chance.
    | {"numpy", "pyarrow", "pandas", "google_crc32c", "pyspark", "delta", "deltalake", "duckdb", "great_expectations"}
    | {"obstore", "hdfs_native", "jinja2", "markupsafe", "argcomplete"}
    # Only with the extra `kafka`, so never when a module loads.
    | {"kafka"}
    | {"schemas", "udfs", "jobs"},
}

# A job is what an operator starts: it reads, calls, writes. The other files of jobs/ are parts that jobs share.
JOBS = frozenset(
    {"ingest", "capture", "replay", "assignments", "lag", "gate", "report", "audit", "dump", "sql", "doctor"}
)
JOBS |= {"groups", "describe", "why", "owner", "diff", "offsets", "assign", "whatif", "rebalances", "completion"}
CALL_JOBS = frozenset({"audit", "cli"})


def imports(source: str) -> Iterator[tuple[int, str]]:
    """Line and full name of each import, those inside functions and `from package import module` included."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            # A relative import stays in its layer, but would hide which module it means.
            origin = "." * node.level + (node.module or "")
            yield from ((node.lineno, f"{origin}.{alias.name}") for alias in node.names)


def wrong_arrows(path: Path, source: str) -> list[str]:
    """The imports of the file at `path` (relative to the root) that its layer does not allow."""
    return [
        f"{path}:{line} imports {name}"
        for line, name in imports(source)
        if name.split(".")[0] not in ALLOWED[path.parts[0]] or is_job_to_job(path, name)
    ]


def is_job_to_job(path: Path, name: str) -> bool:
    parts = name.split(".")
    return (
        path.parts[0] == "jobs"
        and path.stem not in CALL_JOBS
        and parts[0] == "jobs"
        and len(parts) > 1
        and parts[1] in JOBS - {path.stem}
    )


def python_files(layer: str) -> list[Path]:
    return sorted((ROOT / layer).rglob("*.py"))


@pytest.mark.parametrize("layer", ALLOWED)
def test_every_import_of_a_layer_points_the_right_way(layer: str) -> None:
    files = python_files(layer)
    assert files
    assert [wrong for file in files for wrong in wrong_arrows(file.relative_to(ROOT), file.read_text())] == []


def test_every_file_that_is_run_like_a_job_is_declared_as_one() -> None:
    def functions(file: Path) -> set[str]:
        return {node.name for node in ast.parse(file.read_text()).body if isinstance(node, ast.FunctionDef)}

    jobs = {file.stem for file in (ROOT / "jobs").glob("*.py") if "run" in functions(file)} - CALL_JOBS
    arguments = (ROOT / "jobs" / "arguments").glob("[a-z]*.py")
    flags = {file.stem for file in arguments if "add_arguments" in functions(file)} - CALL_JOBS
    assert flags
    assert flags <= jobs <= JOBS


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("schemas/x.py", "import numpy"),
        ("schemas/x.py", "from udfs.framing.frame import frame"),
        ("udfs/x.py", "import pyspark.sql"),
        ("udfs/x.py", "from jobs import dump"),
        ("udfs/x.py", "import time"),
        ("udfs/x.py", "def f():\n    from os import environ"),
        ("udfs/x.py", "from . import framing"),
        ("jobs/x.py", "import tests.kafka"),
        ("jobs/x.py", "import requests"),
        ("jobs/replay.py", "from jobs import ingest"),
        ("jobs/replay.py", "from jobs.ingest import run"),
        ("jobs/spark/session.py", "import jobs.audit"),
    ],
)
def test_a_wrong_arrow_is_seen(path: str, source: str) -> None:
    assert len(wrong_arrows(Path(path), source)) == 1


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("schemas/x.py", "from dataclasses import dataclass"),
        (
            "udfs/x.py",
            "import numpy as np\nimport pyarrow.compute as pc\nfrom schemas.records.registry import REGISTRY",
        ),
        ("jobs/replay.py", "from jobs.spark.session import spark_session\nfrom udfs import framing"),
        ("jobs/audit.py", "from jobs.ingest import run"),
        ("jobs/cli.py", "def f():\n    from jobs import dump"),
    ],
)
def test_a_right_arrow_is_left_alone(path: str, source: str) -> None:
    assert wrong_arrows(Path(path), source) == []
