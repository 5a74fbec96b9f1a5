"""Where a user of the pages types: the tree with the sample's warehouse in it, as `make audit` leaves it."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from tests.runs.typed_here import typed_here

ROOT = Path(__file__).parents[2]
LINKED = ("data", "docs", "conf")
WAREHOUSE = "warehouse"
# Places of the pages that no test may have.
LOGS, SERVED = "/var/kafka-logs", "/srv/groupscope"
COMMAND = re.compile(r"(?:\.venv/bin/)?\bgroupscope (?=[a-z])")
# What only a shell understands, and texts in which it sees nothing of it.
OF_A_SHELL, QUOTED = re.compile(r"[|<>*?$;&~\\\n]"), re.compile(r"'[^']*'|\"[^\"$`\\]*\"")


def laid_out(folder, warehouse):
    """A copy of the warehouse, since commands of the pages write."""
    for name in LINKED:
        (folder / name).symlink_to(ROOT / name)
    shutil.copytree(warehouse, folder / WAREHOUSE)
    return folder


def typed(command, folder):
    """What the command answers there, `groupscope` being the tree's own."""
    placed = command.replace(LOGS, str(folder / "logs")).replace(SERVED, str(folder / "served"))
    if (called := COMMAND.match(placed)) and not OF_A_SHELL.search(QUOTED.sub("", placed)):
        return typed_here(shlex.split(placed[called.end() :]), folder)
    return typed_in_a_shell(COMMAND.sub("groupscope_of_tree ", placed, count=1), folder)


def typed_in_a_shell(command, folder):
    shell = f'groupscope_of_tree() {{ {shlex.quote(sys.executable)} -m jobs.cli "$@"; }}; {command}'
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", shell],
        capture_output=True, text=True, cwd=folder, env=environment, timeout=300, check=False,
    )  # fmt: skip
