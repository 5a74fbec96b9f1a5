"""Times, beside their rival's or a bound, and sizes of files."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Bound:
    """What must not be exceeded: a share of the rival's time, or seconds."""

    at_most: float
    aim: float | None = None

    def verdict(self, reached: float) -> str:
        if reached > self.at_most:
            return "missed"
        return "aim reached" if self.aim is not None and reached <= self.aim else "reached"


@dataclass(frozen=True)
class Ratio:
    """Our seconds as a share of the rival's; without a goal it is one cell of a grid."""

    name: str
    ours: float
    theirs: float
    goal: Bound | None = None

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs

    @property
    def verdict(self) -> str:
        return self.goal.verdict(self.ratio) if self.goal else ""

    def cells(self) -> tuple[str, ...]:
        bounds = [f"{bound} x" if bound else "" for bound in limits(self.goal)]
        return (self.name, shown(self.ours), shown(self.theirs), f"{self.ratio:.3f} x", *bounds, self.verdict)

    def facts(self) -> dict[str, object]:
        goal = vars(self.goal) if self.goal else None
        return vars(self) | {"goal": goal, "ratio": self.ratio, "verdict": self.verdict}


@dataclass(frozen=True)
class Duration:
    """Our seconds against a fixed number, not against the rival; without a goal if that number is of other input."""

    name: str
    ours: float
    goal: Bound | None
    theirs: float

    @property
    def verdict(self) -> str:
        return self.goal.verdict(self.ours) if self.goal else ""

    def cells(self) -> tuple[str, ...]:
        bounds = [shown(bound) if bound else "" for bound in limits(self.goal)]
        ratio = f"{self.ours / self.theirs:.3f} x"
        return (self.name, shown(self.ours), shown(self.theirs), ratio, *bounds, self.verdict)

    def facts(self) -> dict[str, object]:
        goal = vars(self.goal) if self.goal else None
        return vars(self) | {"goal": goal, "ratio": self.ours / self.theirs, "verdict": self.verdict}


@dataclass(frozen=True)
class Size:
    """Bytes of files, and the most that they may have."""

    name: str
    num_bytes: int
    most: int

    @property
    def verdict(self) -> str:
        return Bound(self.most).verdict(self.num_bytes)

    def cells(self) -> tuple[str, ...]:
        return (self.name, megabytes(self.num_bytes), "", "", megabytes(self.most), "", self.verdict)

    def facts(self) -> dict[str, object]:
        return vars(self) | {"verdict": self.verdict}


def megabytes(size: int) -> str:
    return f"{size / 1e6:,.3g} MB"


def limits(goal: Bound | None) -> tuple[float | None, float | None]:
    return (goal.at_most, goal.aim) if goal else (None, None)


def shown(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:,.3g} s"
    return f"{seconds * 1e3:,.3g} ms" if seconds >= 1e-4 else f"{seconds * 1e6:,.3g} µs"
