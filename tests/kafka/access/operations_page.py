"""What docs/operations.md shows, for tests that run it."""

import re
import shlex
from dataclasses import dataclass

from tests.runs.ingested import ROOT

PAGE = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
# Where the page's commands are sent, the test says.
ADDRESS = ("--bootstrap-server", "broker-1:9092", "--command-config", "admin.properties")


@dataclass(frozen=True)
class Loss:
    """What the page says of a missing right; `message` is None if it says nothing."""

    right: tuple[str, ...]
    exit_code: int
    message: str | None


def blocks(language):
    return re.findall(rf"^```{language}\n(.+?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)


def commands(language):
    """Words of each command, without the tool's name and the address."""
    result = []
    for line in "".join(blocks(language)).splitlines():
        words = shlex.split(line)
        assert tuple(words[1:5]) == ADDRESS, line
        result.append(words[5:])
    return result


def rights():
    """Flags of kafka-acls, one right a command."""
    start = ["--add", "--allow-principal", "User:groupscope"]
    assert all(words[:3] == start for words in commands("acls"))
    return [tuple(words[3:]) for words in commands("acls")]


def losses():
    rows = re.findall(r"^\| `(--operation [^`]+)` \| (\d+) \| (?:`([^`]+)`|nothing) \|", PAGE, flags=re.MULTILINE)
    return [Loss(tuple(shlex.split(right)), int(code), reported or None) for right, code, reported in rows]
