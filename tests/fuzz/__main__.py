"""Feeds the readers of bytes and lines with damaged inputs.

    python -m tests.fuzz volume                       # every target, a million inputs together
    python -m tests.fuzz volume records --inputs 5000000 --seed 3
    python -m tests.fuzz guided "assign specs" --seconds 600

`volume` is fast, with compiled loops. `guided` needs atheris, and keeps the inputs that reached new code. Both end with
the first input that breaks a promise, and print it. `--seed` repeats a run.
"""

import argparse
import secrets
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

from jobs.spark.cache_folder import cache_folder
from tests.fuzz import guided

# Of a million: what an input costs differs by a factor of a hundred.
SHARES = {
    "framing": 0.1,
    "records": 0.5,
    "payloads": 0.2,
    "archive lines": 0.05,
    "snapshots": 0.02,
    "assign specs": 0.03,
    "client properties": 0.1,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("mode", choices=("volume", "guided"))
    parser.add_argument("target", nargs="?", choices=tuple(SHARES), help="default: all")
    parser.add_argument("--inputs", type=int, default=1_000_000, help="volume: how many, of all targets together")
    parser.add_argument("--seconds", type=int, default=60, help="guided: how long each target takes")
    parser.add_argument("--seed", type=int, default=secrets.randbits(31))
    parser.add_argument("--corpus", type=Path, default=cache_folder() / "fuzz", help="guided: inputs worth keeping")
    arguments = parser.parse_args()
    names = [arguments.target] if arguments.target else list(SHARES)
    if arguments.mode == "volume":
        return run_volume(names, arguments.inputs, arguments.seed)
    return run_guided(names, arguments)


def run_volume(names: list[str], inputs: int, seed: int) -> int:
    # Not above: `guided` loads these modules with coverage.
    from jobs.spark.compiled_loops import keep_compiled_loops
    from tests.fuzz.logs import broker_logs, captured_logs
    from tests.fuzz.targets import targets
    from tests.fuzz.volume import Find, Volume

    keep_compiled_loops()
    known = targets([*broker_logs(), *captured_logs()])
    all_shares = sum(SHARES[name] for name in names)
    for name in names:
        started, cpu = time.monotonic(), time.process_time()
        try:
            count = Volume(known[name], seed).run(int(inputs * SHARES[name] / all_shares))
        except Find as find:
            print(find, file=sys.stderr)  # noqa: T201
            return 1
        took, cpu = time.monotonic() - started, time.process_time() - cpu
        print(f"{name}: {count:,} inputs, seed {seed}, {took:.0f} s, processor {cpu:.0f} s", flush=True)  # noqa: T201
    return 0


def run_guided(names: list[str], arguments: argparse.Namespace) -> int:
    if find_spec("atheris") is None:
        line = "atheris is not installed (`make fuzz` does, on Linux with x86-64): guided by nothing, use `volume`"
        print(line, file=sys.stderr)  # noqa: T201
        return 0
    if arguments.target:
        guided.run(arguments.target, arguments.seconds, arguments.seed, arguments.corpus)
    # libFuzzer ends its process, so each target has its own.
    flags = [f"--{name}={getattr(arguments, name)}" for name in ("seconds", "seed", "corpus")]
    programs = ([sys.executable, "-m", "tests.fuzz", "guided", name, *flags] for name in names)
    return max(subprocess.run(program, check=False).returncode for program in programs)


if __name__ == "__main__":
    sys.exit(main())
