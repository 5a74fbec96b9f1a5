"""Which assignor a coordinator runs: the one that most members ask for."""

from collections import Counter
from collections.abc import Iterable

from udfs.assignors.java.iteration_order import put_order, string_hashes


def most_voted(assignors: Iterable[str | None]) -> str | None:
    """Among several with equal votes, the first in Java's iteration order of its map. None: no member asks for one."""
    votes = Counter(each for each in assignors if each is not None)
    if not votes:
        return None
    names: list[str] = list(votes)
    walked: list[str] = [names[at] for at in put_order(string_hashes(names)).tolist()]
    most = max(votes.values())
    return next(name for name in walked if votes[name] == most)
