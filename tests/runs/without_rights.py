"""Runs commands as somebody whom the modes of files bind. Tests mostly run as root, who may read whatever is there."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.runs.ingested import ROOT

# Root keeps its name and its files, and loses what lets it pass over modes.
SETPRIV = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")
# One process for all commands: each would load for seconds.
SCRIPT = """
import json, os, shutil, sys
from jobs import cli
from jobs.output import progress
progress.LOG_SECONDS = float("inf")
answers = os.dup(1)
ended = []
for words in json.load(sys.stdin):
    if words[0] == "chmod":
        os.chmod(words[1], int(words[2], 8))
    elif words[0] == "copy":
        shutil.copytree(words[1], words[2])
    else:
        for number, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(name, os.O_CREAT | os.O_TRUNC | os.O_WRONLY), number)
        code = int(cli.main(words))
        sys.stdout.flush()
        ended.append([code, *(open(name).read() for name in ("out", "err"))])
os.write(answers, json.dumps(ended).encode())
"""


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    lines: list[str]


def run_without_rights(folder: Path, commands: Sequence[Sequence[str]]) -> list[Ended]:
    """Among the commands, `chmod PLACE MODE` and `copy FROM TO` answer nothing."""
    rights = SETPRIV if os.geteuid() == 0 else ()
    done = subprocess.run(
        [*rights, sys.executable, "-c", SCRIPT],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        input=json.dumps(commands),
        capture_output=True,
        text=True,
        check=True,
    )
    return [Ended(code, out, err.splitlines()) for code, out, err in json.loads(done.stdout)]
