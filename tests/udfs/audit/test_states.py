"""What a release before stored of groups, without a format number, is read like what this one stores.

`states_of_format_0.json` has what it stored after the first operations of the logs below.
"""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.builders.groups import target_log as of
from tests.builders.groups import upgrade_log
from tests.builders.groups.classic_audit_rows import TABLE, facts, member, table
from tests.builders.groups.classic_log import tombstone, value
from tests.builders.groups.stored_states import restored, texts_of
from udfs.audit.checks.facts import Facts
from udfs.audit.classic_audit import ClassicAudit
from udfs.audit.modern_audit import ModernAudit
from udfs.audit.states import NewerFormat
from udfs.audit.upgrades import Upgrades
from udfs.topics.partition_codes import TopicCodes

FORMER = Path(__file__).with_name("states_of_format_0.json")
Tables = dict[str, pa.Table]


def classic_log() -> tuple[Tables, Tables, Facts]:
    """Groups with rebalances, one without members, and a deleted one."""
    first = [
        value(1, 1, 3, [member("c1", "a0 a1", topics="a"), member("s1", "a2 b0", topics="ab", instance="i", rack="r")]),
        value(2, 2, 1, group="empty"), value(3, 3, 1, [member("x", "a0", topics="a")], group="gone"),
        value(4, 4, 7, [member("k", "")], protocol="house-rules", group="other"),
        tombstone(5, 5, group="gone"),
    ]  # fmt: skip
    second = [
        value(6, 6, 4, [member("c1", "a0 a1", topics="a"), member("s2", "a2 b0", topics="ab", instance="i")]),
        value(7, 7, 2, [member("y", "a0 a1 a2", topics="a")], group="empty"),
    ]
    return {TABLE: table(first)}, {TABLE: table(second)}, facts({"a": 3, "b": 1})


def modern_log(group_type: str) -> tuple[Tables, Tables, Facts]:
    """With a of.pattern, inputs of two epochs without a of.target, and a static member whose partitions are pending."""
    log = of.TargetLog(group_type=group_type)
    log.write(0, of.about("a", of.ORDERS), of.epoch(1, of.SIX), of.target("a", orders=range(6)), of.completed(1))
    log.write(1, of.about("s", of.ORDERS, group_instance_id="i", rack_id="r"), of.listed(orders=6), of.epoch(2, of.SIX))
    log.write(2, of.owns("a", 1, {"orders": [4, 5]}, "UNREVOKED_PARTITIONS", orders=[0, 1, 2, 3]))
    if group_type == "consumer":
        log.write(3, of.about("p", subscribed_topic_regex="o.*"), of.pattern("o.*", of.ORDERS), of.epoch(3, of.SIX))
    else:
        log.write(3, of.about("p", of.ORDERS), of.epoch(3, of.SIX))
    cut = log.offset
    log.write(4, of.about("q", of.ORDERS), of.epoch(4, of.SIX))
    log.write(
        5, of.target("a", orders=[0, 1]), of.target("s", orders=[2, 3]), of.target("p", orders=[4, 5]), of.completed(3)
    )
    return log.until(cut), log.until(log.offset, cut), of.known(orders=6)


def migration_log() -> tuple[Tables, Tables, Facts]:
    members = [upgrade_log.member("a", "t0"), upgrade_log.member("b", "t1")]
    log = upgrade_log.Log()
    log.write(0, upgrade_log.value(5, members))
    log.write(1, upgrade_log.value(6, members, protocol="cooperative-sticky"))
    log.write(2, upgrade_log.gone(), upgrade_log.classic("a"), upgrade_log.classic("b"), upgrade_log.epoch(7))
    log.write(3, upgrade_log.native("a"), upgrade_log.epoch(8))
    log.write(4, upgrade_log.native("b"), upgrade_log.epoch(9))
    return upgrade_log.window(log.operations[:3]), upgrade_log.window(log.operations[3:]), Facts()


LOGS = {
    "classic": classic_log(),
    **{f"modern {each}": modern_log(each) for each in ("consumer", "share")},
    "upgrades": migration_log(),
}
FOLDS: dict[str, Any] = {
    "classic": lambda facts, states, codes: ClassicAudit(facts, states),
    "modern": ModernAudit,
    "upgrades": lambda facts, states, codes: Upgrades(facts, states),
}


@pytest.mark.parametrize("log", LOGS)
def test_a_state_of_the_format_before_goes_on_like_one_of_today(log: str) -> None:
    first, second, facts = LOGS[log]
    part, codes = log.split(maxsplit=1)[0], TopicCodes(facts.names)
    fold = FOLDS[part](facts, {}, codes)
    fold.take(first)
    results = []
    for texts in (texts_of(part, fold.states(), codes), json.loads(FORMER.read_text())[log]):
        again = TopicCodes(facts.names)
        resumed = FOLDS[part](facts, restored(part, texts, again), again)
        rows = resumed.take(second) or resumed.rows()
        latest = resumed.latest() if part != "upgrades" else None
        stored = {each: json.loads(text) for each, text in texts_of(part, resumed.states(), again).items()}
        results.append((texts.keys(), rows, latest, stored))
    assert results[0] == results[1]
    assert results[0][1]


def test_a_newer_format_is_not_guessed_at() -> None:
    states = restored("classic", {"billing": '{"format":7,"classic":[]}'})
    with pytest.raises(NewerFormat, match="group billing: a newer release stored its state, in format 7"):
        states.get("billing")


def test_a_state_with_fields_of_a_later_release_is_read_and_a_damaged_one_is_not_taken_for_none() -> None:
    first, _, known = LOGS["upgrades"]
    fold = Upgrades(known, {})
    fold.take(first)
    ((group_id, text),) = texts_of("upgrades", fold.states()).items()
    parts = json.loads(text)
    parts["upgrades"]["later"] = 1
    assert restored("upgrades", {group_id: json.dumps(parts)}).get(group_id) is not None
    # Of the format before, without what it always had.
    with pytest.raises(KeyError):
        restored("upgrades", {group_id: '{"upgrades":{}}'}).get(group_id)
    assert restored("upgrades", {}).get(group_id) is None
