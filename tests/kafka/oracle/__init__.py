"""Random records and payloads, written by Kafka's own classes, each with what Kafka says that it wrote."""

from tests.kafka.oracle.cases import (
    PayloadCase,
    RecordCase,
    chosen_seed,
    expected_payloads,
    expected_values,
    payload_cases,
    record_cases,
)

__all__ = [
    "PayloadCase",
    "RecordCase",
    "chosen_seed",
    "expected_payloads",
    "expected_values",
    "payload_cases",
    "record_cases",
]
