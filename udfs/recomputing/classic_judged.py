"""What was found of one generation of a classic group."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from schemas.assignment_words import Verdict
from schemas.payloads import CONSUMER
from udfs.assignors.problems import Numbers
from udfs.recomputing.assignments import UNKNOWN
from udfs.recomputing.classic_counts import Counts
from udfs.recomputing.classic_generations import Generation
from udfs.recomputing.classic_state import Before
from udfs.recomputing.classic_variants import Tried


@dataclass(frozen=True)
class Judged:
    """A generation with what was found of it. `found` is the closest answer; None: nothing was recomputed."""

    generation: Generation
    before: Before | None
    verdict: Verdict
    reason: str | None
    counts: Counts | None
    found: Tried | None
    # The record fits a leader that knew fewer partitions than there were.
    is_old_view: bool = False

    @cached_property
    def is_told(self) -> bool:
        """Whether the record tells who has which partitions."""
        of = self.generation
        return of.protocol_type == CONSUMER and of.unread is None and of.repeated is None

    @cached_property
    def numbers(self) -> Numbers:
        if self.counts is None or not self.is_told:
            return np.full(len(self.generation.topics), UNKNOWN, np.int64)
        return self.counts.numbers
