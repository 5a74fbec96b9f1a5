"""Compares what an audit says of a story with what a person who knows what was done would want it to say.

Critical and warning findings count, each once: of two that a wanted one fits, the second is not wanted. So does a
finding of the wrong severity, or about another group. What is only information is shown and counts as nothing.

The audit has the default settings, but each limit in time is a tenth of its default: `settings.toml` says why.
"""

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from schemas.words.exit_codes import ExitCode
from tests.runs.ingested import rows
from tests.runs.typed_here import typed_here
from tests.stories.captures import Told

SETTINGS: Final = Path(__file__).with_name("settings.toml")
COUNTING: Final = ("critical", "warning")


@dataclass(frozen=True)
class Line:
    """A finding, as the audit names it."""

    kind: str
    severity: str
    group_id: str | None
    topic: str | None
    partition: int | None
    message: str

    def __str__(self) -> str:
        return f"{self.severity} {self.kind}, {self.group_id or 'no group'}: {self.message}"


@dataclass
class Judged:
    """Of one story, or the sum of several."""

    named: int = 0
    missing: list[str] = field(default_factory=list)
    not_wanted: list[str] = field(default_factory=list)
    information: list[str] = field(default_factory=list)

    @property
    def is_right(self) -> bool:
        return not self.missing and not self.not_wanted

    def __str__(self) -> str:
        return "\n".join(
            [
                f"{self.named} wanted and named",
                *(f"missing: {each}" for each in self.missing),
                *(f"not wanted: {each}" for each in self.not_wanted),
                *(f"information: {each}" for each in self.information),
            ]
        )

    def __add__(self, other: "Judged") -> "Judged":
        return Judged(
            self.named + other.named,
            self.missing + other.missing,
            self.not_wanted + other.not_wanted,
            self.information + other.information,
        )


def audited(told: Told) -> list[Line]:
    """What a fresh warehouse says of the whole log."""
    with tempfile.TemporaryDirectory(prefix="groupscope-story-") as scratch:
        return lines_of(warehouse_of(told, Path(scratch)))


def warehouse_of(told: Told, scratch: Path) -> Path:
    source = ["--source", f"segments:{told.log_dir}", "--snapshots", str(told.snapshots)]
    words = ["audit", *source, "--config", str(SETTINGS), "--fail-on", "never", "--quiet"]
    done = typed_here([*words, "--warehouse", "w", "--report", "report"], scratch)
    if done.returncode != ExitCode.CLEAN:
        raise RuntimeError(f"the audit of {told.folder} ended with {done.returncode}: {done.stderr}")
    return scratch / "w"


def lines_of(warehouse: Path) -> list[Line]:
    found = sorted(rows(warehouse, "findings"), key=lambda row: int(row["rank"]))
    return [Line(**{name: row[name] for name in Line.__annotations__}) for row in found]


def judged(wanted: Sequence[Mapping[str, Any]], lines: Iterable[Line]) -> Judged:
    result = Judged()
    open_ones = list(wanted)
    for line in lines:
        if line.severity not in COUNTING:
            result.information.append(str(line))
        elif (found := next((each for each in open_ones if fits(each, line)), None)) is None:
            result.not_wanted.append(str(line))
        else:
            open_ones.remove(found)
            # Silence is as right as this finding: it is no success, and no fault.
            result.named += not found.get("may_be_silent")
    result.missing = [shown(each) for each in open_ones if not each.get("may_be_silent")]
    return result


def fits(wanted: Mapping[str, Any], line: Line) -> bool:
    """Topic and partition are asked for where the finding is about one."""
    return (
        line.kind in wanted["kinds"]
        and line.severity == wanted["severity"]
        and line.group_id == wanted["group"]
        and all(getattr(line, name) == wanted[name] for name in ("topic", "partition") if name in wanted)
    )


def shown(wanted: Mapping[str, Any]) -> str:
    return f"{wanted['severity']} {' or '.join(wanted['kinds'])}, {wanted['group']}: {wanted['why']}"


def judge_all(stories: Mapping[str, Told]) -> Iterator[tuple[str, Judged]]:
    for name, told in stories.items():
        yield name, judged(told.page["wanted"], audited(told))
