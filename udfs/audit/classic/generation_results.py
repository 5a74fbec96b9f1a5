"""The result for one generation of a classic group."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from schemas.records.payloads import CONSUMER
from schemas.words.assignments import Verdict
from udfs.assignors.questions.problems import Numbers
from udfs.audit.checks.confirm_inputs import are_whole
from udfs.audit.checks.recorded_assignments import UNKNOWN, Flags
from udfs.audit.classic.generations import Generation
from udfs.audit.classic.partition_counts import Counts
from udfs.audit.classic.state import Before
from udfs.audit.classic.variants import REPRODUCED, TriedVariant


def nothing_unconfirmed() -> None:
    return None


@dataclass(frozen=True)
class GenerationResult:
    """A generation with its result. `closest`: the closest answer; None: nothing was recomputed."""

    generation: Generation
    before: Before | None
    verdict: Verdict
    reason: str | None
    counts: Counts | None
    closest: TriedVariant | None
    # The record matches if the leader knew fewer partitions than there were.
    is_old_view: bool = False
    # Returns why the numbers of partitions are not confirmed. It is not called for most generations.
    confirm: Callable[[], str | None] = nothing_unconfirmed

    @cached_property
    def why_unconfirmed(self) -> str | None:
        """None: they are confirmed."""
        return self.confirm()

    @cached_property
    def is_readable(self) -> bool:
        """Whether the record shows who has which partitions."""
        of = self.generation
        return of.protocol_type == CONSUMER and of.unread is None and of.repeated_member is None

    @cached_property
    def numbers(self) -> Numbers:
        if self.counts is None or not self.is_readable:
            return np.full(len(self.generation.topics), UNKNOWN, np.int64)
        if self.verdict in REPRODUCED or self.is_whole.all() or self.why_unconfirmed is None:
            return self.counts.numbers
        # A topic that is not completely assigned could make somebody look wrong, so its number counts as unknown.
        return np.where(self.is_whole, self.counts.numbers, UNKNOWN)

    @cached_property
    def is_whole(self) -> Flags:
        """By topic, whether each partition has an owner and no other partition has one. For a topic without
        subscribers, only the latter."""
        assert self.counts is not None
        of = self.generation
        return are_whole(of.assigned, self.counts.numbers, of.is_subscribed)
