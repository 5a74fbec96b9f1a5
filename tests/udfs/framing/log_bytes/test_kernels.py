"""Loops over the bytes of a log: what they are run with."""

import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.builders.logs.batches import batch_of, random_log, record
from udfs.framing.log_bytes.kernels import good_entries


def inputs(rng: np.random.Generator) -> Mapping[str, Iterable[tuple[Any, ...]]]:
    logs = [b"".join(random_log(rng, 10, legacy_share)) for legacy_share in (0, 0.1, 1) for _ in range(5)]
    logs += [log[: int(rng.integers(0, len(log)))] for log in logs]
    logs += [rng.bytes(200), bytes(200), b""]
    for log in logs[:5]:
        damaged = bytearray(log)
        damaged[int(rng.integers(0, len(log)))] ^= 0xFF
        logs.append(bytes(damaged))
    return {"good_entries": [(np.frombuffer(log, np.uint8), 0, len(log), np.zeros(20, np.int64)) for log in logs]}


def test_batches_are_taken_until_one_is_not_good() -> None:
    batch = batch_of(record(0, b"k", b"v"))
    # An int32: no entry has a negative size.
    for after in (b"", batch[:-1], batch[:-1] + b"x", batch[:16] + b"\1" + batch[17:], batch[:8] + b"\xff" + batch[9:]):
        data = np.frombuffer(batch * 3 + after, np.uint8)
        starts = np.zeros(4, np.int64)
        assert good_entries(data, len(batch), len(data), starts) == (2, 3 * len(batch))
        assert starts.tolist() == [len(batch), 2 * len(batch), 0, 0]
    # The smallest batch, at the end of all bytes.
    empty = np.frombuffer(batch_of(), np.uint8)
    assert good_entries(empty, 0, len(empty), np.zeros(1, np.int64)) == (1, len(empty))


WITHOUT_C = """
import sys
sys.modules["google_crc32c._crc32c"] = None
import google_crc32c
assert google_crc32c.implementation == "python"
from jobs.spark.compiled_loops import keep_compiled_loops
keep_compiled_loops()
from tests.udfs.framing.log_bytes import test_kernels
test_kernels.test_batches_are_taken_until_one_is_not_good()
"""


def test_checksums_are_compiled_where_their_c_library_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUPSCOPE_CACHE", str(tmp_path))
    done = subprocess.run([sys.executable, "-c", WITHOUT_C], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert any(tmp_path.glob("compiled_loops/*good_entries*"))
