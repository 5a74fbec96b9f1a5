"""How states look, and by which letters causes of rebalances are known."""

from collections.abc import Iterable, Mapping

from jobs.reporting.rows.listings import Row
from schemas.words.history import GroupState, RebalanceTrigger

STATES: Mapping[str, str] = {
    GroupState.STABLE: "stable",
    GroupState.EMPTY: "empty",
    GroupState.PREPARING_REBALANCE: "preparing",
    GroupState.COMPLETING_REBALANCE: "completing",
    GroupState.ASSIGNING: "preparing",
    GroupState.RECONCILING: "completing",
    GroupState.NOT_READY: "not-ready",
}
LETTERS: Mapping[str, str] = {
    RebalanceTrigger.MEMBER_JOINED: "J",
    RebalanceTrigger.MEMBER_LEFT: "L",
    RebalanceTrigger.STATIC_RESTART: "R",
    RebalanceTrigger.SUBSCRIPTION_CHANGED: "S",
    RebalanceTrigger.REGEX_RESOLVED: "X",
    RebalanceTrigger.METADATA_CHANGED: "T",
    RebalanceTrigger.ASSIGNOR_CHANGED: "A",
    RebalanceTrigger.LEADER_REJOINED: "W",
    RebalanceTrigger.PROTOCOL_MIGRATION: "P",
    RebalanceTrigger.COORDINATOR_FAILOVER: "F",
    RebalanceTrigger.GROUP_CREATED: "C",
    RebalanceTrigger.GROUP_EMPTIED: "E",
    RebalanceTrigger.UNKNOWN: "?",
}


def letter(trigger: str) -> str:
    return LETTERS.get(trigger, "?")


def letters_used(rebalances: Iterable[Row]) -> list[tuple[str, str]]:
    """Letters and what they mean, in the order of the words' list."""
    used = {row["trigger"] for row in rebalances}
    return [(LETTERS[each], each.meaning) for each in RebalanceTrigger if each.value in used]
