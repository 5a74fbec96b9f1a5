"""Leaders with old metadata, by Kafka's own client classes. What they left out or assigned beyond is told by snapshots
of one topic before and after; without those, nobody is accused and nobody acquitted."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tests.builders.groups.classic_audit_rows import TABLE, audited, failed, table
from tests.builders.groups.classic_lives import records
from tests.builders.groups.stale_leaders import assigned_of, life
from tests.builders.groups.stored_states import again
from udfs.assignors.questions import LEADERS, Topic
from udfs.audit.checks.facts import Facts, KnownTopic
from udfs.audit.checks.results import AuditRow
from udfs.audit.classic_audit import ClassicAudit

pytestmark = pytest.mark.broker

BOTH: Mapping[str, int] = {"lead": 6, "side": 2}
# Records are of the seconds 0, 1, …
BEFORE, AFTER = -1, 10**12


def snapshots(topics: Mapping[str, int], topic_id: str | None = "x", **times: int) -> dict[str, list[KnownTopic]]:
    first, last = times.get("first", BEFORE), times.get("last", AFTER)
    return {name: [KnownTopic(Topic(name, count, topic_id), first, last)] for name, count in topics.items()}


def facts(topics: Mapping[str, int]) -> Facts:
    return Facts(snapshots(topics), whole_times=(BEFORE, AFTER))


def rows_of(assignor: str, known: Sequence[Mapping[str, int]], topics: Sequence[str], facts_: Facts) -> list[AuditRow]:
    of = life(assignor, known, topics)
    return audited(records([of], [assigned_of(of)]), facts_)


@pytest.mark.parametrize("assignor", LEADERS)
def test_a_topic_that_the_leader_does_not_know_is_left_out(assignor: str) -> None:
    """Also where its members claim the topic's partitions, as those of cooperative groups do."""
    first, second, third = rows_of(assignor, [BOTH, {"side": 2}, {"side": 2}], ["lead", "side"], facts(BOTH))
    assert (first.verdict, first.reason, first.stale_topics) == ("same", None, None)
    for row in (second, third):
        assert row.verdict == "stale_input"
        assert row.reason == "the leader assigned nothing of lead, which has 6 partitions"
        assert (row.num_partitions, row.num_unowned, row.num_nonexistent) == (8, 6, 0)
        assert (row.stale_topics, row.confidence) == (("lead",), "certain")
        assert failed(row)["complete"] == "no member has lead-0, lead-1, lead-2 and 3 more"
        # What the leader should have given.
        assert row.num_different and row.num_different >= 6
        assert {"lead"} <= {each.topic for each in row.differences or ()}


@pytest.mark.parametrize("assignor", LEADERS)
def test_a_topic_that_was_never_assigned_is_left_out_too(assignor: str) -> None:
    (row,) = rows_of(assignor, [{}], ["lead"], facts({"lead": 6}))
    assert (row.verdict, row.num_unowned, row.num_idle_members, row.stale_topics) == ("stale_input", 6, 2, ("lead",))


@pytest.mark.parametrize("assignor", LEADERS)
def test_partitions_that_do_not_exist_are_named_with_the_members_that_have_them(assignor: str) -> None:
    (row,) = rows_of(assignor, [{"k": 3}], ["k"], facts({"k": 2}))
    assert (row.verdict, row.num_partitions, row.num_unowned, row.num_nonexistent) == ("stale_input", 2, 0, 1)
    assert failed(row)["valid"] == "does not exist: k-2"
    who = {"range": "m-2", "roundrobin": "m-1"}.get(assignor, "m-1")
    assert row.reason == f"the leader assigned k-2, but k has 2 partitions: {who} gets exceptions"


def test_the_leader_that_knows_better_again_is_right() -> None:
    """And what it assigned beyond before counts for nothing."""
    wrong, right = rows_of("range", [{"k": 3}, {"k": 2}], ["k"], facts({"k": 2}))
    assert (wrong.verdict, right.verdict, right.num_nonexistent) == ("stale_input", "same", 0)
    states: Mapping[str, Any] = {}
    of = life("range", [{"k": 3}, {"k": 2}], ["k"])
    rows = records([of], [assigned_of(of)])
    for row in rows:
        audit = ClassicAudit(facts({"k": 2}), states)
        (result,) = audit.take({TABLE: table([row])})
        states = again("classic", audit.states())
    assert result.verdict == "same"


@pytest.mark.parametrize(
    ("known", "verdict"),
    [
        pytest.param(Facts(), "same_unconfirmed", id="no snapshot"),
        pytest.param(Facts(snapshots({"side": 2})), "same_unconfirmed", id="no list of all topics"),
        pytest.param(Facts(snapshots({"side": 2}), whole_times=(BEFORE, AFTER)), "same", id="the topic is gone"),
        pytest.param(
            Facts({**snapshots({"side": 2}), **snapshots({"lead": 6}, first=5_000_000)}, whole_times=(-1, 5_000_000)),
            "same_unconfirmed", id="created after the generation",
        ),
        pytest.param(
            Facts({**snapshots({"side": 2}), **snapshots({"lead": 6}, last=BEFORE)}, whole_times=(BEFORE,)),
            "same_unconfirmed", id="known before it only",
        ),
        pytest.param(
            Facts({**snapshots({"side": 2}), "lead": [*snapshots({"lead": 6}, "x", last=BEFORE)["lead"],
                                                   *snapshots({"lead": 6}, "y", first=5_000_000)["lead"]]}),
            "same_unconfirmed", id="deleted and made anew around it",
        ),
        pytest.param(
            Facts({**snapshots({"side": 2}), "lead": [*snapshots({"lead": 4}, last=BEFORE)["lead"],
                                                   *snapshots({"lead": 6}, first=5_000_000)["lead"]]}),
            "same_unconfirmed", id="in the middle of an expansion",
        ),
    ],
)  # fmt: skip
def test_what_no_snapshots_prove_is_no_accusation(known: Facts, verdict: str) -> None:
    (row,) = rows_of("range", [{"side": 2}], ["lead", "side"], known)
    assert (row.verdict, row.stale_topics, row.num_nonexistent) == (verdict, None, 0)
    assert row.num_unowned == (0 if verdict == "same" else None)
    assert failed(row) == ({} if verdict == "same" else {"complete": "partition counts of topics are unknown"})


def test_a_topic_that_nobody_subscribes_to_any_more_is_rightly_left_out() -> None:
    first = records([of := life("range", [BOTH], ["lead", "side"])], [assigned_of(of)])
    second = records([of := life("range", [BOTH], ["side"])], [assigned_of(of)])
    second[0] |= {"record_offset": 1, "record_time": 1_000_000, "generation": 2, "batch_first_offset": 1}
    assert [row.verdict for row in audited([*first, *second], facts(BOTH))] == ["same", "same"]
