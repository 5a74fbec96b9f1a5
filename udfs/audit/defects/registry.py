"""All known defects by Kafka's issue, with the function that sees the defect in a recorded assignment. Each function is
named by what went wrong.

Defects that single records of members show are in `member_records.record_defects`. Defects without a trace in records
of type 2 are nowhere: KAFKA-8767, 9752, 12890, 13406 (rebalances that were never written), 10284 (the record is
missing), 13419, 14009, 14024, 13636 (they need other records, or outside knowledge).
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from udfs.audit.defects.classic_defects import (
    copartitioning_broken_by_racks,
    leader_missed_new_partitions,
    library_left_a_member_out,
    ordered_by_member_id,
    rebalanced_twice_for_racks,
    static_id_was_unknown,
)
from udfs.audit.defects.evidence import Evidence
from udfs.audit.defects.modern_defects import TargetFacts, needless_moves, sticky_range, uneven_load
from udfs.audit.defects.sticky_defects import (
    balance_was_too_strict,
    equal_subscriptions_took_long,
    gave_back_what_is_not_subscribed,
    gave_what_another_owned,
    generations_were_reset,
    kept_what_does_not_exist,
    moved_more_than_needed,
    older_claim_won,
    owned_lists_are_unsorted,
    stale_claim_without_generation,
    topics_are_uneven,
    trusted_the_leaders_own_memory,
    two_claims_of_one_generation,
    unequal_subscriptions_took_long,
    unsafe_by_racks,
)

Signature = Callable[[Evidence], bool]
TargetSignature = Callable[[TargetFacts], bool]

# Of generations of classic groups. The most specific first: a generation gets only one.
GENERATION_DEFECTS: Final[Mapping[str, Signature]] = MappingProxyType(
    {
        "KAFKA-9801": static_id_was_unknown,
        "KAFKA-7026": stale_claim_without_generation,
        "KAFKA-5277": trusted_the_leaders_own_memory,
        "KAFKA-15170": unsafe_by_racks,
        "KAFKA-13715": older_claim_won,
        "KAFKA-14639": gave_what_another_owned,
        "KAFKA-12984": two_claims_of_one_generation,
        "KAFKA-13891": generations_were_reset,
        "KAFKA-8355": lambda evidence: evidence.assignor == "range" and ordered_by_member_id(evidence),
        "KAFKA-8356": lambda evidence: evidence.assignor == "roundrobin" and ordered_by_member_id(evidence),
        "KAFKA-13435": leader_missed_new_partitions,
        "KAFKA-14891": copartitioning_broken_by_racks,
        "KAFKA-16277": topics_are_uneven,
        "KAFKA-12464": moved_more_than_needed,
        "KAFKA-9987": equal_subscriptions_took_long,
        "KAFKA-12675": unequal_subscriptions_took_long,
        "KAFKA-15106": balance_was_too_strict,
        "KAFKA-20778": rebalanced_twice_for_racks,
        "KAFKA-12898": owned_lists_are_unsorted,
        # These have no issue in Kafka's JIRA.
        "sticky: given back to a member that no longer subscribes": gave_back_what_is_not_subscribed,
        "sticky: claims beyond the topic's partitions": kept_what_does_not_exist,
        "kafka-python: range leaves members out": library_left_a_member_out,
    }
)
# Those of them that other libraries than Kafka's can have too: what members claim and get follows other rules there.
OF_OTHER_LIBRARIES: Final = frozenset({"KAFKA-9801", "KAFKA-20778", "kafka-python: range leaves members out"})
# Those of them that need only what the records say, not the numbers of partitions.
NEED_NO_COUNTS: Final = frozenset(
    {
        "KAFKA-9801",
        "KAFKA-7026",
        "KAFKA-15170",
        "KAFKA-13715",
        "KAFKA-14639",
        "KAFKA-13891",
        "KAFKA-20778",
        "sticky: given back to a member that no longer subscribes",
    }
)

# Of targets of consumer and share groups, the first that fits too.
TARGET_DEFECTS: Final[Mapping[str, TargetSignature]] = MappingProxyType(
    {
        "KAFKA-18688": needless_moves,
        "KAFKA-16944": sticky_range,
        "KAFKA-17710": uneven_load,
    }
)
