"""Burrow as its rules are written down, one commit at a time, with nothing of the product: lists, and loops over them.

An entry is [offset, time in ms, order, lag or None]."""

Entry = list[int | None]


class SlowRing:
    def __init__(self, intervals: int, min_distance_s: int) -> None:
        self.size, self.distance = intervals, min_distance_s * 1000
        self.entries: list[Entry] = []
        self.last_commit: int | None = None

    def add(self, offset: int, time: int, order: int, end: int) -> None:
        orders = [entry[2] for entry in self.entries]
        if len(orders) == self.size and order <= orders[0]:
            return
        if order in orders:
            return
        older = [entry for entry in self.entries if entry[2] < order]
        younger = [entry for entry in self.entries if entry[2] > order]
        lag = None if younger else max(0, end - offset)
        if not younger:
            self.last_commit = time
        if older and time - older[-1][1] < self.distance:
            older[-1] = [offset, older[-1][1], order, lag]
        else:
            older.append([offset, time, order, lag])
        self.entries = (older + younger)[-self.size :]


def slow_verdict(
    entries: list[Entry], ends: list[int], now: int, intervals: int = 10, complete: float = 0.0, allowed: int = 0
) -> str:
    if not entries:
        return "OK"
    if len(entries) / intervals < complete:
        return "OK"
    offsets = [entry[0] for entry in entries]
    if max(0, ends[-1] - offsets[-1]) <= allowed:
        return "OK"
    first, last = entries[0][1], entries[-1][1]
    if now * 1000 - last > last - first and all(end > offsets[-1] for end in ends):
        return "STOP"
    for place in range(1, len(offsets)):
        if offsets[place] < offsets[place - 1]:
            if max(offsets[place:]) < offsets[place - 1]:
                return "REWIND"
            break
    lags = [entry[3] for entry in entries if entry[3] is not None]
    if any(lag <= allowed for lag in lags):
        return "OK"
    if len(set(offsets)) == 1:
        return "STALL"
    if sorted(lags) == lags:
        return "WARN"
    return "OK"


def slow_group(verdicts: list[str]) -> str:
    order = ["OK", "WARN", "ERR", "STOP", "STALL", "REWIND"]
    worst = max((order.index(verdict) for verdict in verdicts), default=0)
    return order[min(worst, 2)]
