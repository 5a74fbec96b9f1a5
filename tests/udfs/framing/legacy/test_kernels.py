"""Loops over messages of magic 0 and 1: what they are run with."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tests.builders.logs.batches import message, random_bytes
from udfs.framing.legacy.kernels import NUM_COLUMNS, NUM_OF_FAULT


def drawn(rng: np.random.Generator, magic: int, count: int) -> bytes:
    times = rng.integers(0, 2**41, count).tolist()
    return b"".join(message(magic, at, random_bytes(rng), random_bytes(rng), times[at]) for at in range(count))


def some_sizes(rng: np.random.Generator, raw: bytes) -> list[int]:
    """All below 200, and 50 others: a message may have 20,000 bytes."""
    return [*range(min(len(raw), 200)), *(rng.integers(200, len(raw), 50).tolist() if len(raw) > 200 else ())]


def damaged(rng: np.random.Generator, raw: bytes) -> bytes:
    changed = bytearray(raw)
    changed[int(rng.integers(0, len(raw)))] ^= 1 << int(rng.integers(0, 8))
    return bytes(changed)


def inside(raw: bytes, magic: int, room: int = 8) -> tuple[Any, ...]:
    """Of `read_inner_messages`."""
    empty = np.zeros((NUM_COLUMNS, room), np.int64), np.zeros((1, NUM_OF_FAULT), np.int64)
    return (np.frombuffer(raw, np.uint8), 0, len(raw), magic, *empty)


def outside(raw: bytes) -> tuple[Any, ...]:
    """Of `read_messages`, for one message."""
    empty = np.zeros((NUM_COLUMNS, 1), np.int64), np.zeros((1, NUM_OF_FAULT), np.int64)
    return (np.frombuffer(raw, np.uint8), np.array([0]), np.array([len(raw)]), *empty)


def inputs(rng: np.random.Generator) -> Mapping[str, Iterable[tuple[Any, ...]]]:
    wholes = [(drawn(rng, magic, count), magic) for magic in (0, 1) for count in (1, 2, 5, 9)]
    cut = [(raw[:size], magic) for raw, magic in wholes[:6] for size in some_sizes(rng, raw)]
    changed = [(damaged(rng, raw), magic) for raw, magic in wholes for _ in range(50)]
    # Lengths of keys and values that say too much or too little: these have no checksum of their own here.
    single = [drawn(rng, magic, 1) for magic in (0, 1) for _ in range(20)]
    lengths = [
        raw[:at] + rng.choice([b"\xff", b"\0", b"\x7f", b"\x01"]) + raw[at + 1 :]
        for raw in single
        for at in (*range(18, 22), *range(26, min(30, len(raw))))
    ]
    return {
        "read_inner_messages": [inside(raw, magic) for raw, magic in (*wholes, *cut, *changed)]
        + [inside(raw, 1 - magic) for raw, magic in wholes],
        "read_messages": [outside(raw) for raw in (*single, *lengths)],
    }
