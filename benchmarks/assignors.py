"""Our assignors against Kafka's own classes: the call that a leader or a coordinator makes, in the same run, both warm.

Ours: arrays in, arrays out in the order of Kafka's lists, with nothing known from rounds before. Answers must be equal.
"""

import math
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product

from benchmarks.assignor_cases import Case
from benchmarks.assignor_rounds import LIMIT_SECONDS, AssignorRounds, OverLimit
from benchmarks.durations import Bound, Duration, Ratio
from benchmarks.run import Run
from udfs.assignors.registry import OF_COORDINATORS, OF_LEADERS

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
# Of the geometric mean, and of the worst cell.
BOUNDS_OF_CLIENTS = Bound(0.07, 0.05), Bound(3.0, 1.5)
BOUNDS_OF_COORDINATORS = Bound(0.6, 0.4), Bound(1.5, 1.0)


def measure_client(run: Run) -> list[Ratio]:
    return measure_grid(run, "client", OF_LEADERS, *BOUNDS_OF_CLIENTS)


def measure_server(run: Run) -> list[Ratio]:
    return measure_grid(run, "server", OF_COORDINATORS, *BOUNDS_OF_COORDINATORS)


def measure_share(run: Run) -> list[Ratio]:
    cases = [
        Case("share", "simple", members, topics, partitions // topics, is_equal, history)
        for (members, partitions, topics), is_equal, history in product(SHARED, (True, False), HISTORIES)
    ]
    return with_mean(list(compare(run, cases)), "share", *BOUNDS_OF_COORDINATORS)


def measure_grid(run: Run, side: str, assignors: Iterable[str], of_mean: Bound, of_worst: Bound) -> list[Ratio]:
    cases = [
        Case(side, assignor, members, topics, members * share // topics, is_equal, history)
        for (members, share, topics), is_equal, assignor, history in product(
            SHAPES[run.whole], (True, False), assignors, HISTORIES
        )
    ]
    return with_mean(list(compare(run, cases)), side, of_mean, of_worst)


def with_mean(compared: Sequence[Ratio], side: str, of_mean: Bound, of_worst: Bound) -> list[Ratio]:
    worst = max(compared, key=lambda each: each.ratio)
    return [
        *compared,
        Ratio(
            f"{side} assignors, geometric mean of {len(compared)} cells",
            math.exp(statistics.fmean(math.log(each.ours) for each in compared)),
            math.exp(statistics.fmean(math.log(each.theirs) for each in compared)),
            of_mean,
        ),
        Ratio(f"the worst: {worst.name}", worst.ours, worst.theirs, of_worst),
    ]


def measure_large(run: Run) -> list[Ratio | Duration]:
    """Everybody has one partition; and a million of them."""
    few, one = (2_100, 21, 100), (2_100, 1, 2_100)
    million = (2_000, 1_000, 1_000)
    sticky = ("sticky", "cooperative-sticky")
    changes = ("fresh", "joined", "left", "both")
    small = [Case("client", name, *shape, True, each) for shape in (few, one) for name in sticky for each in changes]
    equal = [Case("client", name, *million) for name in ("range", "roundrobin")]
    equal += [Case("server", name, *million) for name in ("range", "uniform")]
    cooperative = [Case("client", sticky[1], *million, True, each) for each in changes]
    unequal = [Case("client", sticky[1], *million, False, each) for each in HISTORIES]
    bounds = {
        **dict.fromkeys(small, Bound(2e-3, 0.5e-3)),
        **dict.fromkeys(equal, Bound(50e-3)),
        **dict.fromkeys(cooperative, Bound(150e-3)),
        **dict.fromkeys(unequal, Bound(2.0)),
    }
    return [
        Duration(each.name, each.ours, bound, each.theirs)
        for each, bound in zip(compare(run, list(bounds)), bounds.values(), strict=True)
    ]


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
