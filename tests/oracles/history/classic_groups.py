"""The history of one classic group, one value and one partition at a time: slow, and written from the reference
alone (states, stays and the sets of KIP-429), to be compared with the replay."""

from collections.abc import Callable, Sequence
from typing import Any

Row = dict[str, Any]
Tables = dict[str, list[tuple[Any, ...]]]
Tps = frozenset[str]
TABLES = ("states", "members", "owners", "rebalances", "sets", "moves")


class Member:
    def __init__(self, row: Row) -> None:
        self.id, self.instance = row["member_id"], row["group_instance_id"]
        session, rebalance = row["session_timeout_ms"], row["rebalance_timeout_ms"]
        self.shortest = session if rebalance in (None, -1) else min(session, rebalance)
        subscription = row["subscription"]
        self.topics = subscription["topics"]
        self.can_claim = subscription["version"] >= 1
        self.claimed = flat(subscription["owned_partitions"])
        self.generation = subscription["generation_id"]
        self.assigned = flat(row["assignment"]["partitions"])


class Value:
    def __init__(self, row: Row, time: int, is_whole: bool, ms: Callable[[Any], int]) -> None:
        self.offset, self.time, self.is_whole = row["record_offset"], time, is_whole
        self.generation, self.protocol, self.type = row["generation"], row["protocol"], row["protocol_type"]
        self.epoch = row["partition_leader_epoch"]
        self.state_time = None if row["current_state_time"] is None else ms(row["current_state_time"])
        self.members = {each["member_id"]: Member(each) for each in row["members"]}

    def owner(self, tp: str) -> str | None:
        return next((each.id for each in self.members.values() if tp in each.assigned), None)

    def all(self, name: str) -> Tps:
        return frozenset(tp for each in self.members.values() for tp in getattr(each, name))


def flat(lists: Sequence[Row] | None) -> Tps:
    return frozenset(f"{each['topic']}{number}" for each in lists or () for number in each["partitions"])


def claims(now: Value, member_id: str, tp: str) -> bool:
    return member_id in now.members and tp in now.members[member_id].claimed


def history(rows: Sequence[Row], is_whole: Callable[[int, int], bool], ms: Callable[[Any], int]) -> Tables:
    """`is_whole`: whether no record is missing between two offsets."""
    model = Model()
    last, time = -1, -(10**12)
    for row in rows:
        time = max(time, ms(row["record_time"]))
        whole = is_whole(last, row["record_offset"])
        last = row["record_offset"]
        if row["is_tombstone"]:
            model.delete(last, time, whole)
        else:
            model.see(Value(row, time, whole, ms))
    model.leave_open()
    return model.tables


