"""What `why` says of rebalances whose leader had old metadata, by rows of assignment_audit."""

from typing import Any

import pytest

from jobs.answers.events.stale_leaders import StaleLeaders

Row = dict[str, Any]
REASON = "the leader assigned nothing of t, which has 6 partitions"


def audit(offset: int, verdict: str, *topics: str) -> Row:
    reason = REASON if topics else None
    return {"assignment_offset": offset, "verdict": verdict, "reason": reason, "stale_topics": list(topics) or None}


# In generation 20 the leader forgets the topic, a static member comes back, and in 40 the leader knows it again.
AUDITS = [
    audit(40, "same"), audit(20, "stale_input", "t"), audit(30, "carried_over"), audit(10, "same"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("offset", "detail", "expected"),
    [
        (10, "members a, b joined", "members a, b joined"),
        (20, "topic t deleted, or not known to the leader", REASON),
        (20, "topic t deleted", REASON),
        (20, "member c joined", f"member c joined; {REASON}"),
        (20, "topic u deleted, or not known to the leader", f"topic u deleted, or not known to the leader; {REASON}"),
        (20, None, REASON),
        (40, "topic t created, 6 partitions assigned", "the leader knows t now, 6 partitions assigned"),
        (40, "topic u created, 6 partitions assigned", "topic u created, 6 partitions assigned"),
        (50, None, None),
    ],
)
def test_the_detail_says_what_the_leader_did(offset: int, detail: str | None, expected: str | None) -> None:
    row = {"assignment_offset": offset, "trigger_detail": detail}
    assert StaleLeaders.of(AUDITS).told(row)["trigger_detail"] == expected


@pytest.mark.parametrize(("until", "topics"), [(10, set()), (20, {"t"}), (30, {"t"}), (40, set())])
def test_the_newest_result_says_what_is_left_out_now(until: int, topics: set[str]) -> None:
    some = [row for row in AUDITS if row["assignment_offset"] <= until]
    assert StaleLeaders.of(some).topics_now == topics


def test_nothing_is_known_of_a_group_without_an_audit() -> None:
    assert StaleLeaders.of([]).topics_now == frozenset()
