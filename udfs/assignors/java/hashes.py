"""Hash codes and comparisons of Java's classes, for many keys at once."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.java.kernels import text_hashes

Hashes = NDArray[np.uint32]
Positions = NDArray[np.intp]

_MODULUS: Final = 1 << 32


def string_hashes(texts: Sequence[str]) -> Hashes:
    """String.hashCode of each, as unsigned numbers."""
    if not texts:
        return np.empty(0, np.uint32)
    # Java hashes UTF-16 units, which are the bytes of most names; each text is ended by NUL.
    together = "\0".join(texts) + "\0"
    if together.isascii():
        units = np.frombuffer(together.encode("ascii"), np.uint8)
    else:
        units = np.frombuffer(together.encode("utf-16-le", "surrogatepass"), np.uint16)
    hashes, num_ends = text_hashes(units, len(texts))
    return hashes if num_ends == len(texts) else np.array([string_hash(text) for text in texts], np.uint32)


def string_hash(text: str) -> int:
    """Of one, by itself: an array of one takes longer."""
    value = 0
    encoded = text.encode("utf-16-be", "surrogatepass")
    for high, low in zip(encoded[::2], encoded[1::2], strict=True):
        value = (31 * value + (high << 8 | low)) % _MODULUS
    return value


def uuid_hash(most: int, least: int) -> int:
    """Of Kafka's Uuid, by the most and the least significant 64 bits, each with its sign."""
    bits = (most ^ least) & (1 << 64) - 1
    return (bits >> 32 ^ bits) & 0xFFFFFFFF


def topic_partition_hashes(topic_hashes: Hashes, partitions: NDArray[np.integer]) -> Hashes:
    """Hash codes of TopicPartition."""
    return np.uint32(31) * (np.uint32(31) + partitions.astype(np.uint32)) + topic_hashes


def utf_16(text: str) -> bytes:
    """What String.compareTo goes by: UTF-16 units."""
    return text.encode("utf-16-be", "surrogatepass")


def java_sorted(texts: Sequence[str]) -> Positions:
    """The positions of the texts in the order of String.compareTo."""
    return np.array(sorted(range(len(texts)), key=java_sort_keys(texts).__getitem__), np.intp)


def java_sort_keys(texts: Sequence[str]) -> Sequence[str] | Sequence[bytes]:
    """Python compares code points: that differs only where a character needs two UTF-16 units."""
    together = "".join(texts)
    return texts if together.isascii() or max(together) <= "\uffff" else list(map(utf_16, texts))


def ranks(order: Positions) -> Positions:
    """The place of each position in an order."""
    places = np.empty(len(order), np.intp)
    places[order] = np.arange(len(order))
    return places
