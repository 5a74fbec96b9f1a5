"""Groups of offsets alone: they exist while they have an offset or a pending commit, and no record says otherwise."""

from tests.make.coordinator import commit, created, dead, deletion
from tests.make.history import test_of
from tests.make.log import Log

OWN = "states from_record_offset to_record_offset ended_by is_provisional generation_or_epoch=-"


def log_of(end, events, gaps=(), hole=()):
    """Records at these offsets; others are of another group, except those that are missing or that no run has seen."""
    log, others = Log(), []
    for offset in range(end):
        if offset in (*gaps, *hole):
            if others:
                log.write(offset * 10, *others)
            log.hole(1) if offset in hole else log.skip(1)
            others = []
        elif offset in events:
            log.write(offset * 10, *others, *events[offset])
            others = []
        else:
            others.append(commit("v0", 1, group="z"))
    return log.write(end * 10, *others, commit("v0", 2, group="z"))


def live(first, last=None, known=(), **missing):
    """The group's offset and the records of a group that stand between; each known one from a value to a tombstone."""
    events = {first: [commit("t0", 1)]} | ({} if last is None else {last: [deletion("t0")]})
    for since, until in known:
        events[since] = [created(since * 10)]
        if until is not None:
            events[until] = [*events.get(until, []), dead()]
    return log_of(max([*events, *missing.get("hole", ())]) + 2, events, **missing)


KNOWN, UNKNOWN = "classic Empty 0 certain", "- - - possible"
AFTER_HOLE = {"hole": (10, 11)}
TYPES = {
    "after a hole": (live(12, **AFTER_HOLE), UNKNOWN),
    "after a hole, and ended": (live(12, 15, **AFTER_HOLE), UNKNOWN),
    "a group before the hole, deleted by the last record before it": (live(12, None, [(3, 9)], **AFTER_HOLE), UNKNOWN),
    "a group before the hole, deleted earlier": (live(12, None, [(3, 8)], **AFTER_HOLE), UNKNOWN),
    "ended by the hole": (live(5, **AFTER_HOLE), KNOWN),
    "a group after the hole, and it was deleted": (live(12, None, [(14, 20)], **AFTER_HOLE), f"{UNKNOWN} | {KNOWN}"),
    "only after that group": (live(22, None, [(3, 9), (14, 20)], **AFTER_HOLE), KNOWN),
    "and another hole after it": (live(12, None, [(14, 20)], hole=(10, 11, 30)), f"{UNKNOWN} | {KNOWN}"),
    "the log was not seen from its beginning": (live(12, hole=tuple(range(10))), UNKNOWN),
    "but a group was deleted since": (live(12, None, [(10, 11)], hole=tuple(range(10))), KNOWN),
    "what the cleaner took before": (live(5, None, [(9, 20)], gaps=(2, 3)), f"{UNKNOWN} | {KNOWN}"),
    "what the cleaner took between": (live(5, None, [(9, 20)], gaps=(7,)), f"{UNKNOWN} | {KNOWN}"),
    "the cleaner and then a hole": (live(5, gaps=(7,), **AFTER_HOLE), UNKNOWN),
    "the cleaner took only what no later record of a group replaced": (live(5, gaps=(2, 3)), KNOWN),
    "and it ended": (live(5, 9, gaps=(2, 3)), KNOWN),
}
LIVES = {
    "it is an empty classic group without a type and a generation": (live(5), """
        states group_type state num_members from_time generation_or_epoch protocol_type to_time group_id=g =>
            classic Empty 0 50 - - -"""),
    "it ends with its last offset and begins again with the next": (
        log_of(14, {5: [commit("t0", 1)], 9: [deletion("t0")], 12: [commit("t0", 1)]}),
        f"{OWN} group_id=g => 5 9 deleted no | 12 - - yes"),
    "it is none while records of a group show otherwise": (
        live(5, None, [(7, 20), (30, None)]), f"{OWN} group_id=g => 5 7 next_state no | 20 30 next_state no"),
    "it begins when the group is deleted whose offsets stay": (
        live(8, 25, [(7, 20), (30, None)]), f"{OWN} group_id=g => 20 25 deleted no"),
    "offsets that a group had and lost make none": (live(8, 15, [(7, 20)]), f"{OWN} group_id=g =>"),
    "offsets of a group that is there make none": (live(31, None, [(30, None)]), f"{OWN} group_id=g =>"),
    "it may follow a group that was deleted": (live(22, None, [(7, 20)]), f"{OWN} group_id=g => 22 - - yes"),
    "a tombstone of the group and of its offsets in one write leaves none": (
        live(5, 20, [(3, 20)]), f"{OWN} group_id=g =>"),
    "a hole ends it as a hole": (live(5, hole=(10, 11)), f"{OWN} group_id=g => 5 9 coverage_hole no"),
    "a record of a group that is the last one before the hole ended it already": (
        live(5, None, [(9, None)], hole=(10, 11)), f"{OWN} group_id=g => 5 9 next_state no"),
    "the deletion of its last offset before the hole ended it already": (
        live(5, 9, hole=(10, 11)), f"{OWN} group_id=g => 5 9 deleted no"),
    "missing records make its ends inexact": (
        live(5, 9, gaps=(2, 3, 7)), "states is_from_exact is_to_exact group_id=g => no no"),
}  # fmt: skip
test_simple_groups = test_of({
    **LIVES,
    **{f"the type of a simple group: {name}": (
        log, f"states group_type state num_members confidence generation_or_epoch=- group_id=g => {rows}")
       for name, (log, rows) in TYPES.items()},
})  # fmt: skip
