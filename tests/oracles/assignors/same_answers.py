"""Our answers beside Kafka's."""

import json
from collections.abc import Sequence
from typing import Any

from udfs.assignors.answers import assigned_lists
from udfs.assignors.groups import AssignorFailed
from udfs.assignors.questions import read_spec

FAILED = "fails"


def our_lists(spec: dict[str, Any]) -> list[Any] | str:
    """Each member's list; FAILED where Kafka's assignor is said to fail."""
    read = read_spec(spec)
    try:
        return [[list(pair) for pair in pairs] for _, pairs in assigned_lists(read)]
    except AssignorFailed:
        return FAILED


def kafka_lists(answer: dict[str, Any]) -> list[Any] | str:
    return FAILED if "error" in answer else [member["partitions"] for member in answer["assignment"]]


def assert_same(specs: Sequence[dict[str, Any]], answers: Sequence[dict[str, Any]]) -> None:
    """Lists and their order; the smallest spec for which they differ is shown."""
    different = [
        (spec, kafka, ours)
        for spec, answer in zip(specs, answers, strict=True)
        if (kafka := kafka_lists(answer)) != (ours := our_lists(spec))
    ]
    if different:
        spec, kafka, ours = min(different, key=lambda each: len(json.dumps(each[0])))
        raise AssertionError(f"{len(different)} of {len(specs)} differ:\n{json.dumps(spec)}\n{kafka}\n{ours}")
