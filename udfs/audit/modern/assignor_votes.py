"""Which assignor a coordinator runs: the one that most members ask for."""

from collections import Counter
from collections.abc import Iterable

from udfs.assignors.java.maps import string_hashes, walked


def most_voted(assignors: Iterable[str | None]) -> str | None:
    """Among several with equal votes, the first in Java's iteration order of its map. None: no member asks for one."""
    votes = Counter(each for each in assignors if each is not None)
    if not votes:
        return None
    names: list[str] = list(votes)
    in_order = [names[at] for at in walked(string_hashes(names).tolist())]
    most = max(votes.values())
    return next(name for name in in_order if votes[name] == most)
