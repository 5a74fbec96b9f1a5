"""Our assignors against Kafka's own classes: the call that a leader or a coordinator makes, in the same run, both warm.

Ours: arrays in, arrays out in the order of Kafka's lists, with nothing known from rounds before. Answers must be equal.
"""

import statistics
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product

from benchmarks.assignor_cases import Case
from benchmarks.assignor_rounds import LIMIT_SECONDS, AssignorRounds, OverLimit
from benchmarks.durations import Bound, Duration, Ratio
from benchmarks.run import Run
from udfs.assignors.questions import COORDINATORS, LEADERS

# By whole runs and not: members, partitions for each member, topics.
SHAPES = {
    True: list(product((100, 1_000, 10_000), (10, 50), (10, 100, 1_000))),
    False: [(100, 10, 10), (100, 50, 1_000), (1_000, 10, 100)],
}
# Of share groups: members, partitions, topics.
SHARED = [(100, 1_000, 10), (1_000, 100, 10), (1_000, 10_000, 100)]
HISTORIES = ("fresh", "joined")
# Kafka's class is warm for so long, which is some 20,000 calls of the smallest groups.
WARM_SECONDS = 1.0
# By whole runs and not: for so long a case is measured on either side, or for a few calls when they take longer.
MEASURED_SECONDS = {True: 0.5, False: 0.2}
FEWEST_ROUNDS, MOST_ROUNDS = 3, 25
# Java compiles the same class otherwise in each process, so that one takes twice as long as another one for as long as
# it lives. The median of so many counts.
PROCESSES = 3
# After this long a round is not repeated for the sake of a better one.
LONG_SECONDS = 5.0
# Where Kafka's class takes longer than this, ours may take three times as long; elsewhere it may take so long. Groups
# of a thousand members and more are shown alone: few have one, and an audit asks a few such questions.
SLOW_SECONDS, MOST_TIMES = 5e-3, Bound(3.0)
MOST_SECONDS = Bound(20e-3)
LARGE_GROUP = 1_000


def measure_client(run: Run) -> list[Ratio | Duration]:
    return measure_grid(run, "client", LEADERS)


def measure_server(run: Run) -> list[Ratio | Duration]:
    return measure_grid(run, "server", COORDINATORS)


def measure_share(run: Run) -> list[Ratio | Duration]:
    cases = [
        Case("share", "simple", members, topics, partitions // topics, is_equal, history)
        for (members, partitions, topics), is_equal, history in product(SHARED, (True, False), HISTORIES)
    ]
    return [bounded(case, each) for case, each in zip(cases, compare(run, cases), strict=True)]


def measure_grid(run: Run, side: str, assignors: Iterable[str]) -> list[Ratio | Duration]:
    cases = [
        Case(side, assignor, members, topics, members * share // topics, is_equal, history)
        for (members, share, topics), is_equal, assignor, history in product(
            SHAPES[run.whole], (True, False), assignors, HISTORIES
        )
    ]
    return [bounded(case, each) for case, each in zip(cases, compare(run, cases), strict=True)]


def bounded(case: Case, each: Ratio) -> Ratio | Duration:
    if case.members >= LARGE_GROUP:
        return each
    if each.theirs > SLOW_SECONDS:
        return Ratio(each.name, each.ours, each.theirs, MOST_TIMES)
    return Duration(each.name, each.ours, MOST_SECONDS, each.theirs)


def compare(run: Run, cases: Sequence[Case]) -> Iterator[Ratio]:
    """Both sides' times of each case, after their answers were found equal."""
    too_slow: set[Case] = set()
    with AssignorRounds() as kafka:
        for case in cases:
            fresh = Case(case.side, case.assignor, case.members, case.topics, case.partitions, case.is_equal)
            ours, theirs = compared(run, kafka, case, fresh in too_slow)
            if theirs >= LIMIT_SECONDS:
                too_slow.add(case)
            ratio = Ratio(str(case), ours, theirs)
            sys.stderr.write(f"{' · '.join(filter(None, ratio.cells()))}\n")
            yield ratio


def compared(run: Run, kafka: AssignorRounds, case: Case, is_too_slow: bool) -> tuple[float, float]:
    try:
        if is_too_slow:
            raise OverLimit
        bests: list[tuple[float, float]] = []
        while len(bests) < PROCESSES and not (bests and sum(bests[-1]) > LONG_SECONDS):
            bests.append(best_in_new_process(run, kafka, case))
        mine, other = zip(*bests, strict=True)
        return statistics.median(mine), statistics.median(other)
    except OverLimit:
        return min(repeated(case.seconds, MEASURED_SECONDS[run.whole], FEWEST_ROUNDS)), LIMIT_SECONDS


def best_in_new_process(run: Run, kafka: AssignorRounds, case: Case) -> tuple[float, float]:
    """The best round of both: a call is so short that whatever else runs may double it."""
    measured = MEASURED_SECONDS[run.whole]
    kafka.end()
    kafka.prepare(case)
    kafka.warm(WARM_SECONDS)
    if kafka.digest() != case.digest():
        raise RuntimeError(f"{case}: the answers differ")
    repeated(case.seconds, WARM_SECONDS / 4, fewest=1)
    pairs: list[tuple[float, float]] = []
    while len(pairs) < FEWEST_ROUNDS or (len(pairs) < MOST_ROUNDS and sum(map(sum, pairs)) < 2 * measured):
        pairs.append((case.seconds(), kafka.seconds()))
        if sum(pairs[-1]) > LONG_SECONDS:
            break
    mine, other = zip(*pairs, strict=True)
    return min(mine), min(other)


def repeated(round_seconds: Callable[[], float], seconds: float, fewest: int) -> list[float]:
    """Rounds until they took so long together."""
    taken: list[float] = []
    while len(taken) < fewest or (sum(taken) < seconds and len(taken) < 1000):
        taken.append(round_seconds())
        if taken[-1] > LONG_SECONDS:
            break
    return taken
