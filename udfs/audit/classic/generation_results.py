"""The result for one generation of a classic group."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from schemas.records.payloads import CONSUMER
from schemas.words.assignments import Verdict
from udfs.assignors.groups import Numbers
from udfs.audit.checks.confirm_inputs import ALL_CONFIRMED, REPRODUCED, Confirmation, are_whole, proved_numbers
from udfs.audit.checks.recorded_assignments import UNKNOWN, Flags
from udfs.audit.classic.generations import Generation
from udfs.audit.classic.partition_counts import Counts
from udfs.audit.classic.state import Before
from udfs.audit.classic.variants import TriedVariant


def all_confirmed() -> Confirmation:
    return ALL_CONFIRMED


@dataclass(frozen=True)
class GenerationResult:
    """A generation with its result. `closest`: the closest answer; None: nothing was recomputed."""

    generation: Generation
    before: Before | None
    verdict: Verdict
    reason: str | None
    counts: Counts | None
    closest: TriedVariant | None
    # Where the leader's input was stale: what the same rules give for the confirmed one, if that can be told.
    expected: TriedVariant | None = None
    # The record matches if the leader knew fewer partitions than there were.
    is_old_view: bool = False
    # What confirms the numbers of partitions.
    confirm: Callable[[], Confirmation] = all_confirmed

    @cached_property
    def confirmation(self) -> Confirmation:
        return self.confirm()

    @property
    def why_unconfirmed(self) -> str | None:
        """None: they are confirmed."""
        return self.confirmation.why

    @property
    def is_reproduced(self) -> bool:
        """Whether the record equals the answer, for whatever input."""
        return self.closest is not None and self.closest.is_reproduced

    @property
    def is_same(self) -> bool:
        """Whether it does so list by list."""
        return self.closest is not None and self.closest.is_same

    @cached_property
    def is_readable(self) -> bool:
        """Whether the record shows who has which partitions."""
        of = self.generation
        return of.protocol_type == CONSUMER and of.unread is None and of.repeated_member is None

    @cached_property
    def numbers(self) -> Numbers:
        if self.counts is None or not self.is_readable:
            return np.full(len(self.generation.topics), UNKNOWN, np.int64)
        if self.verdict in REPRODUCED:
            return self.counts.numbers
        of = self.generation
        if self.is_reproduced:
            return proved_numbers(of.topics, self.counts.numbers, of.is_subscribed, self.confirmation)
        if self.is_whole.all() or self.why_unconfirmed is None:
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
