"""Many small groups in one call, against Kafka's own classes asked group by group."""

import dataclasses
import time
from collections.abc import Iterator
from typing import Any

from benchmarks.assignor_cases import Case
from benchmarks.assignor_rounds import AssignorRounds
from benchmarks.durations import Bound, Duration
from benchmarks.run import Run
from udfs.assignors.registry import OF_COORDINATORS, OF_LEADERS

GROUPS = 20_000
MEMBERS, TOPICS, PARTITIONS = 5, 2, 10
A_GROUP = Bound(50e-6, 10e-6)
WARM_UP, ROUNDS = 2, 5


def measure(run: Run) -> list[Duration]:
    del run
    return list(durations())


def durations() -> Iterator[Duration]:
    with AssignorRounds() as kafka:
        for side, assignors in (("client", OF_LEADERS), ("server", OF_COORDINATORS)):
            for assignor in assignors:
                for history in ("fresh", "joined"):
                    case = Case(side, assignor, MEMBERS, TOPICS, PARTITIONS, True, history)
                    kafka.ask(case.command(copies=GROUPS))
                    groups = distinct(case)
                    pairs = [(seconds_of(case, groups), kafka.seconds()) for _ in range(WARM_UP + ROUNDS)][WARM_UP:]
                    ours, theirs = (min(column) / GROUPS for column in zip(*pairs, strict=True))
                    yield Duration(f"{case}: each of {GROUPS:,} groups", ours, A_GROUP, theirs)


def distinct(case: Case) -> list[Any]:
    """Groups of which no two have a member or a topic in common."""
    problem = case.problem
    return [
        dataclasses.replace(
            problem,
            members=[f"consumer-{member}-{number:036}" for member in problem.members],
            topics=[f"{topic}-{number}" for topic in problem.topics],
            **renamed(problem, number),
        )
        for number in range(GROUPS)
    ]


def renamed(problem: Any, number: int) -> dict[str, Any]:
    """User data that names the group's own topics."""
    if not any(getattr(problem, "user_data", [])):
        return {}
    return {"user_data": [with_names(data, problem.topics, number) for data in problem.user_data]}


def with_names(data: bytes | None, topics: list[str], number: int) -> bytes | None:
    if data is None:
        return None
    for topic in topics:
        old, new = (name.encode() for name in (topic, f"{topic}-{number}"))
        data = data.replace(len(old).to_bytes(2, "big") + old, len(new).to_bytes(2, "big") + new)
    return data


def seconds_of(case: Case, groups: list[Any]) -> float:
    fresh = [dataclasses.replace(group) for group in groups]
    start = time.perf_counter()
    if case.side == "client":
        OF_LEADERS[case.assignor](fresh)
    else:
        OF_COORDINATORS[case.assignor](fresh)
    return time.perf_counter() - start
