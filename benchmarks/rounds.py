"""Takes turns: ours, the rival, ours, the rival … so that other programs on the machine slow both down alike."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

WARM_UP = 2
Result = TypeVar("Result")


@dataclass(frozen=True)
class Goal:
    """How many times the rival's speed we want to have."""

    at_least: float
    aim: float


@dataclass(frozen=True)
class Measured:
    """Two speeds, in `unit`."""

    name: str
    rival: str
    unit: str
    ours: float
    theirs: float
    goal: Goal
    rounds: int

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs

    @property
    def verdict(self) -> str:
        if self.ratio < self.goal.at_least:
            return "missed"
        return "aim reached" if self.ratio >= self.goal.aim else "reached"

    def cells(self) -> tuple[str, ...]:
        speeds = (f"{speed:,.0f} {self.unit}" for speed in (self.ours, self.theirs))
        return (
            self.name,
            *speeds,
            f"{self.ratio:.2f} x",
            f"{self.goal.at_least} x",
            f"{self.goal.aim} x",
            self.verdict,
        )

    def facts(self) -> dict[str, object]:
        return vars(self) | {"goal": vars(self.goal), "ratio": self.ratio, "verdict": self.verdict}


@dataclass(frozen=True)
class Limit:
    """Something that must stay below a bound, not compared with a rival."""

    name: str
    seen: str
    largest: float
    bound: float
    aim: float | None = None

    @property
    def verdict(self) -> str:
        if self.largest >= self.bound:
            return "missed"
        return "aim reached" if self.aim is not None and self.largest < self.aim else "reached"

    def cells(self) -> tuple[str, ...]:
        bounds = [f"below {bound / 1e6:.0f} MB" if bound else "" for bound in (self.bound, self.aim)]
        return (self.name, self.seen, "", "", *bounds, self.verdict)

    def facts(self) -> dict[str, object]:
        return vars(self) | {"verdict": self.verdict}


def run_in_turns(calls: Sequence[Callable[[], Result]], rounds: int) -> list[tuple[Result, ...]]:
    """The results of each call. Each round makes all calls, one after the other."""
    return list(zip(*([call() for call in calls] for _ in range(rounds)), strict=True))


def take_turns(
    ours: Callable[[], float], theirs: Callable[[], float], rounds: int, warm_up: int = WARM_UP
) -> tuple[float, float]:
    """Median seconds of both; each call gives the seconds of one round."""
    mine, other = run_in_turns((ours, theirs), warm_up + rounds)
    return statistics.median(mine[warm_up:]), statistics.median(other[warm_up:])
