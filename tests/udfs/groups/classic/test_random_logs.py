"""Random logs of classic groups, likely and unlikely ones, against a slow reading of the same records."""

from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from tests.builders.groups.classic_log import START, Replayed, Row, member, replayed, tombstone, value
from tests.oracles.history.classic_groups import TABLES as SLOW_TABLES
from tests.oracles.history.classic_groups import history
from udfs.log.gaps import Gaps

# How rows of the replay are written to be compared with the slow reading's.
COLUMNS = {
    "states": ("group_state_intervals", "state", "from_time", "from_offset", "is_from_exact", "generation_or_epoch",
               "num_members", "to_time", "to_offset", "is_to_exact", "ended_by"),
    "members": ("membership_intervals", "member_id", "from_time", "from_offset", "is_from_exact", "joined_generation",
                "to_time", "to_offset", "is_to_exact", "leave_kind", "left_generation"),
    "owners": ("ownership_intervals", "tp", "member_id", "phase", "from_time", "from_offset", "is_from_exact",
               "generation_or_epoch", "to_time", "to_offset", "is_to_exact", "ended_by"),
    "rebalances": ("rebalances", "assignment_offset", "from_generation", "to_generation", "start_time", "end_time",
                   "outcome", "members_joined", "members_departed", "num_partitions", "num_moved", "num_returned",
                   "num_withheld", "num_maybe_revoking", "num_ready_to_migrate", "num_unknown_owned", "num_unowned",
                   "is_follow_up", "unpersisted_rounds", "sync_ms", "stopped_partition_ms"),
    "sets": ("generation_members", "assignment_offset", "member_id", "change", "previous_assigned", "claimed_owned",
             "assigned", "added", "revoked", "kept", "lost", "dropped_before_join"),
    "moves": ("partition_moves", "assignment_offset", "tp", "kind", "from_member_id", "to_member_id", "idle_ms"),
}  # fmt: skip
LISTS = {"members_joined", "members_departed"}
SETS = {"previous_assigned", "claimed_owned", "assigned", "added", "revoked", "kept", "lost", "dropped_before_join"}


class Generator:
    """One group as its coordinator might write it, with now and then what none would write."""

    def __init__(self, rng: np.random.Generator, group: str) -> None:
        self.rng, self.group, self.generation, self.time, self.count = rng, group, 0, int(rng.integers(1000)), 0
        self.members: list[Row] = []
        self.tps = [f"{topic}{number}" for topic in "tu" for number in range(4)]

    def chance(self, of: float) -> bool:
        return bool(self.rng.random() < of)

    def some(self, of: list[str], share: float = 0.7) -> list[str]:
        return [each for each in of if self.chance(share)]

    def next(self, offset: int) -> Row:
        self.time += int(self.rng.integers(-200, 5000))
        if (self.members == [] and self.count and self.chance(0.3)) or self.chance(0.03):
            self.members, self.generation, self.count = [], 0, 0
            return tombstone(offset, self.time, group=self.group, epoch=0)
        self.count += 1
        if self.count == 1 and self.chance(0.5):
            return value(offset, self.time, 0, state=self.time, protocol_type="", group=self.group)
        if self.members and self.chance(0.15) and any(each["group_instance_id"] for each in self.members):
            return self.swapped(offset)
        self.generation += 1 if self.chance(0.8) else int(self.rng.integers(-1, 4))
        self.generation = max(self.generation, 1)
        self.members = [] if self.chance(0.1) else self.next_members(offset)
        state = None if self.chance(0.1) else self.time - int(self.rng.integers(0, 1000))
        protocol = str(self.rng.choice(["range", "cooperative-sticky"]))
        return value(offset, self.time, self.generation, self.members, state=state, protocol=protocol, group=self.group)

    def next_members(self, offset: int) -> list[Row]:
        kept = [each for each in self.members if self.chance(0.8)]
        drafts = [(each["member_id"], each["group_instance_id"], each) for each in kept]
        gone = [each for each in self.members if each not in kept and each["group_instance_id"]]
        drafts += [
            (f"s{offset}{n}", each["group_instance_id"], each) for n, each in enumerate(gone) if self.chance(0.6)
        ]
        drafts += [(f"m{offset}{n}", None, None) for n in range(int(self.rng.integers(0, 3)))]
        if self.chance(0.2) and not any(instance == f"i{offset}" for _, instance, _ in drafts):
            drafts.append((f"n{offset}", f"i{offset}", None))
        drafts = drafts or [(f"m{offset}9", None, None)]
        places = self.rng.integers(0, len(drafts), len(self.tps))
        given = self.some(self.tps, 0.9)
        made = []
        for place, (member_id, instance, old) in enumerate(drafts):
            had = [] if old is None else flat(old)
            claimed = self.claims(had)
            keeps = [tp for tp in claimed if self.chance(0.8)] if self.chance(0.7) else []
            taken = {tp for each in made for tp in flat(each)}
            mine = [tp for tp, at in zip(self.tps, places, strict=True) if at == place and tp in given]
            assigned = sorted({*keeps, *mine} - (taken if self.chance(0.97) else set()))
            generation = [-1, None, self.generation - 1][int(self.rng.integers(0, 3))]
            topics = ("t", "u") if self.chance(0.9) else ("t",)
            version = 0 if self.chance(0.1) else 3
            made.append(member(member_id, " ".join(assigned), " ".join(claimed), generation=generation,
                               version=version, instance=instance, topics=topics))  # fmt: skip
        return made

    def claims(self, had: list[str]) -> list[str]:
        if self.chance(0.3):
            return []
        if self.chance(0.5):
            return had
        return self.some(had) + (self.some([tp for tp in self.tps if tp not in had], 0.1) if self.chance(0.2) else [])

    def swapped(self, offset: int) -> Row:
        self.members = [
            each | {"member_id": f"w{offset}{n}"} if each["group_instance_id"] and self.chance(0.7) else each
            for n, each in enumerate(self.members)
        ]
        row = value(offset, self.time, self.generation, self.members, state=self.time - 10, group=self.group)
        return row | {"protocol": self.last_protocol} if hasattr(self, "last_protocol") else row


