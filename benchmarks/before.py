"""The whole commands that users time, by two trees in pairs: this one, and the one that it must not be slower than.

python -m benchmarks.before [--tree COMMIT|FOLDER] [--records N] [--rounds N] [--only NAME…] [--whole] [--json FILE]

Without --tree the other tree is the commit BEFORE: the state before the rewriting of the product began. It is checked
out and set up once, in the cache folder. A later change may cost time if an earlier one saved it: what counts is this
comparison. A ratio is the median over the pairs of our time by that of the other tree; the trees take turns in who is
first. It ends with 1 if a ratio by the clock is above the command's limit, which is AT_MOST for most.

The `assignments` step of a tree and the one before: python -m benchmarks.before --tree COMMIT --only assignments
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path

from benchmarks.__main__ import table
from benchmarks.audit import DRIVER_MEMORY, SAMPLE, SNAPSHOTS, audit_words
from benchmarks.commands import seconds_of
from benchmarks.durations import shown
from benchmarks.generations import Shape, write_generations
from benchmarks.processor_time import adopt_orphans, processor_seconds
from benchmarks.run import Run
from benchmarks.shapes import FEW_KEYS, MIX
from benchmarks.skewed_logs import SKEWS, write_hot_partition
from jobs.spark.cache_folder import build_once, cache_folder
from jobs.spark.java import java_home

BEFORE = "848109a1"
AT_MOST = 1.15
RECORDS = 10_000_000
ROOT = Path(__file__).parents[1]
# A question about the sample that takes the longest way: the rebalance, its cost, and the records that prove it.
QUESTION = ("classic-killed", "--at", "2026-11-21T17:36:38")
# A narrowed audit writes no report. No group has this name.
NARROWED = ("--exclude-group", "^no such group$")
# Steps after ingest, of which the last is compared alone.
ASSIGNMENTS = ("replay", "assignments")
LAG = (*ASSIGNMENTS, "lag")
GATE = (*LAG, "gate")
# The assignors are plain Python: many small groups, and a log with nothing but rebalances, are where they are felt.
AT_MOST_OF_SMALL_GROUPS, AT_MOST_OF_REBALANCES = 1.3, 1.5
# Parts of the promised 200,000 groups and 50,000 rebalances that are made without --whole.
SMALL_GROUPS, REBALANCES = 0.1, 0.16
HEAD = ("command", "ours", "before", "by the clock", "processor time", "verdict")


@dataclass(frozen=True)
class Tree:
    """A checkout that is set up, and where it keeps its warehouses."""

    root: Path
    folder: Path

    def groupscope(self, *words: str | Path) -> list[str]:
        # In its own folder, whose settings it reads: those of the other tree may have keys that it does not know.
        # Of its own modules, if two trees share an environment.
        own = ["env", "-C", str(self.root), f"PYTHONPATH={self.root}"]
        return [*own, str(self.root / ".venv" / "bin" / "groupscope"), *map(str, words)]

    def audit(self, log: Path, warehouse: Path, *more: str) -> list[str]:
        return self.groupscope("audit", *audit_words(log, warehouse), *more)

    def has(self, command: str) -> bool:
        return not subprocess.run(self.groupscope(command, "--help"), capture_output=True, check=False).returncode


@dataclass(frozen=True)
class Command:
    """`run` does it once in a tree and returns the seconds by the clock; `warm_up` runs are not counted."""

    name: str
    run: Callable[[Tree], float]
    rounds: int
    warm_up: int = 1
    # A command that a tree may not have yet.
    needs: str = "audit"
    # None: the figure is only printed.
    at_most: float | None = AT_MOST


@dataclass(frozen=True)
class Compared:
    name: str
    ours: float
    theirs: float | None
    clock: float | None
    processor: float | None
    at_most: float | None = AT_MOST

    @property
    def is_missed(self) -> bool:
        return None not in (self.clock, self.at_most) and self.clock > self.at_most  # type: ignore[operator]

    def cells(self) -> tuple[str, ...]:
        if self.theirs is None or self.clock is None or self.processor is None:
            return (self.name, shown(self.ours), "not there", "", "", "")
        ratios = (f"{self.clock:.2f} x", f"{self.processor:.2f} x")
        verdict = "" if self.at_most is None else "missed" if self.is_missed else "reached"
        return (self.name, shown(self.ours), shown(self.theirs), *ratios, verdict)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.before")
    parser.add_argument("--tree", default=BEFORE, help="a commit, or the folder of a checkout that is set up")
    parser.add_argument("--records", type=int, default=RECORDS, help="of each large log")
    parser.add_argument("--rounds", type=int, help="pairs of each command, instead of as many as are needed")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="commands whose name has one of these texts")
    parser.add_argument("--whole", action="store_true", help="200,000 small groups and 50,000 rebalances, not a part")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write the figures too")
    options = parser.parse_args(arguments)
    other = tree_of(options.tree)
    results = []
    with tempfile.TemporaryDirectory(prefix="groupscope-before-") as folder:
        trees = [Tree(ROOT, Path(folder, "ours")), Tree(other, Path(folder, "theirs"))]
        for tree in trees:
            tree.folder.mkdir()
        wanted = options.only or [""]
        for command in commands(Path(folder), options.records, is_whole=options.whole):
            if any(text in command.name for text in wanted):
                results.append(compare(command, trees, options.rounds or command.rounds))
                sys.stderr.write(f"{' · '.join(filter(None, results[-1].cells()))}\n")
    sys.stdout.write(table([HEAD, *(each.cells() for each in results)]))
    if options.json:
        options.json.write_text(json.dumps([asdict(each) for each in results], indent=1) + "\n")
    return int(any(each.is_missed for each in results))


def tree_of(name: str) -> Path:
    """A folder as it is; a commit is checked out and set up once, in the cache folder."""
    if Path(name).is_dir():
        if not (Path(name) / ".venv" / "bin" / "groupscope").exists():
            raise SystemExit(f"{name} is not set up: run `make -C {name} setup`")
        return Path(name).absolute()
    found = subprocess.run(
        ["git", "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}"], cwd=ROOT, capture_output=True, check=False
    )
    if found.returncode:
        raise SystemExit(f"{name}: a folder, or a commit of this clone, was expected")
    commit = found.stdout.decode().strip()
    tree = build_once(cache_folder() / "trees" / commit, partial(check_out, commit))
    # Where it stays, since an environment names its own place. It does nothing when all is there.
    subprocess.run(["make", "-C", str(tree), "setup"], check=True, stdout=sys.stderr)
    return tree


def check_out(commit: str, folder: Path) -> None:
    """Plain files: a worktree would belong to this checkout alone."""
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive, check=True)


def commands(folder: Path, records: int, *, is_whole: bool = False) -> Iterator[Command]:
    yield Command("--help", lambda tree: seconds_of(tree.groupscope("--help")), 15)
    yield Command("audit of the sample", partial(audited, "sample", lambda: SAMPLE), 5)
    yield Command("audit of the sample by spark-submit", submitted, 3)
    yield Command("why, the sample", partial(asked, ("why", *QUESTION)), 9)
    yield Command("status, the sample", partial(asked, ("status",)), 9, needs="status")
    run = Run(folder, 1, records)
    for name, write in {
        MIX: partial(shaped, run, MIX),
        FEW_KEYS: partial(shaped, run, FEW_KEYS),
        "hot-partition": partial(hot, folder, records),
    }.items():
        # Written when the first command reads it, since a choice of commands may need none.
        log = cache(write)
        yield Command(f"audit of {records:,} records, {name}", partial(audited, name, log), 3, 0)
        yield Command(f"the same without a report, {name}", partial(audited, name, log, more=NARROWED), 3, 0)
        yield Command(f"audit with nothing new, {name}", partial(audited_again, name, log), 5)
        for steps in (LAG, GATE):
            yield Command(f"{steps[-1]} of {records:,} records, {name}", partial(last_step, name, log, steps), 5)
        if name == MIX:
            step, limit = partial(last_step, name, log, ASSIGNMENTS), AT_MOST_OF_REBALANCES
            yield Command(f"assignments of {records:,} records, {name}", step, 5, at_most=limit)
    groups, rebalances = (1.0, 1.0) if is_whole else (SMALL_GROUPS, REBALANCES)
    for name, what, scale, limit in (
        ("many-groups", f"{round(200_000 * groups):,} small groups", groups, AT_MOST_OF_SMALL_GROUPS),
        ("generations", f"{round(50_000 * rebalances):,} rebalances", rebalances, AT_MOST_OF_REBALANCES),
        ("large-group", "one group of 5,000 members", 1.0, None),
    ):
        step = partial(last_step, name, cache(partial(of_groups, folder, name, scale)), ASSIGNMENTS)
        yield Command(f"assignments of {what}, {name}", step, 5, at_most=limit)


def of_groups(folder: Path, name: str, scale: float) -> Path:
    (log := folder / name).mkdir()
    if name == "generations":
        write_generations(log, Shape(groups=round(500 * scale), generations=100))
    else:
        SKEWS[name].write(log, scale)
    return log


def shaped(run: Run, shape: str) -> Path:
    files = run.segments(RECORDS, partitions=8, segment_bytes=100 << 20, follow_up=True, shape=shape)
    return files[0].parent.parent


def hot(folder: Path, records: int) -> Path:
    write_hot_partition(log := folder / "hot-partition", records / RECORDS)
    return log


def audited(name: str, log: Callable[[], Path], tree: Tree, more: Sequence[str] = ()) -> float:
    shutil.rmtree(warehouse := tree.folder / name, ignore_errors=True)
    return seconds_of(tree.audit(log(), warehouse, *more))


def audited_again(name: str, log: Callable[[], Path], tree: Tree) -> float:
    if not (tree.folder / name).exists():
        audited(name, log, tree)
    return seconds_of(tree.audit(log(), tree.folder / name))


def last_step(name: str, log: Callable[[], Path], steps: Sequence[str], tree: Tree) -> float:
    """The last of these steps alone, after the others, which are done once."""
    before, scratch = tree.folder / f"{name}-before-{steps[-1]}", tree.folder / "scratch"
    if not before.exists():
        source = ["--source", f"segments:{log()}"]
        if (snapshots := log() / SNAPSHOTS).exists():
            source += ["--snapshots", str(snapshots)]
        for step in ("ingest", *steps[:-1]):
            words = [step, "--warehouse", before, *(source if step == "ingest" else ())]
            subprocess.run(tree.groupscope(*words), check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(scratch, ignore_errors=True)
    shutil.copytree(before, scratch)
    never = ("--fail-on", "never") if steps is GATE else ()
    return seconds_of(tree.groupscope(steps[-1], "--warehouse", scratch, *never))


def submitted(tree: Tree) -> float:
    """By the spark-submit that comes with pyspark, on as many cores as there are."""
    shutil.rmtree(warehouse := tree.folder / "submitted", ignore_errors=True)
    binaries = tree.root / ".venv" / "bin"
    settings = ["--master", "local[*]", "--driver-memory", DRIVER_MEMORY, "--conf", "spark.driver.host=127.0.0.1"]
    script = [str(tree.root / "jobs" / "audit.py"), *audit_words(SAMPLE, warehouse)]
    environment = {**os.environ, "JAVA_HOME": str(java_home()), "PYSPARK_PYTHON": str(binaries / "python")}
    return seconds_of([str(binaries / "spark-submit"), *settings, *script], environment)


def asked(question: Sequence[str], tree: Tree) -> float:
    if not (tree.folder / "sample").exists():
        audited("sample", lambda: SAMPLE, tree)
    return seconds_of(tree.groupscope(*question, "--warehouse", tree.folder / "sample"))


def compare(command: Command, trees: Sequence[Tree], rounds: int) -> Compared:
    adopt_orphans()
    there = [tree for tree in trees if tree.has(command.needs)]
    taken: dict[Tree, list[tuple[float, float]]] = {tree: [] for tree in there}
    for number in range(command.warm_up + rounds):
        for tree in there if number % 2 else there[::-1]:
            before = processor_seconds()
            clock = command.run(tree)
            taken[tree].append((clock, processor_seconds() - before))
    counted = [taken.get(tree, [])[command.warm_up :] for tree in trees]
    ours, theirs = (statistics.median([each[0] for each in some]) if some else None for some in counted)
    pairs = list(zip(*counted, strict=True)) if all(counted) else []
    clock, processor = (
        statistics.median([mine[kind] / other[kind] for mine, other in pairs]) if pairs else None for kind in (0, 1)
    )
    return Compared(command.name, ours or 0.0, theirs, clock, processor, command.at_most)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
