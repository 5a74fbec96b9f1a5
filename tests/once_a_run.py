"""What takes long to make is made by the first test that asks, for all processes that run tests side by side."""

import json
import os
import signal
from pathlib import Path

from jobs.spark.cache_folder import build_once

SERVER = "server.json"


def once_a_run(factory, name, build):
    """The folder that `build` filled, of this run of the tests alone."""
    return build_once(folder_of_run(factory) / "made_once" / name, build)


def folder_of_run(factory):
    own = factory.getbasetemp()
    # Processes of one run have folders beside each other.
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


# Of this process, which must not wait for them.
STARTED = []


def server_of_run(factory, name, start):
    """The address of what `start` started, a process, for the tests of all processes. It ends with the run."""

    def build(folder):
        process, address = start()
        STARTED.append(process)
        (folder / SERVER).write_text(json.dumps([process.pid, begun(process.pid), address]))

    return json.loads((once_a_run(factory, name, build) / SERVER).read_text())[-1]


def end_servers(factory):
    """By the process that is the last one."""
    for file in (folder_of_run(factory) / "made_once").glob(f"*/{SERVER}"):
        process, when, _ = json.loads(file.read_text())
        if begun(process) == when:
            os.kill(process, signal.SIGKILL)


def begun(process):
    """When, in the kernel's time, so that no other one of this number is taken for it; None: it has ended."""
    path = Path(f"/proc/{process}/stat")
    return path.read_text().rpartition(")")[2].split()[19] if path.exists() else None
