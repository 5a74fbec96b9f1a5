"""What librdkafka's leaders assigned on a real broker comes out the same, list by list, and altered records do not."""

from collections import Counter
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any, Final

import pyarrow as pa
import pytest

from schemas.words.assignments import CheckName, Verdict
from tests.builders.groups.altered_generations import ALTERATIONS
from tests.builders.groups.classic_log import SCHEMA
from tests.kafka.audits.recomputed import Tables, partitions_of
from tests.kafka.rdkafka.capture import LONG, Capture, capture_of, usual_capture
from tests.kafka.rdkafka.lives import COOPERATIVE, TOPICS
from tests.kafka.releases import COMMON
from udfs.assignors.questions import Topic
from udfs.audit.checks.facts import Facts, KnownTopic
from udfs.audit.checks.results import AuditRow
from udfs.audit.classic_audit import TABLE, ClassicAudit

pytestmark = pytest.mark.broker

BEGIN, END = -(2**62), 2**62
FACTS: Final = Facts(
    topics={
        name: [KnownTopic(Topic(name, count, name, ((COMMON["broker.rack"],),) * count), BEGIN, END)]
        for name, count in TOPICS.items()
    },
    whole_times=(BEGIN, END),
)
Audited = list[tuple[AuditRow, dict[str, Any]]]


def audited(capture: Capture, warehouse: Path) -> Audited:
    """Each row with its record."""
    return [pair for tables in partitions_of(capture.log_dir, warehouse) for pair in audited_tables(tables)]


def audited_tables(tables: Tables) -> Audited:
    if TABLE not in tables:
        return []
    records = {row["record_offset"]: row for row in tables[TABLE].to_pylist()}
    return [(row, records[row.assignment_offset]) for row in ClassicAudit(FACTS, {}).take(tables)]


def library_of_leader(record: dict[str, Any]) -> str:
    """As the program that played it named its client."""
    client = next(each["client_id"] for each in record["members"] if each["member_id"] == record["leader"])
    return str(client.partition("-")[0])


def has_racks(record: dict[str, Any]) -> bool:
    return any(each["subscription"]["rack_id"] for each in record["members"])


def is_strange(record: dict[str, Any]) -> bool:
    """Some members claim what no library's member would."""
    return any(each["client_id"].startswith("stranger") for each in record["members"])


def topics_of(record: dict[str, Any]) -> set[str]:
    return {listed["topic"] for each in record["members"] for listed in each["assignment"]["partitions"]}


@pytest.fixture(scope="module")
def of_usual(tmp_path_factory: pytest.TempPathFactory) -> Audited:
    return audited(usual_capture(), tmp_path_factory.mktemp("usual") / "w")


@pytest.fixture(scope="module")
def of_many(tmp_path_factory: pytest.TempPathFactory) -> Audited:
    return audited(capture_of(*LONG), tmp_path_factory.mktemp("many") / "w")


def check_all(rows: Audited) -> Counter[tuple[str, str]]:
    """How many each library's leaders assigned under each name, by whose rules they come out."""
    seen: Counter[tuple[str, str]] = Counter()
    for row, record in rows:
        library = library_of_leader(record)
        # librdkafka's range looks at racks, in a way that is not recomputed.
        if library == "stranger" or (library == "rdkafka" and row.assignor == "range" and has_racks(record)):
            continue
        rules = str(row.variant).partition(" ")[0]
        if library == "java":
            assert rules != "librdkafka", row
            seen["java", row.verdict] += 1
            if row.verdict == Verdict.STALE_INPUT:
                check_stale(row, record)
            continue
        assert row.verdict in (Verdict.SAME, Verdict.CARRIED_OVER), row
        if row.verdict == Verdict.CARRIED_OVER:
            continue
        seen[str(row.assignor), rules] += 1
        assert row.num_unowned == 0, row
        if not is_strange(record):
            assert row.known_defect is None, row
            assert not [each for each in row.checks if each.name in SOUND and not each.is_ok], row
    return seen


def check_stale(row: AuditRow, record: dict[str, Any]) -> None:
    """It may not know all topics yet that other members subscribe to. Of these it assigns nothing."""
    unknown = set(row.stale_topics or ())
    own = next(each for each in record["members"] if each["member_id"] == record["leader"])["subscription"]["topics"]
    assert unknown and not unknown & {*own, *topics_of(record)}, row
    assert row.num_unowned == sum(TOPICS[name] for name in unknown), row
    assert not any(each.is_ok for each in row.checks if each.name == CheckName.COMPLETE), row


SOUND: Final = (CheckName.VALID, CheckName.COMPLETE, CheckName.COOPERATIVE_SAFE, CheckName.STATIC_ONCE)


def test_what_librdkafkas_leaders_assigned_is_the_same(of_usual: Audited) -> None:
    seen = check_all(of_usual)
    # How many there are depends on how fast members come.
    assert seen[COOPERATIVE, "librdkafka"] > 2 and seen["range", "librdkafka"] > 2, seen
    assert seen["roundrobin", "clients"] > 0, seen
    assert seen["java", Verdict.DRIFT] == 0, seen


@pytest.mark.soak
def test_what_they_assigned_in_many_groups_is_the_same(of_many: Audited) -> None:
    seen = check_all(of_many)
    assert seen[COOPERATIVE, "librdkafka"] > 100, seen
    assert seen["range", "librdkafka"] > 40, seen
    # Groups with static and other members.
    assert seen["roundrobin", "librdkafka"] > 0, seen
    assert seen["java", Verdict.SAME] > 100 * seen["java", Verdict.DRIFT], seen


@pytest.mark.parametrize("alter", ALTERATIONS)
def test_altered_assignments_of_librdkafka_are_no_longer_the_same(alter: Any, of_usual: Audited, seed: int) -> None:
    random, seen = Random(seed), Counter[str]()
    before: dict[str, dict[str, Any]] = {}
    for row, record in of_usual:
        records = [before[row.group_id]] if row.group_id in before else []
        before[row.group_id] = record
        if row.verdict != Verdict.SAME or library_of_leader(record) != "rdkafka" or has_racks(record):
            continue
        changed = deepcopy(record)
        # Without any partition of a topic, it may be one that the leader did not know.
        if alter(random, changed["members"]) and topics_of(changed) == topics_of(record):
            rows = ClassicAudit(FACTS, {}).take({TABLE: pa.Table.from_pylist([*records, changed], SCHEMA)})
            seen[rows[-1].verdict] += 1
    assert seen[Verdict.DRIFT] > 3, seen
    # By chance it is what another release assigns, or the same in another order of topics.
    assert seen[Verdict.SAME] <= 1, seen
