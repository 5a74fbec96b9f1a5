"""How many processors and how much memory this process may use, by the system and its control group."""

import os
from collections.abc import Iterable
from pathlib import Path

# Largest memory of a worker, with a margin: Python, Arrow and the windows of its task.
WORKER_BYTES = 900 << 20
CONTROL_GROUP = Path("/sys/fs/cgroup")
MEMORY = Path("/proc/meminfo")


def cores() -> int:
    """Processors that this process may use and for which its control group has time."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(allowed, int(quota(text_of(CONTROL_GROUP / "cpu.max")) or allowed)))


def default_workers() -> int:
    """One per core, fewer if memory is short."""
    room = free_bytes()
    return cores() if room is None else max(1, min(cores(), room // WORKER_BYTES))


def quota(line: str) -> float | None:
    """Processors from a line such as `150000 100000`: microseconds of processor time, per period in microseconds."""
    words = line.split()
    if len(words) != 2 or words[0] == "max":
        return None
    return int(words[0]) / int(words[1])


def free_bytes() -> int | None:
    """Free memory of the machine, or what its control group leaves, if that is less."""
    limit, used = (number_of(text_of(CONTROL_GROUP / name)) for name in ("memory.max", "memory.current"))
    in_group = None if limit is None else limit - (used or 0)
    known = [each for each in (available(text_of(MEMORY).splitlines()), in_group) if each is not None]
    return max(0, min(known)) if known else None


def available(lines: Iterable[str]) -> int | None:
    sizes = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(sizes[0]) * 1024 if sizes else None


def number_of(text: str) -> int | None:
    return int(text) if text.strip().isdigit() else None


def text_of(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
