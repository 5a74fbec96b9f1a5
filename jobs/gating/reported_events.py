"""Up to when runs of the gate reported all events: the next run reports those that came since."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

# Earlier as-of times than those of so many runs are rarely asked for. Then all events are findings again.
MOST_RUNS = 1_000


@dataclass(frozen=True)
class Reported:
    """`as_of`: of the run. `through`: up to this time no event can be missing. A snapshot may be newer than the copy of
    the log: what happened in between is in the next copy."""

    as_of: datetime
    through: datetime


@dataclass(frozen=True)
class State:
    """What the next run knows of the newest one: a hash of its input, and what was reported, oldest first."""

    input_hash: str | None = None
    reported: Sequence[Reported] = field(default_factory=tuple)

    def text(self) -> str:
        times = [(each.as_of.isoformat(), each.through.isoformat()) for each in self.reported]
        return json.dumps({"input": self.input_hash, "reported": times})

    def since(self, as_of: datetime) -> datetime | None:
        """Of a run as of that time, even if there was one before; None: nothing was reported before."""
        return max((each.through for each in self.reported if each.as_of < as_of), default=None)

    def after(self, input_hash: str, reported: Reported | None) -> "State":
        """`reported`: None if the run left out some events."""
        if reported is None:
            return State(input_hash, self.reported)
        others = [each for each in self.reported if each.as_of != reported.as_of]
        return State(input_hash, sorted([*others, reported], key=lambda each: each.as_of)[-MOST_RUNS:])


def state_of(text: str, as_of_times: Callable[[], Sequence[datetime]]) -> State:
    """`as_of_times`: of all runs, for a text that an older release wrote, which is only the hash."""
    if not text.startswith("{"):
        return State(text, [Reported(each, each) for each in sorted(as_of_times())])
    state = json.loads(text)
    return State(state["input"], [Reported(*map(datetime.fromisoformat, times)) for times in state["reported"]])
