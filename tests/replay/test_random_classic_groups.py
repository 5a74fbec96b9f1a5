"""Random logs of classic groups, likely and unlikely ones, against a slow reading of the same records."""

from dataclasses import dataclass
from datetime import timedelta
from random import Random

import pytest

from jobs.replaying.partition import commit_pass, group_pass
from tests.make.coordinator import dead, value
from tests.make.history import START, Stream
from tests.make.log import Log, decoded
from tests.make.shrink import check_all
from tests.oracles.history.classic_groups import TABLES, history
from tests.runs.agreement import difference
from udfs.log.gaps import Gaps

# How rows of the replay are written to be compared with the slow reading's.
COLUMNS = {
    "states": ("group_state_intervals",
        "state from_time from_record_offset is_from_exact generation_or_epoch num_members to_time"
               " to_record_offset is_to_exact ended_by"),
    "members": ("membership_intervals",
        "member_id from_time from_record_offset is_from_exact joined_generation to_time to_record_offset"
                " is_to_exact leave_kind left_generation"),
    "owners": ("ownership_intervals",
        "tp member_id phase from_time from_record_offset is_from_exact generation_or_epoch to_time"
               " to_record_offset is_to_exact ended_by"),
    "rebalances": ("rebalances", "assignment_offset from_generation to_generation start_time end_time outcome"
                   " members_joined members_departed num_partitions num_moved num_returned num_withheld"
                   " num_maybe_revoking num_ready_to_migrate num_unknown_owned num_unowned is_follow_up"
                   " unpersisted_rounds sync_ms stopped_partition_ms"),
    "sets": ("generation_members", "assignment_offset member_id change previous_assigned claimed_owned assigned added"
             " revoked kept lost dropped_before_join"),
    "moves": ("partition_moves", "assignment_offset tp kind from_member_id to_member_id idle_ms"),
}  # fmt: skip
PLACES = [f"{topic}{number}" for topic in "tu" for number in range(4)]
LOGS, SOAKED = 5, 400


@dataclass
class Member:
    id: str
    instance: str | None
    assigned: list
    rest: str = ""

    def text(self):
        named = self.id + (f"/{self.instance}" if self.instance else "")
        return f"{named}{self.rest.format(' '.join(self.assigned))}"


class Generator:
    """One group as its coordinator might write it, with now and then what none would write."""

    def __init__(self, chance, group):
        self.random, self.group, self.generation, self.time, self.count = chance, group, 0, chance.randrange(1000), 0
        self.members, self.protocol = [], None

    def chance(self, of):
        return self.random.random() < of

    def some(self, of, share=0.7):
        return [each for each in of if self.chance(share)]

    def next(self, offset):
        self.time += self.random.randrange(-200, 5000)
        if (not self.members and self.count and self.chance(0.3)) or self.chance(0.03):
            self.members, self.generation, self.count = [], 0, 0
            return dead(self.group)
        self.count += 1
        if self.count == 1 and self.chance(0.5):
            return value(0, state=self.time, protocol_type="", group=self.group)
        if self.members and self.chance(0.15) and any(each.instance for each in self.members):
            for number, each in enumerate(self.members):
                if each.instance and self.chance(0.7):
                    each.id = f"w{offset}{number}"
            return self.value(self.time - 10)
        self.generation = max(1, self.generation + (1 if self.chance(0.8) else self.random.randrange(-1, 4)))
        self.members = [] if self.chance(0.1) else self.next_members(offset)
        self.protocol = self.random.choice(("range", "cooperative-sticky"))
        return self.value(None if self.chance(0.1) else self.time - self.random.randrange(1000))

    def value(self, state):
        members = ", ".join(each.text() for each in self.members)
        return value(self.generation, members, state=state, protocol=self.protocol, group=self.group)

    def next_members(self, offset):
        kept = self.some(self.members, 0.8)
        drafts = [(each.id, each.instance, each.assigned) for each in kept]
        gone = [each for each in self.members if each not in kept and each.instance]
        drafts += [(f"s{offset}{n}", each.instance, each.assigned) for n, each in enumerate(gone) if self.chance(0.6)]
        drafts += [(f"m{offset}{n}", None, []) for n in range(self.random.randrange(3))]
        if self.chance(0.2):
            drafts.append((f"n{offset}", f"i{offset}", []))
        drafts = drafts or [(f"m{offset}9", None, [])]
        places, given = [self.random.randrange(len(drafts)) for _ in PLACES], self.some(PLACES, 0.9)
        made = []
        for place, (member_id, instance, had) in enumerate(drafts):
            claimed = self.claims(had)
            keeps = self.some(claimed, 0.8) if self.chance(0.7) else []
            taken = {tp for each in made for tp in each.assigned} if self.chance(0.97) else set()
            mine = [tp for tp, at in zip(PLACES, places, strict=True) if at == place and tp in given]
            topics = "tu" if self.chance(0.9) else "t"
            version = self.random.choice(("@-1", "@v1", f"@{self.generation - 1}")) if self.chance(0.9) else "@v0"
            made.append(Member(member_id, instance, sorted({*keeps, *mine} - taken),
                               f"({topics}): {{}} < {' '.join(claimed)} {version}"))  # fmt: skip
        return made

    def claims(self, had):
        if self.chance(0.3):
            return []
        if self.chance(0.5):
            return had
        others = [tp for tp in PLACES if tp not in had]
        return self.some(had) + (self.some(others, 0.1) if self.chance(0.2) else [])


def random_log(seed, size=50):
    chance = Random(seed)
    groups, log = [Generator(chance, f"g{n}") for n in range(3)], Log()
    for _ in range(size):
        if chance.random() < 0.1:
            log.skip(1)
        group = chance.choice(groups)
        record = group.next(log.offset + log.gap)
        log.write(group.time, record)
    return log


def ms(time):
    return (time - START) // timedelta(milliseconds=1)


def plain(each):
    return repr(tuple(sorted(cell) if isinstance(cell, frozenset | tuple | list) else cell for cell in each))


def is_what_the_slow_reading_says(replayed):
    rows = decoded([replayed.log.logged()])[0]["classic_group_metadata"].to_pylist()
    missing = sorted(replayed.log.missing)
    for group in {row["group_id"] for row in rows}:
        slow = history([row for row in rows if row["group_id"] == group], Gaps(missing, missing).is_complete, ms)
        for name in TABLES:
            table, columns = COLUMNS[name]
            of_group = [row for row in replayed.rows[table] if row["group_id"] == group]
            got = sorted(plain(row[column] for column in columns.split()) for row in of_group)
            wanted = sorted(map(plain, slow[name]))
            assert got == wanted, (name, group, [row for row in got if row not in wanted], "instead of",
                                   [row for row in wanted if row not in got])  # fmt: skip


@pytest.mark.parametrize("number", [LOGS, pytest.param(SOAKED, marks=pytest.mark.soak)])
def test_a_replay_equals_a_slow_reading_of_random_logs(seed, number):
    check_all([random_log(seed + each) for each in range(number)], is_what_the_slow_reading_says, f"seed {seed}")


def test_a_log_that_is_read_in_many_windows_has_the_history_of_one(seed, monkeypatch):
    """Also where a window ends within an operation."""
    stream = Stream([("", random_log(seed))])
    (tables,) = decoded([stream.batches])
    whole = stream.replayed(tables, [[span for run in stream.runs for span in run]])
    for module in (group_pass, commit_pass):
        monkeypatch.setattr(module, "WINDOW_ROWS", 1)
    assert difference(whole, stream.replayed(tables, stream.runs, is_at_the_end=True)) == {}
