"""What librdkafka's leaders assigned on a real broker comes out the same, list by list, and altered records do not."""

from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest

from schemas.words.assignments import Verdict
from tests.kafka.audits.recomputed import Tables, partitions_of
from tests.kafka.rdkafka.capture import Capture, capture_of
from tests.kafka.rdkafka.lives import COOPERATIVE, TOPICS
from tests.kafka.releases import COMMON
from udfs.assignors.questions.specs import Topic
from udfs.audit.checks.audit_results import AuditRow
from udfs.audit.checks.facts import Facts, KnownTopic
from udfs.audit.classic_audit import TABLE, ClassicAudit

pytestmark = pytest.mark.broker

BEGIN, END = -(2**62), 2**62
FACTS: Final = Facts(
    topics={
        name: [KnownTopic(Topic(name, count, None, ((COMMON["broker.rack"],),) * count), BEGIN, END)]
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
