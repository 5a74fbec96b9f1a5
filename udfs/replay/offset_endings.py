"""Why a committed offset went: tombstones all look alike, so what else is known at their time has to tell."""

from dataclasses import dataclass, field

import pyarrow as pa

from udfs.replay.gaps import Gaps


@dataclass(frozen=True)
class OffsetFacts:
    """What is known beside the commits. Tables may hold more columns, and more groups than are replayed."""

    gaps: Gaps = field(default_factory=Gaps)
    # Setting offsets.retention.minutes; None: not known, then nothing counts as expired for its age.
    retention_ms: int | None = None
    # Deletions of groups: group_id, record_time (types 2, 3, 11, 17).
    group_tombstones: pa.Table | None = None
    # Stretches in which a classic group with a protocol type was Empty: group_id, from_offset, to_offset (NULL: still
    # so), since_time (its current_state_time, NULL: unknown).
    empty_groups: pa.Table | None = None
    # When topics were deleted: topic, from_time, to_time (both included). Of snapshots, and `topic_deletions` below.
    topic_deletions: pa.Table | None = None
