"""Checksums of Kafka's formats: CRC-32C for record batches, CRC-32 for the older messages.

Both work on the bytes of a NumPy slice without copying them.
"""

import ctypes
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import google_crc32c
import numpy as np
from numpy.typing import NDArray

Bytes: TypeAlias = NDArray[np.uint8]
Remainders: TypeAlias = NDArray[np.uint32]

CRC32C_POLYNOMIAL = 0x82F63B78
CRC32_POLYNOMIAL = 0xEDB88320


def remainders_of_bytes(polynomial: int) -> Remainders:
    remainders = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        odd = np.where(remainders & 1, np.uint32(polynomial), np.uint32(0))
        remainders = (remainders >> np.uint32(1) ^ odd).astype(np.uint32)
    return remainders


CRC32C_OF_BYTE = remainders_of_bytes(CRC32C_POLYNOMIAL)

crc32c: Callable[[Bytes], int] = google_crc32c.value


@cache
def call_crc32c_from_loops() -> None:
    """In machine code `crc32c` is the C function that google_crc32c itself calls: a fifth of the time of a call from
    Python. Where google_crc32c was installed without it, the loop is compiled: several times slower."""
    from llvmlite.binding import add_symbol
    from numba import types
    from numba.extending import overload

    if google_crc32c.implementation != "c":
        overload(crc32c, strict=False)(lambda data: crc32c_by_table)
        return

    from google_crc32c import _crc32c

    function = ctypes.CDLL(_crc32c.__file__).crc32c_extend
    add_symbol("crc32c_extend", ctypes.cast(function, ctypes.c_void_p).value)
    extend: Any = types.ExternalFunction("crc32c_extend", types.uint32(types.uint32, types.voidptr, types.uintp))

    @overload(crc32c, strict=False)
    def crc32c_of(data: Bytes) -> Callable[[Bytes], int]:
        return lambda data: extend(np.uint32(0), data.ctypes, data.size)


def crc32c_by_table(data: Bytes) -> np.uint32:
    remainder = np.uint32(0xFFFFFFFF)
    for byte in data:
        remainder = CRC32C_OF_BYTE[np.uint8(remainder) ^ byte] ^ remainder >> np.uint32(8)
    return remainder ^ np.uint32(0xFFFFFFFF)


def crc32(data: Bytes) -> int:
    return zlib.crc32(data.data)


@dataclass(frozen=True)
class Algorithm:
    """A CRC with 32 bits. The polynomial has its lowest power in the highest bit."""

    polynomial: int
    extend: Callable[[int, Bytes], int]


CRC32C = Algorithm(CRC32C_POLYNOMIAL, google_crc32c.extend)
CRC32 = Algorithm(CRC32_POLYNOMIAL, lambda crc, data: zlib.crc32(data.data, crc))

# Bytes between two stored prefixes. Looking up a prefix costs a checksum over up to this many bytes.
GRID = 1024
# The longest shift is 2^(2 * HALF_BITS) bytes.
HALF_BITS = 14


class RangeChecksums:
    """Checksums of many overlapping ranges of one buffer, in time that does not grow with their lengths.

    The checksum of a range follows from those of two prefixes: crc(AB) is crc(A) shifted by the length of B, plus
    crc(B). Without this, bytes made to look like many long batches would take quadratic time to reject.
    """

    def __init__(self, algorithm: Algorithm, data: Bytes) -> None:
        self.algorithm = algorithm
        self.data = data
        self.origin = 0
        self.grid: list[int] = []

    def of(self, start: NDArray[np.int64], end: NDArray[np.int64]) -> Remainders:
        if not len(start):
            return np.empty(0, np.uint32)
        if not self.grid:
            # Ranges are requested in ascending order, so nothing before the first one is needed.
            self.origin, self.grid = int(start.min()), [0]
        before = np.array([self.prefix(p) for p in start.tolist()], np.uint32)
        through = np.array([self.prefix(p) for p in end.tolist()], np.uint32)
        return through ^ shifted(self.algorithm.polynomial, before, end - start)

    def prefix(self, position: int) -> int:
        """The checksum of all bytes from the origin to a position."""
        line = (position - self.origin) // GRID
        while len(self.grid) <= line:
            last = self.origin + (len(self.grid) - 1) * GRID
            self.grid.append(self.algorithm.extend(self.grid[-1], self.data[last : last + GRID]))
        return self.algorithm.extend(self.grid[line], self.data[self.origin + line * GRID : position])


def shifted(polynomial: int, crc: Remainders, size: NDArray[np.int64]) -> Remainders:
    """What these checksums contribute to the checksum of data that continues for `size` more bytes."""
    low, high = shift_tables(polynomial)
    mask = (1 << HALF_BITS) - 1
    return multiplied(polynomial, multiplied(polynomial, crc, low[size & mask]), high[size >> HALF_BITS])


@cache
def shift_tables(polynomial: int) -> tuple[Remainders, Remainders]:
    """x^(8n) for n below 2^HALF_BITS, and for the multiples of 2^HALF_BITS."""
    tables = []
    factor = np.array([1 << 31 - 8], np.uint32)  # x^8: one byte
    for _ in range(2):
        powers = np.array([1 << 31], np.uint32)  # x^0
        for _ in range(HALF_BITS):
            powers = np.concatenate((powers, multiplied(polynomial, powers, factor)))
            factor = multiplied(polynomial, factor, factor)
        tables.append(powers)
    return tables[0], tables[1]


def multiplied(polynomial: int, a: Remainders, b: Remainders) -> Remainders:
    """Products of polynomials over GF(2), modulo the polynomial of the CRC; bit 31 is the power 0."""
    product = np.zeros(np.broadcast_shapes(a.shape, b.shape), np.uint32)
    term = b.copy()
    for bit in range(31, -1, -1):
        product ^= term * (a >> np.uint32(bit) & np.uint32(1))
        term = term >> np.uint32(1) ^ (term & np.uint32(1)) * np.uint32(polynomial)
    return product
