"""Changes of a JSON text: mostly of its values, sometimes of its characters."""

import json
from collections.abc import Sequence
from random import Random
from typing import Any

from tests.fuzz.mutations import mutate_bytes

ODD: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, -2, 2**31 - 1, 2**31, 2**63 - 1, 2**63, -(2**63), 10**30, 0.5, 1e308, -0.0),
    *("", " ", "a", "-1", "1", "\ud800", "\x00", "é", "a" * 300, "__consumer_offsets", "2026-02-30", "1e5"),
    *([], [[]], [None], {}, {"": None}, [1, 1], "9" * 5000),
)
# Each is JSON for some readers, and an error or a surprise for others.
ODD_TEXTS = ("NaN", "Infinity", "1e999", "9" * 5000, "[" * 3000, '{"a":' * 2000, '"\\ud800"', "\ufeff", "\\u0000", "01")


def mutate_json(raw: bytes, others: Sequence[bytes], chance: Random) -> bytes:
    if chance.random() < 0.2:
        return mutate_bytes(raw, others, chance)
    if chance.random() < 0.05:
        at = chance.randrange(len(raw) + 1)
        return raw[:at] + chance.choice(ODD_TEXTS).encode() + raw[at + 1 :]
    try:
        value = json.loads(raw)
        return json.dumps(changed(value, others, chance), ensure_ascii=chance.random() < 0.9).encode(
            errors="surrogatepass"
        )
    except (ValueError, RecursionError):
        return mutate_bytes(raw, others, chance)


def changed(value: Any, others: Sequence[bytes], chance: Random) -> Any:
    """With one value in it replaced, removed, doubled or moved."""
    if not isinstance(value, (dict, list)) or not value or chance.random() < 0.1:
        return odd(value, chance)
    if isinstance(value, list):
        return changed_list(value, others, chance)
    name = chance.choice(list(value))
    match chance.randrange(12):
        case 0:
            return {each: inner for each, inner in value.items() if each != name}
        case 1:
            return {**value, chance.choice(("", name + "x", name.upper(), "id")): value[name]}
        case 2:
            return {**value, name: value[chance.choice(list(value))]}
    return {**value, name: changed(value[name], others, chance)}


def changed_list(value: list[Any], others: Sequence[bytes], chance: Random) -> list[Any]:
    at = chance.randrange(len(value))
    match chance.randrange(8):
        case 0:
            return value[:at] + value[at + 1 :]
        case 1:
            return [*value, value[at]]
        case 2:
            return [*value[at:], *value[:at]]
    return [*value[:at], changed(value[at], others, chance), *value[at + 1 :]]


def odd(value: Any, chance: Random) -> Any:
    if isinstance(value, bool) or value is None or chance.random() < 0.5:
        return chance.choice(ODD)
    if isinstance(value, int):
        return value + chance.choice((-1, 1, 2, 1000))
    if isinstance(value, str):
        at = chance.randrange(len(value) + 1)
        return chance.choice((value[:at], value[at:], value + value[:at], value[:at] + "\u2028" + value[at:]))
    return chance.choice(([value], {"a": value}, str(value)[:50]))
