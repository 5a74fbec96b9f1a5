"""Changes of bytes that know nothing of their meaning but how Kafka writes lengths and numbers."""

from collections.abc import Sequence
from random import Random

SMALL = (0, 1, 2, 0x7F, 0x80, 0x81, 0xFE, 0xFF)
WIDE = (-1, -2, 0, 1, 255, 256, 32_767, 32_768, 65_535, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63))
VARINTS = (
    b"\x00",
    b"\x01",
    b"\x7f",
    b"\x80\x01",
    b"\xff\xff\x03",
    b"\xff\xff\xff\xff\x07",
    b"\xff\xff\xff\xff\x0f",
    b"\x80" * 5,
    b"\xff" * 9 + b"\x01",
    b"\x80\x80\x00",
)
# Not UTF-8, each in its own way; the last is how Java writes zero.
TEXTS = (b"\xff", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\xc0\x80", "\u2028\U0001f600".encode())


def mutate_bytes(raw: bytes, others: Sequence[bytes], chance: Random) -> bytes:
    if not raw:
        return chance.choice(others)[: chance.randrange(64)]
    return chance.choice(MUTATIONS)(raw, others, chance)


def flip(raw: bytes, others: Sequence[bytes], chance: Random) -> bytes:
    return overwrite(raw, chance.randrange(len(raw)), None, chance)


def overwrite(raw: bytes, at: int, byte: int | None, chance: Random) -> bytes:
    new = raw[at] ^ (1 << chance.randrange(8)) if byte is None else byte
    return b"%b%c%b" % (raw[:at], new, raw[at + 1 :])


def set_byte(raw: bytes, others: Sequence[bytes], chance: Random) -> bytes:
    return overwrite(raw, chance.randrange(len(raw)), chance.choice(SMALL), chance)


def step(raw: bytes, others: Sequence[bytes], chance: Random) -> bytes:
    """One more or less: a length that just does not fit."""
    at = chance.randrange(len(raw))
    return overwrite(raw, at, (raw[at] + chance.choice((-1, 1))) % 256, chance)


def set_number(raw: bytes, others: Sequence[bytes], chance: Random) -> bytes:
    size = chance.choice((2, 4, 8))
    number = (chance.choice(WIDE) % 2 ** (8 * size)).to_bytes(size, "big")
    at = chance.randrange(len(raw))
    return raw[:at] + number + raw[at + size :]


def set_varint(raw: bytes, others: Sequence[bytes], chance: Random) -> bytes:
    at = chance.randrange(len(raw))
    return raw[:at] + chance.choice(VARINTS) + raw[at + 1 :]


def set_text(raw: bytes, others: Sequence[bytes], chance: Random) -> bytes:
    at, text = chance.randrange(len(raw)), chance.choice(TEXTS)
    return raw[:at] + text + raw[at + len(text) :]


def cut(raw: bytes, others: Sequence[bytes], chance: Random) -> bytes:
    return raw[: chance.randrange(len(raw))]


def drop(raw: bytes, others: Sequence[bytes], chance: Random) -> bytes:
    at = chance.randrange(len(raw))
    return raw[:at] + raw[at + chance.choice((1, 1, 2, 4, 8, 17)) :]


def insert(raw: bytes, others: Sequence[bytes], chance: Random) -> bytes:
    at = chance.randrange(len(raw) + 1)
    return raw[:at] + chance.randbytes(chance.choice((1, 1, 2, 4, 16))) + raw[at:]


def repeat(raw: bytes, others: Sequence[bytes], chance: Random) -> bytes:
    at = chance.randrange(len(raw))
    end = at + chance.choice((1, 2, 4, 8, 32))
    return raw[:at] + raw[at:end] * chance.choice((2, 3, 9)) + raw[end:]


def splice(raw: bytes, others: Sequence[bytes], chance: Random) -> bytes:
    other = chance.choice(others)
    return raw[: chance.randrange(len(raw) + 1)] + other[chance.randrange(len(other) + 1) :]


MUTATIONS = (flip, set_byte, step, set_number, set_varint, set_text, cut, drop, insert, repeat, splice)
