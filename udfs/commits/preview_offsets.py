"""Offsets for which the preview coordinator of 3.7 keeps another commit. Of two commits, today's coordinator keeps the
later record; the one of 3.7 keeps the commit whose COMMIT marker is later."""

import numpy as np
import pyarrow as pa

from schemas.words.history import AnomalyKind
from udfs.arrays.nullable import Flags, Positions
from udfs.commits.anomalies import CommitAnomalies, certain_rows
from udfs.commits.chunks import Effects
from udfs.commits.frames import Frame
from udfs.commits.revived_offsets import overruled
from udfs.commits.transactions import Waiting


def preview_offsets(frame: Frame, effects: Effects, waiting: Waiting, cluster: str, partition: int) -> pa.Table:
    """One row for each of them, at the COMMIT marker from which on they differ."""
    chosen, before = overruled(frame, effects, waiting)
    at, held = waiting.at[chosen], effects.at[before]
    differs = effects.is_value[before] & are_different(frame, at, held)
    at, held, marker = at[differs], held[differs], waiting.marker[chosen][differs]
    key = frame.key[at]
    topics = frame.topics.take(pa.array(frame.keys.topic[key])).to_pylist()
    messages = [
        f"{topic}-{number}: offset {theirs} of record {first} was pending in a transaction until after record {newer} "
        f"committed {ours}. On that COMMIT, the new coordinator of 3.7 (early access) restores {theirs}; all "
        f"others keep {ours}"
        for topic, number, first, newer, theirs, ours in zip(
            topics,
            frame.keys.partition[key].tolist(),
            frame.offset[at].tolist(),
            effects.offset[before][differs].tolist(),
            frame.committed[at].tolist(),
            frame.committed[held].tolist(),
            strict=True,
        )
    ]
    groups = frame.groups.take(pa.array(frame.keys.group[key]))
    found = CommitAnomalies(
        groups, frame.markers.offset[marker], frame.markers.time[marker], frame.offset[at], messages
    )
    return certain_rows(AnomalyKind.OLDER_RULE, found, cluster, partition)


def are_different(frame: Frame, at: Positions, held: Positions) -> Flags:
    """Whether a broker would show a difference between two commits. A commit with a topic id is from 4.1 or later: 3.7
    cannot load it."""
    differs = np.zeros(len(at), np.bool_)
    for column in (frame.committed, frame.leader_epoch, frame.text):
        differs |= column[at] != column[held]
    return np.asarray(differs & (frame.topic_id[at] < 0) & (frame.topic_id[held] < 0), np.bool_)
