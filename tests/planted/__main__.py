"""Plants faults into copies of the project, one at a time, and says which test of their area catches each.

python -m tests.planted                                those of faults.toml
python -m tests.planted --drawn 200 --area findings    so many changes of the area's code, drawn by the seed

Ends with 1 if a planted fault is missed or cannot be planted, or if fewer than 80 % of the drawn ones are caught."""

import argparse
import json
import os
import queue
import re
import secrets
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from tests.planted import drawn, planting
from tests.planted.planting import LISTED, Area, Copy, Fault, Outcome, Refused

WANTED = 0.8
MISSED = ("missed", "timed out")


def main(words: Sequence[str] | None = None) -> int:
    # What was started ends with this program, and its folder goes.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    areas, faults, unchanged = planting.read()
    flags = parser(areas).parse_args(words)
    seed = flags.seed or os.environ.get("GROUPSCOPE_SEED") or str(secrets.randbelow(2**32))
    say(f"GROUPSCOPE_SEED={seed}")
    if flags.drawn:
        if not flags.area:
            sys.exit("--drawn needs --area")
        faults = drawn.draw(areas[flags.area], flags.drawn, seed, unchanged)
    faults = [each for each in faults if flags.area in (None, each.area) and flags.name in each.name]
    if flags.unrecorded:
        faults = [each for each in faults if not each.caught_by]
    number, of = map(int, flags.shard.split("/"))
    faults = faults[number - 1 :: of]
    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        copies = [Copy(Path(folder) / str(place)) for place in range(min(flags.workers, len(faults)))]
        outcomes = {}
        for fault, outcome in planted(copies, areas, faults, flags.seconds, seed):
            outcomes[fault] = outcome
            say(line(fault, outcome))
        broken = (
            {test for name, area in areas.items() for test in fails_anyway(copies[0], area, outcomes, name, seed)}
            if copies
            else set()
        )
    for fault, outcome in outcomes.items():
        if outcome.test in broken and outcome.word == "caught":
            say(f"fails without a fault too: {outcome.test}")
            outcomes[fault] = Outcome("missed", outcome.seconds)
    if flags.record:
        record(outcomes)
    return summed(outcomes, is_drawn=bool(flags.drawn))


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def parser(areas: dict[str, Area]) -> argparse.ArgumentParser:
    flags = argparse.ArgumentParser(prog="python -m tests.planted", description=__doc__.partition("\n")[0])
    flags.add_argument("--area", choices=areas, help="only faults of this area")
    flags.add_argument("--name", default="", help="only faults with this text in their name")
    flags.add_argument("--shard", default="1/1", help="I/N: of N parts of the faults, the one with this number")
    flags.add_argument("--workers", type=int, default=2, help="so many at a time (default: 2)")
    flags.add_argument("--seconds", type=float, default=90, help="for the tests of one fault (default: 90)")
    flags.add_argument("--seed", help="repeats a run: of random tests, and of drawn faults")
    flags.add_argument("--record", action="store_true", help="write what caught each planted fault to faults.toml")
    flags.add_argument("--unrecorded", action="store_true", help="only planted faults that no test has caught yet")
    flags.add_argument("--drawn", type=int, help="draw so many faults in the code of --area")
    return flags


def planted(
    copies: list[Copy], areas: dict[str, Area], faults: list[Fault], seconds: float, seed: str
) -> Iterator[tuple[Fault, Outcome]]:
    free: queue.SimpleQueue[Copy] = queue.SimpleQueue()
    for each in copies:
        free.put(each)

    def run(fault: Fault) -> Outcome:
        copy = free.get()
        try:
            return copy.run(fault, areas[fault.area], seconds, seed)
        except Refused as error:
            return Outcome("invalid", 0.0, str(error))
        finally:
            free.put(copy)

    pool = ThreadPoolExecutor(max(len(copies), 1))
    try:
        running = {pool.submit(run, fault): fault for fault in faults}
        for each in as_completed(running):
            yield running[each], each.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for each in copies:
            each.stop()


def fails_anyway(copy: Copy, area: Area, outcomes: dict[Fault, Outcome], name: str, seed: str) -> set[str]:
    """Tests of the area that caught a fault, and fail without it: then they say nothing."""
    tests = sorted({each.test for fault, each in outcomes.items() if fault.area == name and each.word == "caught"})
    if not tests or copy.tested(tests, area, 900, seed).word == "missed":
        return set()
    return {test for test in tests if copy.tested([test], area, 900, seed).word != "missed"}


def line(fault: Fault, outcome: Outcome) -> str:
    return f"{outcome.word:9} {outcome.seconds:5.1f} s  {fault.area}: {fault.name}" + (
        f"\n{'':20}{outcome.test}" if outcome.test else ""
    )


def summed(outcomes: dict[Fault, Outcome], *, is_drawn: bool) -> int:
    counts = Counter((fault.area, outcome.word) for fault, outcome in outcomes.items())
    for area in sorted({area for area, _ in counts}):
        words = [f"{counts[area, word]} {word}" for word in ("caught", *MISSED, "invalid") if counts[area, word]]
        say(f"{area}: {', '.join(words)}")
    caught = sum(outcome.word == "caught" for outcome in outcomes.values())
    missed = sum(outcome.word in MISSED for outcome in outcomes.values())
    say(f"{caught} of {caught + missed} caught, in {sum(each.seconds for each in outcomes.values()):,.0f} s of runs")
    if is_drawn:
        return int(caught < WANTED * (caught + missed))
    return int(caught < len(outcomes))


def record(outcomes: dict[Fault, Outcome]) -> None:
    """Into the line that ends each fault."""
    text = LISTED.read_text()
    for fault, outcome in outcomes.items():
        fault_of = re.compile(rf'(\n  \["{re.escape(fault.name)}", .*\n.*\n.*\n   ).*')
        test = json.dumps(outcome.test if outcome.word == "caught" else "", ensure_ascii=False)
        text = fault_of.sub(lambda found, test=test: f"{found[1]}{test}],", text)
    LISTED.write_text(text)


if __name__ == "__main__":
    sys.exit(main())
