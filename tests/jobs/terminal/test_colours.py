"""Colours: on a real terminal, and there alone."""

import os
import pty
import subprocess
import sys

PAGE = "from jobs.output.rows import with_severities; print(*with_severities({lines!r}), sep='\\n')"
LINES = ["FINDINGS, exit code 20: 1 critical", "critical  partition_stopped: 1", "          critical", "criticality"]
RED = ["\x1b[31mFINDINGS\x1b[0m, exit code 20: 1 critical", "\x1b[31mcritical\x1b[0m  partition_stopped: 1", *LINES[2:]]


def shown(*, is_terminal: bool, **variables: str) -> list[str]:
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"TERM": "xterm"}
    ours, theirs = pty.openpty() if is_terminal else os.pipe()
    with open(ours, "rb", buffering=0) as reader, open(theirs, "wb", buffering=0) as writer:
        command = [sys.executable, "-c", PAGE.format(lines=LINES)]
        subprocess.run(command, stdout=writer, env=environment | variables, check=True)
        # Of a terminal the other end must be open while this one is read.
        text = reader.read(4096)
    return text.decode().replace("\r\n", "\n").splitlines()


def test_the_word_that_a_verdict_or_a_finding_begins_with_is_coloured_on_a_terminal() -> None:
    assert shown(is_terminal=True) == RED


def test_nothing_is_coloured_where_nobody_wants_it() -> None:
    assert shown(is_terminal=True, NO_COLOR="1") == LINES
    assert shown(is_terminal=True, TERM="dumb") == LINES
    assert shown(is_terminal=True, NO_COLOR="") == RED
    assert shown(is_terminal=False) == LINES
