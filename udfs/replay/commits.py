"""Commits of one offsets partition, linked key by key into the offsets that held."""

from dataclasses import dataclass

import pyarrow as pa

from udfs.replay.offset_endings import OffsetFacts
from udfs.replay.questions import Answers, Questions


@dataclass(frozen=True)
class Finished:
    """`closed` are rows of what was held back until it was clear that no more of its write follows."""

    closed: dict[str, pa.Table]
    open: dict[str, pa.Table]
    # Of table replayed_offsets: every key that the state before had or the chunks touched.
    state: pa.Table
    answers: Answers
    # Stretches in which a group has an offset or one pending, those that ended in this replay and open ones:
    # group_id, from_offset, from_time, to_offset, to_time (NULL: still so).
    liveness: pa.Table


class OffsetReplay:
    """Chunks go in by log order; rows of offset_history, transactions and replay_anomalies come out when closed."""

    def __init__(
        self, cluster: str, partition: int, state: pa.Table | None, questions: Questions, facts: OffsetFacts
    ) -> None:
        self.cluster, self.partition, self.questions, self.facts = cluster, partition, questions, facts
