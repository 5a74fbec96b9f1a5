"""Positions of fields in the arrays that the loops of kernels.py share. Every field is a 64-bit number: NONE is NULL,
flags are 0 and 1, names are codes (-1: NULL)."""

from collections import namedtuple

import numpy as np

from udfs.arrays import nullable

# In loops, a plain -2**63 would be an unsigned number.
NONE = np.int64(nullable.NONE)
PLAIN, DELETION, PENDING = range(3)

# records[FIELD, number]: commits and deletions of a window. Commits that wait for their marker are kept in the same
# form: `next` is then the one before it of the same producer, and `key` is -1 after the marker.
_Record = namedtuple("_Record", [
    "offset", "time", "key", "kind", "is_certain", "is_exact", "committed", "leader_epoch", "topic_id", "text",
    "commit_time", "expire_time", "producer_id", "producer_epoch", "producer", "is_lost", "next",
])  # fmt: skip
R = _Record(*range(len(_Record._fields)))

# markers[FIELD, number]
_Marker = namedtuple("_Marker", ["offset", "time", "producer", "is_commit"])
M = _Marker(*range(len(_Marker._fields)))

# keys[key, FIELD]: first the value in effect, with its row of offset_history so far; then what is known of the key.
_Key = namedtuple("_Key", [
    "committed", "leader_epoch", "topic_id", "text", "producer_id", "from_record_offset", "from_time", "is_from_exact",
    "first_record_offset", "first_commit_time", "previous_offset", "has_previous", "num_commits", "is_certain",
    "commit_time", "expire_time",
    # The last commit that took effect, or the deletion. Its effect began at `last_offset`: its own, or its marker's.
    "is_live", "record_offset", "last_offset", "record_time", "producer_epoch",
    # `seen_offset`: newest record, -1: none. `history_time`: latest time of what took effect. `written_time`: of the
    # newest commit, in effect or not.
    "group", "pair", "seen_offset", "history_time", "written_time", "hole_offset",
    # Commits that wait for their marker and that no later deletion removed.
    "num_pending", "deleted_offset",
    # Offset of the last marker that ended a commit of the key. The newest question that waits for the next commit.
    "marker_offset", "question",
])  # fmt: skip
K = _Key(*range(len(_Key._fields)))
NUM_VALUE_FIELDS = K.expire_time + 1

# ended[FIELD, row]: values that were replaced or deleted. They begin with the value fields of the key.
REPLACED, RECREATED, DELETED = range(3)
_Ended = namedtuple(
    "_Ended", ["key", "to_record_offset", "to_time", "is_to_exact", "how", "deletion_time", "has_others"]
)
E = _Ended(*range(NUM_VALUE_FIELDS, NUM_VALUE_FIELDS + len(_Ended._fields)))
NUM_ENDED_FIELDS = E.has_others + 1

# held[FIELD, row]: values in effect. They begin with the value fields of the key. `is_shown`: an open row of
# offset_history shows all that is known of the key.
_Held = namedtuple("_Held", ["last_offset", "is_shown"])
H = _Held(*range(NUM_VALUE_FIELDS, NUM_VALUE_FIELDS + len(_Held._fields)))
NUM_HELD_FIELDS = H.is_shown + 1

# groups[group, FIELD]: `num_held` counts keys with a value and commits that wait for their marker. As long as it is
# above 0 the group is alive.
_Group = namedtuple("_Group", ["num_held", "alive_from_offset", "alive_from_time", "seen_offset", "seen_time"])
G = _Group(*range(len(_Group._fields)))

# pairs[pair, FIELD], of a group and a topic: how many of its keys have a value; and how many had after the deletion of
# this number, if it has changed since.
_Pair = namedtuple("_Pair", ["num_live", "num_live_then", "deletion"])
P = _Pair(*range(len(_Pair._fields)))

# questions[question, FIELD], in the order of offsets. `next`: the one before it that waits for the same commit.
_Question = namedtuple("_Question", [
    "offset", "key", "is_about_values", "is_about_times", "next",
    "committed", "last_commit_time", "next_commit_time", "newest_offset", "is_answered", "is_settled",
])  # fmt: skip
Q = _Question(*range(len(_Question._fields)))

# Rows that a window adds.
# alive[row, FIELD]: intervals in which a group was alive.
_Alive = namedtuple("_Alive", ["group", "from_record_offset", "from_time", "to_record_offset", "to_time"])
A = _Alive(*range(len(_Alive._fields)))

# steps[row, FIELD]: records that are older than the one of their group before them.
_Step = namedtuple("_Step", ["group", "offset", "time", "time_before"])
S = _Step(*range(len(_Step._fields)))

# overruled[row, FIELD]: commits that other coordinators restore at the COMMIT marker, and this one does not.
_Overruled = namedtuple("_Overruled", [
    "key", "offset", "committed", "marker_offset", "marker_time", "is_deleted", "newer_offset", "newer_committed",
])  # fmt: skip
O = _Overruled(*range(len(_Overruled._fields)))  # noqa: E741

# transactions[row, FIELD]
_Transaction = namedtuple("_Transaction", [
    "producer_id", "producer_epoch", "first_offset", "first_time", "end_offset", "end_time", "is_commit", "num_commits",
    "num_superseded",
])  # fmt: skip
T = _Transaction(*range(len(_Transaction._fields)))

# members[row, FIELD]: the groups of each transaction, once for each commit.
MEMBER_FIELDS = 2

# counts[FIELD]: rows, pending commits and deletions so far, and questions answered. Rows of `ended` before `explained`
# do not change any more.
_Count = namedtuple("_Count", [
    "ended", "explained", "deletions", "alive", "steps", "overruled", "transactions", "members", "pending", "asked",
])  # fmt: skip
N = _Count(*range(len(_Count._fields)))
