"""What group members write, by Kafka's own clients with random values: we read what those clients say."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.kafka.oracle import PayloadCase, chosen_seed, expected_payloads, payload_cases
from tests.oracles.decoding.decoder_answers import PAYLOAD_DECODERS, Payload

pytestmark = pytest.mark.broker

PAYLOADS_OF_EACH_SORT = 100
SOAK_PAYLOADS = 1000
EXAMPLES = 3
SETS = ("standby_tasks", "partitions_by_host", "standby_partitions_by_host")


@dataclass(frozen=True)
class Drawn:
    seed: int
    payloads: int
    cases: list[PayloadCase] = field(repr=False)  # a failure would print them all


@pytest.fixture(scope="module", params=[PAYLOADS_OF_EACH_SORT, pytest.param(SOAK_PAYLOADS, marks=pytest.mark.soak)])
def drawn(request: pytest.FixtureRequest) -> Drawn:
    seed = chosen_seed()
    return Drawn(seed, request.param, list(payload_cases(request.param, seed)))


def test_as_many_payloads_of_every_sort_are_drawn(drawn: Drawn) -> None:
    assert Counter(case.sort for case in drawn.cases) == dict.fromkeys(expected_payloads(), drawn.payloads)


@pytest.mark.parametrize("decoder", PAYLOAD_DECODERS)
def test_payloads_read_as_kafkas_clients_say(drawn: Drawn, decoder: str) -> None:
    answers = PAYLOAD_DECODERS[decoder](
        [Payload(case.protocol_type, case.protocol, case.part, case.data) for case in drawn.cases]
    )
    wrong: Counter[tuple[str, str, str, str]] = Counter()
    examples: list[str] = []
    for case, answer in zip(drawn.cases, answers, strict=True):
        if in_order(answer) != in_order(case.value):
            wrong[case.sort] += 1
            if wrong.total() <= EXAMPLES:
                examples.append(f"Kafka: {in_order(case.value)!r:.2000}\n{decoder}: {in_order(answer)!r:.2000}")
    reported = "\n".join(examples)
    assert not wrong, f"GROUPSCOPE_SEED={drawn.seed}: {dict(wrong)}\n{reported}"


def in_order(expected: dict[str, Any] | None) -> dict[str, Any] | None:
    """What Kafka Streams keeps as sets comes in the order of a hash table: sorted, so that it can be compared."""
    if expected is None or "active_tasks" not in expected:
        return expected
    return expected | {
        name: sorted((sorted_partitions(entry) for entry in expected[name]), key=repr)
        for name in SETS
        if name in expected
    }


def sorted_partitions(entry: dict[str, Any]) -> dict[str, Any]:
    return entry | {"topic_partitions": sorted(entry["topic_partitions"], key=repr)}
