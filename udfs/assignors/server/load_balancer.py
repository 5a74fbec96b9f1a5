"""Finds the least and the most loaded member, as the coordinator's `uniform` asks for them."""


class LoadBalancer:
    """Members are numbers from 0; the caller changes their `loads` meanwhile.

    The least loaded stand in a range at the front of the order, which grows by those whose load is the next level; the
    most loaded at the end. The order itself is that of the beginning.
    """

    def __init__(self, loads: list[int]) -> None:
        self.loads = loads
        self.order = sorted(range(len(loads)), key=loads.__getitem__)
        self.least_end = self.next_least = 0
        self.least_level = loads[self.order[0]] - 1
        self.most_start = self.most_end = len(loads)
        self.next_most = len(loads) - 1
        self.most_level = loads[self.order[-1]] + 1

    def is_balanced(self) -> bool:
        return self.most_level - self.least_level <= 1

    def least(self) -> int:
        if self.next_least >= self.least_end:
            self.least_level += 1
            while self.least_end < len(self.order) and self.loads[self.order[self.least_end]] == self.least_level:
                self.least_end += 1
            self.next_least = 0
        self.next_least += 1
        return self.order[self.next_least - 1]

    def most(self) -> int:
        """-1 when nobody is left."""
        if self.next_most < self.most_start:
            is_used_up = self.most_end <= self.most_start and self.most_start > 0
            self.most_level = self.loads[self.order[self.most_start - 1]] if is_used_up else self.most_level - 1
            while self.most_start > 0 and self.loads[self.order[self.most_start - 1]] == self.most_level:
                self.most_start -= 1
            self.next_most = self.most_end - 1
        if self.next_most < 0:
            return -1
        self.next_most -= 1
        return self.order[self.next_most + 1]

    def exclude_last_most(self) -> None:
        last = self.next_most + 1
        self.order[last], self.order[self.most_end - 1] = self.order[self.most_end - 1], self.order[last]
        self.most_end -= 1
