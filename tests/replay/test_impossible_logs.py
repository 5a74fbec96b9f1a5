"""Logs that contradict themselves all the time end no run, and errors of this program end it."""

from random import Random

import numpy as np
import pytest

from schemas.tables import TABLES
from tests.make.coordinator import KINDS, consumer, dead, value
from tests.make.history import histories, history
from tests.make.log import Log
from udfs.groups import fold as folding
from udfs.groups.readers.records import ImpossibleLog

LOGS, SOAKED = 40, 4_000
MEMBERS, INSTANCES = ("a", "b", "c", "dd"), (None, None, "i", "j")
EPOCHS = (-(1 << 31), -2, -1, 0, 1, 2, 3, 4, (1 << 31) - 1)
PLACES = ("t0", "t1", "t2", "t2147483647", "u0", "u1")
TASKS = ("0_0", "0_1", "1_0", "1_1")


class Impossible:
    """Records of all types for one group, with few ids and small numbers. Mostly of two types of groups: a group that
    changes its type with every record never gets far."""

    def __init__(self, seed):
        self.chance = Random(seed)
        self.kinds = self.chance.sample((None, *KINDS), self.chance.choice((1, 2, 2, 4)))

    def log(self):
        log, time = Log(), 10**9
        for _ in range(self.chance.choice((2, 4, 8, 16))):
            if self.chance.random() < 0.15:
                self.chance.choice((log.skip, log.skip, log.hole))(self.chance.choice((1, 3)))
            time += self.chance.choice((0, 1, 50_000_000, -5_000))
            ops = [self.record(self.chance.choice(self.kinds)) for _ in range(self.chance.choice((1, 1, 2, 4)))]
            log.write(None if self.chance.random() < 0.02 else time, *ops)
        return log

    def any_of(self, values):
        return self.chance.choice(values)

    def some(self, values):
        return [each for each in values if self.chance.random() < 0.5]

    def record(self, kind):
        if kind is None:
            return dead() if self.chance.random() < 0.25 else self.classic()
        member, number = self.any_of(MEMBERS), self.any_of(EPOCHS)
        places = TASKS if kind.name == "streams" else PLACES
        first, second = (" ".join(self.some(places)) for _ in range(2))
        of_members = (kind.of_member, kind.of_target, kind.of_current)
        if self.chance.random() < 0.25:
            which = self.any_of((*of_members, kind.of_epoch, kind.of_done, kind.listed))
            return kind.gone(which, member if which in of_members else None)
        static = {} if kind.name == "share" else {"instance": self.any_of(INSTANCES)}
        if kind.name == "consumer":
            static |= {"regex": self.any_of((None, "o.*")), "assignor": self.any_of((None, "range", "uniform")),
                       "session": self.any_of((None, 45_000))}  # fmt: skip
        acts = [
            lambda: kind.epoch(number, self.any_of((0, 7))),
            lambda: kind.done(number),
            lambda: kind.target(member, first),
            lambda: kind.owns(member, number, first, revoking="" if kind.name == "share" else second,
                              previous=self.any_of(EPOCHS)),
            lambda: kind.member(member, "".join(self.some("tu")), timeout=self.any_of((-1, 0, 45_000)), **static),
            lambda: kind.topology(number, *self.some(("t", "u", "v [w]"))) if kind.name == "streams"
            else kind.topics(**dict.fromkeys(self.some("tu"), self.any_of((0, 1, 3)))),
        ]  # fmt: skip
        if kind.name == "consumer":
            acts.append(lambda: kind.pattern("o.*", "".join(self.some("tu"))))
        return self.any_of(acts)()

    def classic(self):
        members = []
        for name in self.some((*MEMBERS, "a")):
            instance, topics = self.any_of(("", "", "/i", "/j")), self.any_of(("", "", "(tu)", "!"))
            assigned = self.any_of(("?", "-", " ".join(self.some(PLACES))))
            claimed = self.any_of(("", f" < {' '.join(self.some(PLACES))} @3"))
            members.append(f"{name}{instance}{topics}: {assigned}{claimed}")
        kind, state = self.any_of(("consumer", "connect", "")), self.any_of((None, 1, 500, 1 << 50))
        return value(
            self.any_of(EPOCHS), ", ".join(members), state=state, protocol_type=kind, leader=self.any_of(MEMBERS)
        )


@pytest.mark.parametrize("number", [LOGS, pytest.param(SOAKED, marks=pytest.mark.soak)])
def test_no_content_of_a_log_ends_the_run(seed, number):
    """One log again: `print(Impossible(its seed).log().text())`."""
    kinds = set()
    for first in range(seed, seed + number, 200):
        logs = {str(each): Impossible(each).log() for each in range(first, min(first + 200, seed + number))}
        # Numbers of fixed size overflow in silence in machine code, and in plain Python with a warning.
        with np.errstate(over="ignore"):
            replayed_logs = histories(logs)
        for name, replayed in replayed_logs.items():
            rows = replayed.rows["partition_moves"]
            keys = [tuple(row[column] for column in TABLES["partition_moves"].key) for row in rows]
            assert len(keys) == len(set(keys)), f"two moves with one key in the log of seed {name}"
            kinds |= {row["kind"] for row in replayed.rows["replay_anomalies"]}
    assert {"impossible_order", "type_conflict", "epoch_went_back", "clock_went_back"} <= kinds


RECORDS = {
    2: value(1), 3: consumer.epoch(2), 5: consumer.member("a"), 6: consumer.done(2), 7: consumer.target("a", "t0"),
    8: consumer.owns("a", 2, "t0"),
}  # fmt: skip


def fail(*_):
    raise KeyError("no such thing")


@pytest.mark.parametrize("record_type", RECORDS)
def test_an_error_of_ours_in_any_handler_ends_the_run(record_type, monkeypatch):
    monkeypatch.setitem(folding.HANDLERS, record_type, fail)
    with pytest.raises(KeyError, match="no such thing"):
        history(Log((0, consumer.member("a") if record_type > 6 else [], RECORDS[record_type])))


@pytest.mark.parametrize("module", ["classic_groups", "modern_groups", "conversions"])
def test_an_error_of_ours_in_what_follows_from_an_operation_ends_the_run(module, monkeypatch):
    monkeypatch.setattr(getattr(folding, module), "settle", fail)
    classic, modern = [(0, value(1))], [(1_000, consumer.epoch(2))]
    with pytest.raises(KeyError, match="no such thing"):
        history(Log(*(classic if module != "modern_groups" else ()), *(modern if module != "classic_groups" else ())))


def test_a_contradiction_in_one_group_ends_neither_the_run_nor_other_groups(monkeypatch):
    handler = folding.HANDLERS[2]

    def contradict(group, record):
        if group.group_id.endswith("bad"):
            raise ImpossibleLog("no coordinator does this")
        handler(group, record)

    monkeypatch.setitem(folding.HANDLERS, 2, contradict)
    history(Log((0, value(1, group="other")), (4, value(1, group="bad")), (5, value(1, group="good")))).assert_says("""
        anomalies group_id kind severity record_offset message =>
            bad impossible_order critical 1 no coordinator does this
        states group_id => good | other""")
