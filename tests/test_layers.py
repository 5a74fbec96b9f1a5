"""Who may import whom, as data, and a walk over every import that fails on a wrong arrow."""

import ast
import sys
from pathlib import Path

import pytest

from jobs.command_line.flags import COMMANDS

ROOT = Path(__file__).parents[1]

STANDARD_LIBRARY = frozenset(sys.stdlib_module_names)
# What would let a pure function reach a file, the clock, the machine or chance.
IMPURE = frozenset({"datetime", "glob", "os", "pathlib", "random", "secrets", "shutil", "socket", "subprocess", "time"})
IMPURE |= {"importlib"}  # would reach all of them, unseen by this walk
ALLOWED = {
    "schemas": STANDARD_LIBRARY | {"schemas"},
    "udfs": (STANDARD_LIBRARY - IMPURE)
    | {"numpy", "pyarrow", "pandas", "google_crc32c", "xxhash", "numba", "llvmlite", "schemas", "udfs"},
    "jobs": STANDARD_LIBRARY
    # What pyproject.toml declares: whatever else is installed is there by chance.
    | {"numpy", "pyarrow", "pandas", "google_crc32c", "pyspark", "delta", "deltalake", "duckdb", "great_expectations"}
    | {"obstore", "hdfs_native", "jinja2", "markupsafe", "argcomplete", "tzlocal"}
    # The compiler of loops, and the half of it that knows the processor.
    | {"numba", "llvmlite"}
    # Only with the extra `kafka`, so never when a module loads.
    | {"kafka"}
    | {"schemas", "udfs", "jobs"},
}

# A job is what an operator starts: it reads, calls, writes. The other files of jobs/ are parts that jobs share.
JOBS = frozenset(
    {
        "ingest",
        "capture",
        "replay",
        "assignments",
        "lag",
        "gate",
        "report",
        "audit",
        "dump",
        "sql",
        "doctor",
        "maintain",
    }
)
JOBS |= {"groups", "describe", "why", "owner", "diff", "offsets", "assign", "whatif", "rebalances", "completion"}
JOBS |= {"mark", "partition", "status"}
CALL_JOBS = frozenset({"audit", "cli"})
MOST_IN_A_FOLDER = 15


def imports(source):
    """Line and full name of each import, those inside functions and `from package import module` included."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            # A relative import stays in its layer, but would hide which module it means.
            origin = "." * node.level + (node.module or "")
            yield from ((node.lineno, f"{origin}.{alias.name}") for alias in node.names)


def wrong_arrows(path, source):
    """The imports of the file at `path` (relative to the root) that its layer does not allow."""
    return [
        f"{path}:{line} imports {name}"
        for line, name in imports(source)
        if name.split(".")[0] not in ALLOWED[path.parts[0]] or is_job_to_job(path, name)
    ]


def is_job_to_job(path, name):
    parts = name.split(".")
    return (
        path.parts[0] == "jobs"
        and path.stem not in CALL_JOBS
        and parts[0] == "jobs"
        and len(parts) > 1
        and parts[1] in JOBS - {path.stem}
    )


def modules():
    names = {}
    for file in (file for layer in ALLOWED for file in python_files(layer)):
        parts = file.relative_to(ROOT).with_suffix("").parts
        names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return names


def imported_modules(source, names):
    """Imports for types included: a reader follows them too. So is what a module imports when it is run."""
    imported = (name for _, name in imports(source))
    return {name if name in names else name.rpartition(".")[0] for name in imported} & set(names)


def packages_of(arrows, packages):
    """Arrows between the folders of modules. What lies directly in `jobs/` is jobs, which import everything."""

    def package(name):
        return name if name in packages else name.rpartition(".")[0]

    result = {}
    for name, targets in arrows.items():
        result.setdefault(package(name), set()).update(package(target) for target in targets)
    return {name: targets - {name} for name, targets in result.items()}


def circle(arrows):
    """What is left when everything goes, again and again, that imports nothing left."""
    left = dict(arrows)
    while gone := [name for name, targets in left.items() if not targets & left.keys()]:
        left = {name: targets for name, targets in left.items() if name not in gone}
    return sorted(left)


@pytest.fixture(scope="module")
def arrows():
    names = modules()
    return {name: imported_modules(file.read_text(), names) - {name} for name, file in names.items()}


def test_no_modules_import_each_other(arrows):
    assert circle(arrows) == []


def test_no_folders_import_each_other(arrows):
    packages = [name for name, file in modules().items() if file.name == "__init__.py"]
    assert circle(packages_of(arrows, packages)) == []


def test_a_circle_is_seen():
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == ["a", "b", "c"]
    source = "if TYPE_CHECKING:\n    from jobs import a\ndef f():\n    from jobs.b import g\n    import jobs.c.h"
    assert imported_modules(source, ("jobs.a", "jobs.b", "jobs.c.h")) == {"jobs.a", "jobs.b", "jobs.c.h"}
    main = "if __name__ == '__main__':\n    from jobs import a"
    assert imported_modules(main, ("jobs.a",)) == {"jobs.a"}
    assert packages_of({"p.x": {"q.y"}, "q.z": {"p.x"}}, ("p", "q")) == {"p": {"q"}, "q": {"p"}}


def test_a_folder_holds_few_modules_and_says_what_they_are():
    for folder in {file.parent for file in modules().values()}:
        # One for each command.
        if folder != ROOT / "jobs":
            assert len(list(folder.glob("[!_]*.py"))) <= MOST_IN_A_FOLDER, folder
        assert ast.get_docstring(ast.parse((folder / "__init__.py").read_text())), folder


def python_files(layer):
    return sorted((ROOT / layer).rglob("*.py"))


@pytest.mark.parametrize("layer", ALLOWED)
def test_every_import_of_a_layer_points_the_right_way(layer):
    files = python_files(layer)
    assert files
    assert [wrong for file in files for wrong in wrong_arrows(file.relative_to(ROOT), file.read_text())] == []


def test_every_file_that_is_run_like_a_job_is_declared_as_one():
    def functions(file):
        return {node.name for node in ast.parse(file.read_text()).body if isinstance(node, ast.FunctionDef)}

    jobs = {file.stem for file in (ROOT / "jobs").glob("*.py") if "run" in functions(file)} - {"cli"}
    assert jobs == JOBS == set(COMMANDS)


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
def test_a_wrong_arrow_is_seen(path, source):
    assert len(wrong_arrows(Path(path), source)) == 1


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("schemas/x.py", "from dataclasses import dataclass"),
        (
            "udfs/x.py",
            "import numpy as np\nimport pyarrow.compute as pc\nfrom schemas.records import REGISTRY",
        ),
        ("jobs/replay.py", "from jobs.spark.session import spark_session\nfrom udfs import framing"),
        ("jobs/audit.py", "from jobs.ingest import run"),
        ("jobs/cli.py", "def f():\n    from jobs import dump"),
    ],
)
def test_a_right_arrow_is_left_alone(path, source):
    assert wrong_arrows(Path(path), source) == []
