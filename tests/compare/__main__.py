"""Do two trees of the product answer alike? `make compare BEFORE=… LOGS=…`, for whoever rewrites a part of it.

python -m tests.compare BEFORE [LOG…] [--pieces N] [--engine local|spark] [--but NAME…] [--rename OLD=NEW…] [--seed N]

BEFORE is a commit, or the folder of a checkout that is set up. Each log is audited by both trees; then every table,
view, the Prometheus file, the exit codes and what readers' commands print must be the same. A LOG is one of the names
below, a folder with segments (`snapshots.jsonl` and `settings.toml` beside them are used), or any --source; without one
all names are taken. It ends with 1 if anything differs that --but does not name: a table, a view, a text, or
TABLE.COLUMN.
"""

import argparse
import random
import secrets
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.before import tree_of
from tests.compare.answers import Renamed, ask, audited, differences, drawn_commands
from tests.compare.logs import NAMES, ROOT, Log, in_pieces, of_segments


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.compare", epilog=f"names of logs: {', '.join(NAMES)}")
    parser.add_argument("before", metavar="BEFORE", help="a commit, or the folder of a checkout that is set up")
    parser.add_argument("logs", nargs="*", type=log, metavar="LOG", help="default: all names")
    parser.add_argument("--pieces", type=int, default=1, help="audit each log in so many runs, as it grows")
    parser.add_argument("--engine", choices=("local", "spark"), default="local")
    parser.add_argument(
        "--but", action="extend", nargs="+", default=[], metavar="NAME", help="a difference that is wanted"
    )
    parser.add_argument(
        "--rename",
        action="extend",
        nargs="+",
        default=[],
        type=pair,
        metavar="OLD=NEW",
        help="TABLE.OLD=NEW for a column",
    )
    parser.add_argument("--seed", type=int, default=None, help="of generated logs, damage, pieces and commands")
    options = parser.parse_args(arguments)
    seed = secrets.randbelow(2**32) if options.seed is None else options.seed
    sys.stdout.write(f"seed {seed}\n")
    trees = (tree_of(options.before), ROOT)
    renamed, but = Renamed(dict(options.rename)), frozenset(options.but)
    num_different = 0
    for name in options.logs or NAMES:
        with tempfile.TemporaryDirectory(prefix="groupscope-compare-") as folder:
            whole = log_of(name, Path(folder, "log"), seed)
            some = in_pieces(whole, options.pieces, Path(folder, "pieces"), seed)
            num_different += compare(some, trees, Path(folder), options.engine, seed, but, renamed)
    return int(num_different > 0)


def log_of(name: str, folder: Path, seed: int) -> Log:
    if name in NAMES:
        return NAMES[name](folder, seed)
    if Path(name).is_dir():
        return of_segments(name, Path(name))
    return Log(name, (name,))


def log(text: str) -> str:
    if text in NAMES or Path(text).is_dir() or ":" in text:
        return text
    raise argparse.ArgumentTypeError(
        f"{text!r}: a name of a log, a folder or a source such as records:PATH was expected"
    )


def pair(text: str) -> tuple[str, str]:
    old, equals, new = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r}: OLD=NEW was expected")
    return old, new


def compare(
    log: Log, trees: tuple[Path, Path], folder: Path, engine: str, seed: int, but: frozenset[str], renamed: Renamed
) -> int:
    answers, seconds = [], []
    for tree, side in zip(trees, ("before", "now"), strict=True):
        begin = time.perf_counter()
        (folder / side).mkdir()
        answers.append(audited(tree, log, folder / side, engine))
        seconds.append(time.perf_counter() - begin)
    commands = drawn_commands(answers[0], random.Random(f"{seed} {log.name}"))
    with ThreadPoolExecutor(len(trees)) as both:
        list(both.map(ask, trees, answers, [commands] * len(trees)))
    found = differences(*answers, but, renamed)
    # Of two trees that both refuse a log, nothing was compared.
    found += [f"{name} in both trees: {text}" for name, text in answers[0].texts.items() if name.startswith("error")]
    num_asked = f"{len(commands)} commands, {len(answers[1].views)} views"
    sys.stdout.write(
        f"{log.name}: {num_asked}; {len(found)} differ; audits {seconds[0]:.1f} s before, {seconds[1]:.1f} s now\n"
    )
    sys.stdout.writelines(f"  {line}\n" for line in found)
    sys.stdout.flush()
    return len(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
