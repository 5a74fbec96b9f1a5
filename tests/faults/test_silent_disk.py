"""A disk that does not answer, such as one of a server that is down: a command ends with one line that names what it
asked for."""

import ctypes
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.words.exit_codes import ExitCode
from tests.builders.logs.copies import random_log, write_copy
from tests.runs.ingested import ingest
from tests.runs.refused import refused, unchanged

HASTY = "[storage]\nanswer_seconds = 1\n"
# Of umount2: at once, whoever still waits for it.
DETACHED = 2


@pytest.fixture
def silent(tmp_path: Path) -> Iterator[Path]:
    """A file system of which nobody answers the kernel's questions."""
    folder = tmp_path / "silent"
    folder.mkdir()
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        kernel = os.open("/dev/fuse", os.O_RDWR)
    except OSError:
        pytest.skip("/dev/fuse cannot be opened here: run as root, in a container with that device")
    options = f"fd={kernel},rootmode=40000,user_id=0,group_id=0".encode()
    if libc.mount(b"silent", str(folder).encode(), b"fuse", 0, options):
        os.close(kernel)
        pytest.skip("mount is not permitted here: run as root, in a container with --cap-add SYS_ADMIN")
    try:
        yield folder
    finally:
        libc.umount2(str(folder).encode(), DETACHED)
        # Whoever waits is told that the file system is gone.
        os.close(kernel)


def told(place: Path) -> str:
    remedy = "check the disk, and the server that it is of, then run it again"
    return f"{place}: no answer for 1 s: {remedy} (a disk that is only slow: raise [storage] answer_seconds)"


def test_a_disk_that_does_not_answer_is_named(
    tmp_path: Path, silent: Path, capsys: pytest.CaptureFixture[str], rng
) -> None:
    (tmp_path / "own.toml").write_text(HASTY)
    copy = write_copy(tmp_path / "copy", 3, random_log(rng, 5), rng)
    ingest(tmp_path / "w", "--source", f"segments:{copy}")
    # On another disk than the rest.
    (copy / "__consumer_offsets-4").symlink_to(silent / "__consumer_offsets-4")
    places = {silent: silent, copy: copy / "__consumer_offsets-4"}
    for source, place in places.items():
        words = ("--source", f"segments:{source}", "--config", tmp_path / "own.toml")
        with unchanged(tmp_path / "w"):
            line = refused(tmp_path / "w", capsys, ExitCode.UNREADABLE_INPUT, *words)
        assert line == told(place)
