"""Committed offsets: which commits count from when to when, transactions, and why offsets were removed."""

from tests.make.coordinator import commit, dead, deletion, value
from tests.make.history import test_of
from tests.make.log import ABORT, Batch, Log, ended

S, WEEK = 1_000, 7 * 24 * 3_600_000
EMPTY = "offsets tp =>"


def lines(*entries, **known):
    """One operation a second; None is a missing record."""
    log = Log(**known)
    for second, each in enumerate(entries):
        if each is None:
            log.skip(1)
        elif isinstance(each, Batch):
            log.add(Batch(0, second * S, each.ops, each.epoch, each.producer, each.outcome, 0, 0, each.producer_epoch,
                          each.is_transactional))  # fmt: skip
        else:
            log.write(second * S, each)
    return log


def pending(*ops, producer=7, **more):
    return Batch(0, 0, ops, producer=producer, **more)


def end(producer=7, outcome=1, epoch=0):
    return ended(0, producer, outcome, epoch)


LINKS = {
    "the deletion of a group deletes no offset": (lines(commit("t0", 1), dead()),
        "offsets from_record_offset is_provisional => 0 yes"),
    "key versions 0 and 1 are one offset, and the later record holds": (
        lines(commit("t0", 10), commit("t0", 11, key_version=0)),
        "offsets committed_offset is_provisional => 10 no | 11 yes"),
    "a plain commit before the marker wins over the transaction": (
        lines(pending(commit("t0", 10)), commit("t0", 20), end()), """
        offsets committed_offset via is_provisional => 20 plain yes
        transactions outcome num_commits num_superseded => committed 1 1"""),
    "of two transactions the one with the later record wins, if its marker is first": (
        lines(pending(commit("t0", 10)), pending(commit("t0", 20), producer=8), end(8), end(7)), """
        offsets committed_offset producer_id from_record_offset => 20 8 2"""),
    "of two transactions the one with the later record wins, if its marker is last": (
        lines(pending(commit("t0", 10)), pending(commit("t0", 20), producer=8), end(7), end(8)), """
        offsets committed_offset producer_id from_record_offset => 10 7 2 | 20 8 3"""),
    "by the rules of 3.7 the last COMMIT counts, and a deletion leaves what waits": (
        lines(pending(commit("t0", 10)), commit("t0", 20), pending(commit("t1", 1), producer=8), deletion("t1"), end(),
              end(8), release="3.7-new"), """
        offsets committed_offset from_record_offset to_record_offset via =>
            20 1 4 plain | 10 4 - transaction | 1 5 - transaction
        anomalies kind severity record_offset => older_rule info 4 | pending_outlived_deletion info 5"""),
    "a marker ends the transaction of its producer, whatever the epoch": (
        lines(pending(commit("t0", 1), producer_epoch=4), end(epoch=5), end(9)), """
        offsets from_record_offset via producer_id => 1 transaction 7
        transactions producer_epoch outcome => 4 committed"""),
    "a commit of a transaction begins at its marker, and rests on both": (
        lines(pending(commit("t0", 10)), commit("t1", 2), end(), commit("t0", 9)), """
        offsets from_record_offset from_time evidence_first_offset evidence_last_offset tp=t0 =>
            2 2000 0 3 | 3 3000 3 3"""),
    "an aborted commit makes no row, and what was committed before goes on": (
        lines(commit("t0", 5), pending(commit("t0", 6)), end(outcome=ABORT)), """
        offsets committed_offset is_provisional => 5 yes
        transactions outcome num_superseded => aborted 0"""),
    "a negative offset is an offset": (
        lines(commit("t0", -1), commit("t0", 4)), "offsets committed_offset previous_offset delta => -1 - - | 4 -1 5"),
    "a delta beyond 64 bits is unknown": (
        lines(commit("t0", -(2**63)), commit("t0", 2**63 - 1)), f"offsets previous_offset delta => - - | {-(2**63)} -"),
    "a commit without a topic id recreates no topic": (
        lines(commit("t0", 7, topic="a"), pending(commit("t0", 8)), end(), commit("t0", 9, topic="a"),
              commit("t0", 1, topic="b")), """
        offsets topic_id ended_by previous_offset => a commit - | - commit 7 | a topic_recreated 8 | b - -"""),
    "of one key twice in one batch both hold, the first for no time": (
        Log((S, commit("t0", 3), commit("t0", 4))), """
        offsets from_time to_time committed_offset is_provisional => 1000 1000 3 no | 1000 - 4 yes"""),
    "a group with nothing but a pending commit is there and has no offset": (
        lines(pending(commit("t0", 1))), f"""{EMPTY}
        transactions outcome groups is_provisional => open g yes
        states from_record_offset to_record_offset => 0 -"""),
    "the end of its transaction is the end of such a group": (
        lines(pending(commit("t0", 1)), end(outcome=ABORT)), f"""{EMPTY}
        states from_record_offset to_record_offset => 0 1"""),
    "a deletion inside an open transaction takes the pending commit with it": (
        lines(commit("t0", 1), pending(commit("t0", 2)), deletion("t0"), end()), """
        offsets committed_offset to_record_offset => 1 2
        transactions num_superseded => 1
        states from_record_offset to_record_offset => 0 2
        anomalies severity => info
        anomalies kind evidence_first_offset record_offset evidence_last_offset => pending_outlived_deletion 1 3 3"""),
    "a deletion in a batch of a transaction counts at once": (
        lines(commit("t0", 1), pending(deletion("t0")), commit("t0", 3)), """
        offsets from_record_offset to_record_offset previous_offset => 0 1 - | 2 - -"""),
    "a commit outside of transactions has no producer": (
        lines(pending(commit("t0", 1), is_transactional=False)),
        "offsets via producer_id is_provisional => plain - yes"),
    "commits of an archive without producers are possible": (
        lines(commit("t0", 1), lacks=("is_transactional", "producer_id")), """
        offsets confidence via => possible plain
        states confidence => possible"""),
    "a producer shows a transaction where the archive lacks the flag": (
        lines(pending(commit("t0", 1)), end(), lacks=("is_transactional",)), """
        offsets from_record_offset via confidence => 1 transaction certain"""),
    "equal commits are one row with the times of the last one": (
        lines(*(commit("t0", 8, time=second * S, expires=second * S + 1) for second in (0, 1, 2)), commit("t0", 9)), """
        offsets num_commits from_record_offset to_record_offset from_time to_time commit_time last_commit_time
            last_expire_time =>
            3 0 3 0 3000 0 2000 2001 | 1 3 - 3000 - 3000 3000 -"""),
    **{f"{name} begins a row": (
        lines(commit("t0", 8, topic="a", metadata="m", leader=1), commit("t0", **other),
              commit("t0", 8, topic="a", metadata="m", leader=1)), "offsets from_record_offset => 0 | 1 | 2")
       for name, other in {
           "another offset": {"offset": 9, "topic": "a", "metadata": "m", "leader": 1},
           "another topic id": {"offset": 8, "topic": "b", "metadata": "m", "leader": 1},
           "other metadata": {"offset": 8, "topic": "a", "metadata": "", "leader": 1},
           "another leader epoch": {"offset": 8, "topic": "a", "metadata": "m"},
       }.items()},
    "another producer begins a row": (
        lines(commit("t0", 8), pending(commit("t0", 8)), end(), pending(commit("t0", 8), producer=8), end(8)), """
        offsets producer_id => - | 7 | 8"""),
    "history time of a key never goes back, not even over a deletion": (
        Log((9 * S, commit("t0", 1)), (8 * S, deletion("t0")), (5 * S, commit("t0", 3)), (4 * S, commit("t1", 4))), """
        offsets from_time to_time tp=t0 => 9000 9000 | 9000 -
        offsets from_time to_time tp=t1 => 4000 -"""),
    "each step back of the clock by more than a second is reported once": (
        Log(*((time, commit("t0", time)) for time in (10 * S, 9 * S, 7 * S, 7 * S + 5, 12 * S))), """
        anomalies record_offset kind severity message => 2 clock_went_back info
            the record's time is 2,000 ms earlier than that of the group's previous commit"""),
    "missing records leave the ends of a value inexact": (
        lines(commit("t0", 1), commit("t0", 2), None, None, commit("t0", 6), commit("t0", 7)), """
        offsets is_from_exact is_to_exact => yes yes | yes no | no yes | yes yes"""),
    "of a key that was never seen a record may be missing anywhere before": (
        lines(commit("t0", 1), None, commit("t1", 6)), "offsets is_from_exact => yes | no"),
    "between a commit of a transaction and its marker a later commit may be missing": (
        lines(pending(commit("t0", 1)), None, end()), "offsets is_from_exact => no"),
    "after a hole nothing is claimed": (
        Log((S, commit("t0", 1)), (2 * S, pending(commit("t1", 2)).ops, {"producer": 7}), "9", ended(9 * S),
            (10 * S, commit("t0", 11))), """
        offsets from_record_offset to_record_offset to_time ended_by is_to_exact is_provisional previous_offset
            is_from_exact =>
            0 1 2000 coverage_hole no no - yes | 12 - - - yes yes - no
        transactions outcome is_provisional end_time => open no -
        states from_record_offset to_record_offset => 0 1 | 12 -"""),
    "transactions with commits of several groups are one, however the groups are cut": (
        lines(pending(commit("t0", 1), commit("t1", 1)), pending(commit("t0", 1, group="h")), end(),
              pending(commit("t0", 2), producer=8), slices=2), """
        transactions first_offset groups num_commits evidence_last_offset outcome =>
            0 g,h 3 3 committed | 4 g 1 4 open"""),
}  # fmt: skip
TWO = (pending(commit("t0", 2)), deletion("t0"))
# Coordinators that load the same by older rules.
AGREEING = {
    "aborted": (*TWO, end(outcome=ABORT)),
    "open": TWO,
    "deleted before": (deletion("t0"), pending(commit("t0", 2)), end()),
    "committed again": (*TWO, commit("t0", 2), end()),
    "committed again by the transaction": (*TWO, pending(commit("t0", 4)), end()),
    "another partition": (pending(commit("t0", 2)), deletion("t1"), end()),
    "equal": (pending(commit("t0", 2)), commit("t0", 2), end()),
    "of a later release": (pending(commit("t0", 2)), commit("t0", 3, topic="a"), end()),
    "a transaction of a later release": (pending(commit("t0", 2, topic="a")), commit("t0", 3), end()),
    "in order": (commit("t0", 2), pending(commit("t0", 3)), end()),
    "an aborted one": (pending(commit("t0", 2)), commit("t0", 3), end(outcome=ABORT)),
}
OVERTAKEN = {
    "by a plain commit": ((pending(commit("t0", 2)), commit("t0", 3), end()), "0 2"),
    "by a transaction": (
        (pending(commit("t0", 2)), pending(commit("t0", 3), producer=8), end(8), end(7)), "0 3"),
    "after a deletion": ((pending(commit("t0", 2)), deletion("t0"), commit("t0", 3), end()), "0 3"),
    "one of two of its transaction": (
        (pending(commit("t0", 1)), pending(commit("t0", 2)), commit("t0", 3), end()), "1 3"),
}  # fmt: skip
ENDINGS = {
    "an offset that is removed when its retention is over has expired": (
        Log((S, commit("t0", 1)), (S + WEEK, deletion("t0")), retention_ms=WEEK), "expired likely"),
    "and not before": (
        Log((S, commit("t0", 1)), (S + WEEK - 1, deletion("t0")), retention_ms=WEEK), "tombstone_unknown certain"),
    "a group that is removed with its last expired offset leaves it expired": (
        Log((S, commit("t0", 1)), (S + WEEK, deletion("t0"), dead()), retention_ms=WEEK), "expired likely"),
    "a retention time of the request is kept and counts before the broker's": (
        Log((S, commit("t0", 1, expires=5 * S)), (4 * S, deletion("t0")), (6 * S, commit("t0", 6, expires=9 * S)),
            (9 * S, deletion("t0")), retention_ms=0), "tombstone_unknown certain | expired likely"),
    "in an emptied group age counts from when it became empty, and is too low": (
        Log((S, commit("t0", 1)), (12 * S, value(1, state=12 * S)), (20 * S, deletion("t0")), retention_ms=10 * S),
        "tombstone_unknown certain"),
    "in an emptied group age counts from when it became empty": (
        Log((S, commit("t0", 1)), (12 * S, value(1, state=12 * S)), (20 * S, deletion("t0")), retention_ms=8 * S),
        "expired likely"),
    "in a group that has members again the commit's own age counts": (
        Log((S, commit("t0", 1)), (12 * S, value(1, state=12 * S)), (13 * S, value(2, "a", state=13 * S)),
            (20 * S, deletion("t0")), retention_ms=10 * S), "expired likely"),
    "an offset that is removed with its group before its time was deleted": (
        Log((S, commit("t0", 1)), (5 * S, deletion("t0"), dead()), retention_ms=WEEK), "deleted likely"),
    "an offset that is removed at another time than its group was not deleted with it": (
        Log((S, commit("t0", 1)), (2 * S, deletion("t0")), (5 * S, dead()), retention_ms=WEEK),
        "tombstone_unknown certain"),
    "one offset of a topic that is removed alone was deleted by name": (
        lines(commit("t0", 1), commit("t1", 1), deletion("t0"), retention_ms=WEEK), "deleted likely"),
    "where age may be the reason it may be that": (
        lines(commit("t0", 1), commit("t1", 1), deletion("t0")), "tombstone_unknown certain"),
    "all of a topic in one write are removed as a topic, whatever stays of others": (
        Log((0, commit("t0", 1)), (1, commit("t1", 1)), (2, commit("u0", 1)), (3, deletion("t0"), deletion("t1")),
            retention_ms=WEEK), "tombstone_unknown certain | tombstone_unknown certain"),
    "offsets of a topic that are removed in several groups at once were removed with the topic": (
        Log((0, commit("t0", 1)), (1, commit("t0", 1, group="h")), (9, deletion("t0"), deletion("t0", "h")),
            retention_ms=WEEK), "topic_deleted likely | topic_deleted likely"),
    "one sweep takes what has just expired in several groups": (
        Log((0, commit("t0", 1)), (1, commit("t0", 1, group="h")), (WEEK + 9, deletion("t0"), deletion("t0", "h")),
            retention_ms=WEEK), "expired likely | expired likely"),
    "what had expired for long was kept by subscriptions, and went with the topic": (
        Log((0, commit("t0", 1)), (1, commit("t0", 1, group="h")), (WEEK + 1201 * S, deletion("t0"),
            deletion("t0", "h")), retention_ms=WEEK), "topic_deleted likely | topic_deleted likely"),
    "of what had just expired with its topic, snapshots show which": (
        Log((0, commit("t0", 1)), (1, commit("t0", 1, group="h")), (WEEK + 9, deletion("t0"), deletion("t0", "h")),
            topics={0: {"t": 1}, WEEK + 20: {"u": 1}}, retention_ms=WEEK),
        "topic_deleted likely | topic_deleted likely"),
    "in several groups at two times they were not": (
        Log((0, commit("t0", 1)), (1, commit("t0", 1, group="h")), (9, deletion("t0")), (10, deletion("t0", "h")),
            retention_ms=WEEK), "tombstone_unknown certain | tombstone_unknown certain"),
    "with the groups themselves they were deleted, though the topic's name is gone too": (
        Log((0, commit("t0", 1)), (1, commit("t0", 1, group="h")),
            (9, deletion("t0"), deletion("t0", "h"), dead(), dead("h"))), "deleted likely | deleted likely"),
    "where another offset of the topic stays the topic stays": (
        Log((0, commit("t1", 1)), (0, commit("t0", 1)), (1, commit("t0", 1, group="h")),
            (9, deletion("t0"), deletion("t0", "h")), retention_ms=WEEK), "deleted likely | topic_deleted likely"),
    "a topic that the next snapshot lacks was deleted between": (
        Log((5, commit("t0", 1)), (15, deletion("t0")), topics={0: {"t": 1}, 20: {"u": 1}}), "topic_deleted likely"),
    "a commit after the last deletion of a write leaves the reason as it is": (
        Log((S, commit("t0", 1)), (3 * S, deletion("t0")), (3 * S, commit("t1", 1)), retention_ms=10**9),
        "tombstone_unknown certain"),
    "deletions without times are writes of their own": (
        Log((1, commit("t0", 1, expires=2)), (2, commit("t1", 2)), (None, deletion("t0")), (None, deletion("t1"))),
        "deleted likely | tombstone_unknown certain"),
}  # fmt: skip
test_offsets = test_of({
    **LINKS,
    **{f"older coordinators load the same: {name}": (lines(*log), "anomalies kind =>")
       for name, log in AGREEING.items()},
    **{f"the preview of 3.7 goes by the order of markers: {name}": (lines(*log), f"""
        offsets committed_offset is_provisional=yes => 3
        anomalies kind severity evidence_first_offset record_offset => older_rule info {places}""")
       for name, (log, places) in OVERTAKEN.items()},
    **{name: (log, f"offsets ended_by confidence is_provisional=no => {ends}")
       for name, (log, ends) in ENDINGS.items()},
})  # fmt: skip