class Model:
    def __init__(self) -> None:
        self.tables: Tables = {name: [] for name in TABLES}
        self.before: Value | None = None
        # (name, from time, from offset, exact, generation, members)
        self.state: list[Any] | None = None
        # By member: from time, from offset, exact, generation.
        self.members: dict[str, tuple[Any, ...]] = {}
        # By partition and member: phase, from time, from offset, exact, generation.
        self.stays: dict[tuple[str, str], tuple[Any, ...]] = {}
        self.rests: dict[str, int | None] = {}

    # -- rows

    def end_state(self, time: int | None, offset: int | None, is_exact: bool, why: str | None) -> None:
        if self.state is not None:
            self.tables["states"].append((*self.state, time, offset, is_exact, why))
            self.state = None

    def end_member(self, each: str, time: int | None, offset: int | None, is_exact: bool, why: str | None,
                   generation: int | None) -> None:  # fmt: skip
        self.tables["members"].append((each, *self.members.pop(each), time, offset, is_exact, why, generation))

    def end_stay(self, key: tuple[str, str], time: int | None, offset: int | None, is_exact: bool,
                 why: str | None) -> None:  # fmt: skip
        self.tables["owners"].append((*key, *self.stays.pop(key), time, offset, is_exact, why))

    def delete(self, offset: int, time: int, whole: bool) -> None:
        for key in list(self.stays):
            self.end_stay(key, time, offset, whole, "group_deleted")
        for each in list(self.members):
            self.end_member(each, time, offset, whole, "group_deleted", None)
        self.end_state(time, offset, whole, "deleted")
        self.before, self.rests = None, {}

    def leave_open(self) -> None:
        for key in list(self.stays):
            self.end_stay(key, None, None, True, None)
        for each in list(self.members):
            self.end_member(each, None, None, True, None, None)
        self.end_state(None, None, True, None)

    # -- a value

    def see(self, now: Value) -> None:
        before = self.before
        old_members = {} if before is None else before.members
        new_id = {}
        for old in old_members.values():
            for new in now.members.values():
                is_back = new.instance is not None and new.instance == old.instance
                if is_back and old.id not in now.members and new.id not in old_members:
                    new_id[old.id] = new.id
        if before is not None and self.is_swap(before, now, new_id):
            self.swap(now, new_id)
        else:
            self.round(now, new_id)
        self.before = now

    @staticmethod
    def is_swap(before: Value, now: Value, new_id: dict[str, str]) -> bool:
        had = {new_id.get(each.id, each.id): each.assigned for each in before.members.values()}
        has = {each.id: each.assigned for each in now.members.values()}
        return before.generation == now.generation and before.protocol == now.protocol and had == has

    def swap(self, now: Value, new_id: dict[str, str]) -> None:
        for (tp, owner), stay in list(self.stays.items()):
            if owner in new_id:
                self.end_stay((tp, owner), now.time, now.offset, now.is_whole, "static_replaced")
                if stay[0] == "assigned":
                    self.tables["moves"].append((now.offset, tp, "returned", owner, new_id[owner], None))
                    self.stays[tp, new_id[owner]] = ("assigned", now.time, now.offset, now.is_whole, now.generation)
                else:
                    self.rests[tp] = now.time
        for old, new in new_id.items():
            self.end_member(old, now.time, now.offset, now.is_whole, "static_replaced", now.generation)
            self.members[new] = (now.time, now.offset, now.is_whole, now.generation)

    def round(self, now: Value, new_id: dict[str, str]) -> None:
        before = self.before
        stop, is_stop_known = self.join_phase_end(now)
        had = {} if before is None else {new_id.get(m.id, m.id): m for m in before.members.values()}
        lost = {m.id for m in now.members.values()
                if m.id in had and had[m.id].assigned and not m.claimed and m.generation == -1}  # fmt: skip
        is_follow_up = any(
            phase == "revoking" and tp in now.all("assigned") and not claims(now, new_id.get(old, old), tp)
            for (tp, old), (phase, *_) in self.stays.items()
        )
        moves = self.hand_over(now, new_id, stop, lost)
        is_form = now.generation == 0 and not now.members
        if not is_form:
            self.tables["moves"] += [(now.offset, *move) for move in moves]
            self.write_round(now, new_id, stop, is_stop_known, had, moves, is_follow_up)
            self.write_sets(now, new_id, had, lost)
        self.change_members(now, new_id, stop)
        self.change_state(now, stop, is_stop_known)

    def join_phase_end(self, now: Value) -> tuple[int, bool]:
        if now.state_time is None:
            return now.time, False
        may_be_swap = not now.is_whole and any(each.instance for each in now.members.values())
        stop = min(now.state_time, now.time)
        return (stop if self.before is None else max(stop, self.before.time)), not may_be_swap

    def change_state(self, now: Value, stop: int, is_stop_known: bool) -> None:
        if self.first_join(now, stop) is not None:
            assert self.state is not None
            self.state[0] = "PreparingRebalance"
        self.end_state(stop, now.offset, False, "next_state")
        if not now.members:
            is_new = now.generation == 0
            self.state = ["Empty", now.time if is_new else stop, now.offset, now.is_whole, now.generation, 0]
            return
        tail = [now.offset, now.is_whole, now.generation, len(now.members)]
        if is_stop_known and stop < now.time:
            self.state = ["CompletingRebalance", stop, *tail]
            self.end_state(now.time, now.offset, True, "next_state")
        self.state = ["Stable", now.time, *tail]

    def first_join(self, now: Value, stop: int) -> int | None:
        """When a new group began to wait for its first members."""
        before, state = self.before, self.state
        if state is None or before is None or before.members or before.generation != 0 or before.type != "":
            return None
        is_first = now.is_whole and now.generation == 1 and now.members and 0 < stop - state[1] <= 300_000
        return int(state[1]) if is_first else None

    def change_members(self, now: Value, new_id: dict[str, str], stop: int) -> None:
        before = self.before
        for each in list(self.members):
            if each in now.members:
                continue
            why = "static_replaced" if each in new_id else "left_or_timed_out"
            assert before is not None
            if why != "static_replaced" and not now.is_whole and now.generation - before.generation != 1:
                why = "unknown"
            elif why != "static_replaced" and before.members[each].instance is not None:
                why = "static_expired_likely"
            elif why != "static_replaced" and stop - self.members[each][0] < before.members[each].shortest - 1_000:
                # No timeout is that short.
                why = "left"
            self.end_member(each, stop, now.offset, False, why, now.generation)
        for each in now.members:
            self.members.setdefault(each, (stop, now.offset, False, now.generation))

    # -- partitions

    def hand_over(self, now: Value, new_id: dict[str, str], stop: int, lost: set[str]) -> list[tuple[Any, ...]]:
        moves: list[tuple[Any, ...]] = []
        stays, kept, came_from_others = list(self.stays.items()), set(), set()
        known = {tp[0] for tp in now.all("assigned")} | {name for m in now.members.values() for name in m.topics}
        for (tp, old), (phase, *_) in stays:
            who = now.members.get(new_id.get(old, old))
            receivers = [each.id for each in now.members.values() if tp in each.assigned]
            if who is None or tp not in who.claimed:
                is_lost = who is not None and who.id in lost and phase == "assigned"
                if who is None:
                    why = "member_left"
                elif who.id != old:
                    why = "static_replaced"
                else:
                    why = "revoked" if not receivers or who.id in receivers else "reassigned"
                self.end_stay((tp, old), stop, now.offset, False, why)
                if not receivers:
                    self.rests[tp] = stop
                    moves.append((tp, "lost" if is_lost else "revoked", old, None, None))
                for receiver in receivers:
                    is_back = who is not None and receiver == who.id
                    other = "moved" if phase == "assigned" else "ready_to_migrate"
                    kind = "lost" if is_lost else "returned" if is_back else other
                    moves.append((tp, kind, old, receiver, now.time - stop))
                    came_from_others.add(tp)
                continue
            next_phase = "assigned" if tp in who.assigned else "revoking"
            kept.add((tp, who.id))
            if who.id != old or next_phase != phase:
                why = "phase_changed" if who.id == old else "static_replaced"
                self.end_stay((tp, old), now.time, now.offset, True, why)
                self.stays[tp, who.id] = (next_phase, now.time, now.offset, True, now.generation)
            if next_phase == "revoking":
                if not receivers:
                    moves.append((tp, "withheld" if tp[0] in known else "unknown_owned", old, None, None))
                moves += [(tp, "moved", old, receiver, 0) for receiver in receivers]
                came_from_others.update([tp] if receivers else [])
        moves += self.claim(now, known)
        return moves + self.give(now, kept, came_from_others)

    def claim(self, now: Value, known: set[str]) -> list[tuple[Any, ...]]:
        moves: list[tuple[Any, ...]] = []
        for who in now.members.values():
            for tp in sorted(who.claimed - now.all("assigned")):
                if not any(owned == tp for owned, _ in self.stays):
                    self.stays[tp, who.id] = ("revoking", now.time, now.offset, False, now.generation)
                    self.rests.pop(tp, None)
                    moves.append((tp, "withheld" if tp[0] in known else "unknown_owned", who.id, None, None))
        return moves

    def give(self, now: Value, kept: set[tuple[str, str]], passed: set[str]) -> list[tuple[Any, ...]]:
        moves: list[tuple[Any, ...]] = []
        for who in now.members.values():
            for tp in who.assigned:
                if (tp, who.id) in kept:
                    continue
                is_exact = now.is_whole and tp not in who.claimed
                self.stays[tp, who.id] = ("assigned", now.time, now.offset, is_exact, now.generation)
                since = self.rests.pop(tp, None)
                if tp not in passed and tp not in who.claimed:
                    moves.append((tp, "assigned", None, who.id, None if since is None else now.time - since))
        return moves

    # -- the rebalance

    def write_round(self, now: Value, new_id: dict[str, str], stop: int, is_stop_known: bool, had: dict[str, Member],
                   moves: list[tuple[Any, ...]], is_follow_up: bool) -> None:  # fmt: skip
        before = self.before
        claimed, assigned = now.all("claimed"), now.all("assigned")
        known = {tp[0] for tp in assigned} | {name for m in now.members.values() for name in m.topics}
        unknown = {tp for tp in claimed - assigned if tp[0] not in known}
        given = [(new_id.get(old, old), new) for _, _, old, new, _ in moves if old and new]
        since = 0 if before is None else before.generation
        rounds = now.generation - since - 1 if now.is_whole and now.generation > since else None
        owned = frozenset() if before is None else before.all("assigned")
        began = self.first_join(now, stop)
        self.tables["rebalances"].append((
            now.offset, None if before is None else before.generation, now.generation,
            stop if began is None else began, now.time,
            "completed" if now.members else "emptied", tuple(each for each in now.members if each not in had),
            tuple(each for each in (before.members if before else ())
                  if each not in now.members and each not in new_id),
            len(assigned), sum(old != new for old, new in given), sum(old == new for old, new in given),
            len(claimed - assigned - unknown), len(claimed - unknown), len(assigned - claimed), len(unknown),
            len(owned - assigned), is_follow_up, rounds,
            now.time - stop if is_stop_known and now.members else None, sum(idle or 0 for *_, idle in moves),
        ))  # fmt: skip

    def write_sets(self, now: Value, new_id: dict[str, str], had: dict[str, Member], lost: set[str]) -> None:
        old_members = {} if self.before is None else self.before.members
        is_known = self.before is not None or now.is_whole
        for who in now.members.values():
            old = had[who.id].assigned if who.id in had else frozenset()
            change = "kept" if who.id in old_members else "restarted" if who.id in had else "joined"
            self.tables["sets"].append((
                now.offset, who.id, change, old if is_known else None, who.claimed if who.can_claim else None,
                who.assigned, who.assigned - who.claimed, who.claimed - who.assigned, who.claimed & who.assigned,
                old if who.id in lost else frozenset(), frozenset() if who.id in lost else old - who.claimed,
            ))  # fmt: skip
        for each in old_members.values():
            if each.id not in now.members and each.id not in new_id:
                none = frozenset[str]()
                self.tables["sets"].append(
                    (now.offset, each.id, "left", each.assigned, None, none, none, none, none, none, none)
                )
