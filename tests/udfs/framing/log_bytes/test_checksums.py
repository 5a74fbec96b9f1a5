"""Checksums against published values, tables and the plain computation."""

import numpy as np
import pytest

from tests.oracles.log import framing
from udfs.framing.log_bytes.checksums import CRC32, CRC32C, Algorithm, RangeChecksums, crc32, crc32c


def array(raw: bytes) -> np.ndarray:  # type: ignore[type-arg]
    return np.frombuffer(raw, np.uint8)


def test_published_check_values() -> None:
    """Both algorithms are catalogued with the checksum of these nine digits; RFC 3720 gives those of 32 bytes."""
    assert crc32(array(b"123456789")) == 0xCBF43926
    assert crc32c(array(b"123456789")) == 0xE3069283
    assert framing.crc32c(b"123456789") == 0xE3069283
    assert crc32c(array(bytes(32))) == 0x8A9136AA
    assert crc32c(array(b"\xff" * 32)) == 0x62A8AB43


@pytest.mark.parametrize("algorithm", [CRC32, CRC32C])
def test_checksums_of_ranges_equal_those_of_their_bytes(rng: np.random.Generator, algorithm: Algorithm) -> None:
    data = rng.integers(0, 256, 1 << 18).astype(np.uint8)
    start = np.sort(rng.integers(3000, len(data), 400))
    end = np.minimum(start + rng.integers(0, 100_000, 400), len(data))
    ranges = RangeChecksums(algorithm, data)
    plain = crc32 if algorithm is CRC32 else crc32c
    for half in (slice(0, 200), slice(200, 400)):
        expected = [plain(data[a:b]) for a, b in zip(start[half], end[half], strict=True)]
        assert ranges.of(start[half], end[half]).tolist() == expected


def test_no_ranges_have_no_checksums() -> None:
    nothing = np.empty(0, np.int64)
    assert len(RangeChecksums(CRC32, array(b"abc")).of(nothing, nothing)) == 0
