"""The memory that a command takes with all its processes, as Linux accounts for it."""

import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

INTERVAL_SECONDS = 0.02
WORKER = "worker"
# The local engine's workers are forks of this server, and show its command line; the server itself holds little.
FORK_SERVER = b"multiprocessing.forkserver"


def peak_bytes(command: Sequence[str]) -> int:
    """Largest sum seen of what the processes hold; pages that several share count once."""
    peak = 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            peak = max(peak, sum(held_bytes(member) for member in family(process.pid)))
            time.sleep(INTERVAL_SECONDS)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, list(command))
    return peak


def peak_by_program(command: Sequence[str]) -> dict[str, int]:
    """Largest that any one process of each program held."""
    peaks: dict[str, int] = {}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None:
            for member in family(process.pid):
                name = program(member)
                peaks[name] = max(peaks.get(name, 0), held_bytes(member))
            time.sleep(INTERVAL_SECONDS)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, list(command))
    return peaks


def by_program(peaks: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {peak / 1e6:.0f} MB" for name, peak in sorted(peaks.items()) if peak)


def program(pid: int) -> str:
    """Which of a run's processes it is."""
    with suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        if b"pyspark.daemon" in words or any(FORK_SERVER in word for word in words):
            return WORKER
        return "java" if Path(words[0].decode()).name == "java" else "driver"
    return "gone"


def family(pid: int) -> list[int]:
    """The process and everything that it started."""
    children: list[int] = []
    # A process may end between any two looks at it.
    with suppress(OSError):
        for tasks in Path(f"/proc/{pid}/task").iterdir():
            children += map(int, (tasks / "children").read_text().split())
    return [pid, *(member for child in children for member in family(child))]


def held_bytes(pid: int) -> int:
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0
