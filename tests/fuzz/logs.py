"""The records that brokers wrote: of the sample, and of the captures that this machine has."""

from functools import cache
from pathlib import Path

from jobs.spark.cache_folder import cache_folder
from udfs.arrays.slices import padded
from udfs.framing.frame import Framed, frame

SAMPLE = Path(__file__).parents[2] / "data" / "sample"
Pair = tuple[bytes | None, bytes | None, bool]


@cache
def broker_logs() -> tuple[bytes, ...]:
    """The bytes of segments. Tests start from those of the sample, which is always there."""
    return tuple(file.read_bytes() for file in sorted(SAMPLE.rglob("*.log")))


@cache
def captured_logs() -> tuple[bytes, ...]:
    return tuple(file.read_bytes() for file in sorted((cache_folder() / "captures").rglob("*.log")))


def framed(raw: bytes) -> Framed:
    return frame(padded(raw), len(raw))


def batches(raw: bytes) -> list[bytes]:
    result = framed(raw).batches
    return [raw[at : at + size] for at, size in zip(result.position.tolist(), result.size_bytes.tolist(), strict=True)]


def pairs(raw: bytes) -> list[Pair]:
    """Key, value, and whether it is a control record."""
    result = framed(raw).records
    return [
        (result.keys.bytes_at(row), result.values.bytes_at(row), bool(result.is_control[row]))
        for row in range(len(result))
    ]
