"""Real shells with the completion of `groupscope completion` in them: what each offers after a line and a tab."""

import os
import subprocess
import sys
from pathlib import Path

from tests.distribution import program

ROOT = Path(__file__).parents[2]
# Prints the completions that bash would insert, one a line.
BASH = """
source <(groupscope completion bash)
COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDS=($1) COMPREPLY=()
_python_argcomplete groupscope
printf '%s\\n' "${COMPREPLY[@]}"
"""
FISH = "groupscope completion fish | source; complete -C $argv[1] | string replace -r '\\t.*' ''"
# Zsh completes only on a terminal. A function that stands for its _describe prints what is offered.
ZSH = """
autoload -U compinit is-at-least; compinit -u -D
_describe() { print -l -- ${(P)2}; }
source <(groupscope completion zsh)
BUFFER=$1 CURSOR=${#1} words=(groupscope)
_python_argcomplete
"""


def offered(shell: str, line: str, folder: Path) -> list[str]:
    """In the order of the shell, without what zsh says about each."""
    path = shell if shell == "bash" else program(shell)
    command = {
        "bash": [path, "--norc", "-c", BASH, "bash", line],
        "zsh": [path, "-f", "-c", ZSH, "zsh", line],
        "fish": [path, "--no-config", "-c", FISH, line],
    }[shell]
    typed = folder / "bin" / "groupscope"
    typed.parent.mkdir(exist_ok=True)
    typed.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m jobs.cli "$@"\n')
    typed.chmod(0o755)
    environment = {**os.environ, "PATH": f"{typed.parent}:{os.environ['PATH']}", "HOME": str(folder)}
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env=environment, timeout=120, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.stderr == ""
    return [each.partition(":")[0].strip() for each in done.stdout.splitlines() if each.strip()]
