"""An environment with the wheel and the packages of the local engine, and no other: made of what is installed here, so
that it needs no network. It has no Spark and no Java, as on a server for which nothing else was installed."""

import os
import runpy
import subprocess
import sys
import zipfile
from importlib.metadata import distribution
from pathlib import Path

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "data" / "sample"
AUDIT = (
    "audit", "--source", f"segments:{SAMPLE}", "--snapshots", f"{SAMPLE}/snapshots.jsonl", "--cluster", "sample",
    "--config", f"{ROOT}/conf/sample.toml", "--fail-on", "never",
)  # fmt: skip
# What a member's death at 17:36:38 is answered with, by `why`.
KILLED = ("why", "classic-killed", "--at", "2026-11-21T17:36:38")


def make(folder: Path, wheel: Path) -> Path:
    """Its Python. Files are links, since they have 1 GB."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    for each in runpy.run_path(str(ROOT / ".ci" / "supply.py"))["local_packages"]():
        installed = distribution(each.name)
        for file in installed.files or ():
            # Scripts lie outside; what Python compiles is made anew.
            if ".." not in file.parts and file.suffix != ".pyc":
                place = packages / file
                place.parent.mkdir(parents=True, exist_ok=True)
                place.symlink_to(Path(str(installed.locate_file(file))).resolve())
    zipfile.ZipFile(wheel).extractall(packages)
    return folder / "bin" / "python"


def built_wheel(target: Path) -> Path:
    return runpy.run_path(str(ROOT / ".ci" / "dist.py"))["wheel"](target)


class Installed:
    """A command as its user types it, in an empty folder: without a Java, a compiler, anything of this tree."""

    def __init__(self, folder: Path, *program: str | Path, **more: str) -> None:
        self.folder, self.program = folder, program
        (folder / "home").mkdir(parents=True, exist_ok=True)
        kept = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "JAVA_HOME"}}
        self.environment = {**kept, "PATH": str(folder / "home"), "HOME": str(folder / "home"), **more}

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [*self.program, *words], cwd=self.folder, env=self.environment, capture_output=True, text=True,
            check=False, timeout=600,
        )  # fmt: skip

    def answer(self, *words: str) -> str:
        done = self.run(*words)
        assert done.returncode == 0, done.stderr
        return done.stdout


def check_commands(groupscope: Installed) -> None:
    """Version, audit of the sample, `why`, `status`, report."""
    version = groupscope.answer("--version")
    assert version.startswith("groupscope 0.1.0 (contract ") and "engine spark: not installed" in version
    first, *_ = groupscope.answer(*AUDIT).splitlines()
    assert first.startswith("FINDINGS, exit code 0 because of --fail-on never, else 20: 4 critical"), first
    assert "timed out" in groupscope.answer(*KILLED)
    assert "modern-static" in groupscope.answer("status")
    report = groupscope.folder / "report" / "index.html"
    written = report.stat().st_mtime_ns
    groupscope.answer("report")
    assert report.stat().st_mtime_ns > written and "modern-static" in report.read_text()
