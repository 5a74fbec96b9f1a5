"""The page on the architecture is right about the functions that a record passes."""

import re
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from jobs import cli
from udfs.audit.modern_audit import ModernAudit
from udfs.groups.fold import Fold

ROOT = Path(__file__).parents[3]
STEP = re.compile(r"^\d+\. `([\w/]+\.py)` `(\w+)`", re.MULTILINE)
# A module, or a folder.
NAMED = re.compile(r"`((?:jobs|udfs)/[\w/]+(?:\.py|/))`")
MOST_FILES = 15
# With a classic group, and with a consumer group.
PARTITION = 4

Calls = set[tuple[str, str]]


@dataclass
class Trace:
    """Calls of functions of ours: in all, and in each operation of a group and each target epoch."""

    all: Calls = field(default_factory=set)
    now: Calls = field(default_factory=set)
    of_one: dict[str, list[Calls]] = field(default_factory=dict)

    def note(self, frame, event, _):
        if event == "call" and (name := frame.f_code.co_filename).startswith(str(ROOT)):
            called = str(Path(name).relative_to(ROOT)), frame.f_code.co_name
            self.all.add(called)
            self.now.add(called)

    def apart(self, function, kind):
        """`kind`: of the call, from its arguments; None: nobody asks for it."""

        def run(*arguments):
            before, self.now = self.now, set()
            try:
                return function(*arguments)
            finally:
                if (key := kind(*arguments)) is not None:
                    self.of_one.setdefault(key, []).append(self.now)
                self.now = before

        return run


def kind_of_operation(_, __, records):
    """Of operations of one record."""
    return {2: "classic", 8: "consumer"}.get(records[0].type) if len(records) == 1 else None


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    here = ["--warehouse", str(tmp_path_factory.mktemp("w")), "--workers", "1"]
    source = ["--source", f"segments:{ROOT}/data/sample/__consumer_offsets-{PARTITION}"]
    trace = Trace()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Fold, "apply", trace.apart(Fold.apply, kind_of_operation))
        patch.setattr(ModernAudit, "complete", trace.apart(ModernAudit.complete, lambda *_: "target"))
        threading.setprofile(trace.note)
        sys.setprofile(trace.note)
        try:
            for command in (["ingest", *here, *source], ["replay", *here], ["assignments", *here]):
                assert cli.main(command) == 0
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
        yield trace


def sections():
    """By title."""
    page = (ROOT / "docs" / "architecture.md").read_text()
    section = page.partition("## The way of one record\n")[2].partition("\n## ")[0]
    return dict(each.split("\n", 1) for each in section.split("\n### ")[1:])


def test_each_function_is_passed_in_few_files(trace):
    ways = [STEP.findall(text) for text in sections().values()]
    assert len(ways) == 5
    for way in ways:
        assert set(way) <= trace.all
        assert 10 < len({file for file, _ in way}) == len(way) <= MOST_FILES


@pytest.mark.parametrize(
    ("kind", "title", "first", "last"),
    [
        ("classic", "A classic group's record", "udfs/groups/classic/classic_groups.py", "udfs/groups/history/rows.py"),
        ("consumer", "A consumer group's record", "udfs/groups/modern/notes.py", "udfs/groups/history/rows.py"),
        ("target", "A consumer group's target", "udfs/audit/modern/targets.py", "udfs/audit/checks/results.py"),
    ],
)
def test_one_record_passes_all_of_these_functions_and_only_named_files(trace, kind, title, first, last):
    """`first` and `last`: the steps for single records; these before and after take a window of the log."""
    (text,) = [text for each, text in sections().items() if each.startswith(title)]
    way = STEP.findall(text)
    files = [file for file, _ in way]
    alone = set(way[files.index(first) : files.index(last)])
    passed = [calls for calls in trace.of_one[kind] if alone <= calls]
    assert passed
    named = tuple(NAMED.findall(text))
    for calls in passed:
        assert not {file for file, _ in calls if file.startswith("udfs/") and not file.startswith(named)}
