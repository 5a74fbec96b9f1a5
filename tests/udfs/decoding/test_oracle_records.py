"""Every record type in every version, written with random values by Kafka's own classes: we read what Kafka says."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

import pytest

from tests.kafka.oracle import RecordCase, chosen_seed, expected_values, record_cases
from tests.kafka.oracle.cases import RELEASES, VALUES_PER_TOMBSTONE
from tests.oracles.decoding.decoder_answers import RECORD_DECODERS, Answer

pytestmark = pytest.mark.broker

VALUES_OF_EACH_VERSION = 120
SOAK_VALUES = 2000
# As many records as one call decodes: enough for columns, few enough for memory.
TOGETHER = 5000
EXAMPLES = 3


@dataclass(frozen=True)
class Drawn:
    release: str
    seed: int
    values: int
    cases: list[RecordCase] = field(repr=False)  # a failure would print them all


@pytest.fixture(scope="module", params=[VALUES_OF_EACH_VERSION, pytest.param(SOAK_VALUES, marks=pytest.mark.soak)])
def values(request: pytest.FixtureRequest) -> int:
    result: int = request.param
    return result


@pytest.fixture(scope="module", params=RELEASES)
def drawn(request: pytest.FixtureRequest, values: int) -> Drawn:
    seed = chosen_seed()
    return Drawn(request.param, seed, values, list(record_cases(request.param, values, seed)))


@pytest.mark.drawn(2)
def test_as_many_of_every_type_and_version_are_drawn(drawn: Drawn) -> None:
    counts = Counter((case.record_type, case.value_version) for case in drawn.cases)
    assert counts == {
        (record_type, version): drawn.values // (VALUES_PER_TOMBSTONE if version is None else 1)
        for record_type, version in expected_values(drawn.release)
    }


@pytest.mark.parametrize("name", RECORD_DECODERS)
def test_records_read_as_kafka_says(drawn: Drawn, name: str) -> None:
    decoder = RECORD_DECODERS[name]
    wrong: Counter[tuple[int, int | None]] = Counter()
    examples: list[str] = []
    unknown_tags = 0
    for cases in chunks(drawn.cases, TOGETHER):
        answers = decoder.decode([(case.key_bytes, case.value_bytes) for case in cases])
        for case, answer in zip(cases, answers.records, strict=True):
            kafkas = Answer(case.record_type, case.value_version, case.key, decoder.form(case.value))
            ours = answer._replace(value=decoder.form(answer.value))
            if ours != kafkas:
                wrong[case.record_type, case.value_version] += 1
                if wrong.total() <= EXAMPLES:
                    examples.append(
                        f"Kafka: {kafkas!r:.2000}\n{name}: {ours!r:.2000}\nvalue: {case.value_bytes!r:.2000}"
                    )
        unknown_tags += answers.unknown_tags
    reported = "\n".join(examples)
    assert not wrong, f"GROUPSCOPE_SEED={drawn.seed}: {dict(wrong)} (type, version) of {drawn.release}\n{reported}"
    # Fields of releases to come are skipped, and counted.
    assert unknown_tags == sum(case.unknown_tags for case in drawn.cases), f"GROUPSCOPE_SEED={drawn.seed}"


def chunks(cases: list[RecordCase], size: int) -> Iterator[list[RecordCase]]:
    remaining = iter(cases)
    while chunk := list(islice(remaining, size)):
        yield chunk