def flat(row: Row) -> list[str]:
    return [f"{each['topic']}{number}" for each in row["assignment"]["partitions"] for number in each["partitions"]]


def random_log(rng: np.random.Generator, size: int) -> tuple[list[Row], Gaps]:
    groups = [Generator(rng, f"g{n}") for n in range(3)]
    rows, missing, offset = [], [], 0
    for _ in range(size):
        if rng.random() < 0.1:
            missing.append(offset)
            offset += 1
        group = groups[int(rng.integers(3))]
        row = group.next(offset)
        if not row["is_tombstone"]:
            group.last_protocol = row["protocol"]  # type: ignore[attr-defined]
        rows.append(row)
        offset += 1
    return rows, Gaps(missing, missing)


def ms(time: Any) -> int:
    return int((time - START) // timedelta(milliseconds=1))


def shown(result: Replayed, group: str) -> dict[str, list[str]]:
    reported = {}
    for name, (table, *columns) in COLUMNS.items():
        rows = [row for row in result.rows[table] if row["group_id"] == group]
        reported[name] = sorted(repr(tuple(plain(row[column], column) for column in columns)) for row in rows)
    return reported


def plain(each: Any, column: str) -> Any:
    if column in SETS:
        return None if each is None else sorted(each.split())
    return sorted(each or ()) if column in LISTS else each


def expected(rows: list[Row], gaps: Gaps) -> dict[str, list[str]]:
    replay = history(rows, gaps.is_complete, ms)
    return {
        name: sorted(
            repr(tuple(sorted(each) if isinstance(each, frozenset | tuple) else each for each in row))
            for row in replay[name]
        )
        for name in SLOW_TABLES
    }


def test_a_replay_equals_a_slow_reading_of_random_logs(rng: np.random.Generator) -> None:
    for _ in range(10):
        log, gaps = random_log(rng, 60)
        replay = replayed(log, gaps=gaps)
        for group in {row["group_id"] for row in log}:
            wanted, got = expected([row for row in log if row["group_id"] == group], gaps), shown(replay, group)
            for name in SLOW_TABLES:
                assert got[name] == wanted[name], (name, group)


@pytest.mark.soak
def test_a_replay_equals_a_slow_reading_of_many_random_logs(rng: np.random.Generator) -> None:
    for _ in range(40):
        test_a_replay_equals_a_slow_reading_of_random_logs(rng)


def test_a_prefix_and_then_the_rest_equal_the_whole_wherever_it_is_cut(rng: np.random.Generator) -> None:
    log, gaps = random_log(rng, 24)
    whole = replayed(log, gaps=gaps).rows
    for cut in range(1, len(log)):
        assert replayed(log, gaps=gaps, cuts=[cut]).rows == whole, cut
    assert replayed(log, gaps=gaps, cuts=range(1, len(log))).rows == whole


def test_chunks_change_nothing(rng: np.random.Generator) -> None:
    log, gaps = random_log(rng, 60)
    whole = replayed(log, gaps=gaps).rows
    for chunk in (1, 7):
        assert replayed(log, gaps=gaps, chunk=chunk).rows == whole
