"""The judge counts each line once, and asks for the right group, kind and severity."""

from dataclasses import replace

import pytest

from tests.stories.judge import Judged, Line, judged

SILENT = {"group": "g", "severity": "critical", "kinds": ["group_silent"], "why": "it is dead"}
SILENT_LINE = Line("group_silent", "critical", "g", None, None, "no commit")
STOPPED = {**SILENT, "kinds": ["partition_stopped"], "topic": "t", "partition": 1}
STOPPED_LINE = Line("partition_stopped", "critical", "g", "t", 1, "no commit")
EITHER, OPTIONAL = {**SILENT, "kinds": ["group_down", "group_silent"]}, {**SILENT, "may_be_silent": True}
# What is wanted, what is said, and of that: named, missing, not wanted, information.
CASES = {
    "nothing is wanted and nothing said": ([], [], (0, 0, 0, 0)),
    "what is wanted is said": ([SILENT], [SILENT_LINE], (1, 0, 0, 0)),
    "the second line is not wanted": ([SILENT], [SILENT_LINE, replace(SILENT_LINE, message="again")], (1, 0, 1, 0)),
    "one line is one of two that are wanted": ([SILENT, SILENT], [SILENT_LINE], (1, 1, 0, 0)),
    "it is missing": ([SILENT], [], (0, 1, 0, 0)),
    "it names another group": ([SILENT], [replace(SILENT_LINE, group_id="h")], (0, 1, 1, 0)),
    "it names no group": ([SILENT], [replace(SILENT_LINE, group_id=None)], (0, 1, 1, 0)),
    "it says something else": ([SILENT], [replace(SILENT_LINE, kind="falling_behind")], (0, 1, 1, 0)),
    "it is less loud": ([SILENT], [replace(SILENT_LINE, severity="warning")], (0, 1, 1, 0)),
    "as information it counts as nothing": ([SILENT], [replace(SILENT_LINE, severity="info")], (0, 1, 0, 1)),
    "information is never wrong": ([], [replace(SILENT_LINE, severity="info")], (0, 0, 0, 1)),
    "either kind is right": ([EITHER], [SILENT_LINE], (1, 0, 0, 0)),
    "silence is as right": ([OPTIONAL], [], (0, 0, 0, 0)),
    "what need not be said may be": ([OPTIONAL], [SILENT_LINE], (0, 0, 0, 0)),
    "it names the partition that is stuck": ([STOPPED], [STOPPED_LINE], (1, 0, 0, 0)),
    "it names another partition": ([STOPPED], [replace(STOPPED_LINE, partition=2)], (0, 1, 1, 0)),
    "it names another topic": ([STOPPED], [replace(STOPPED_LINE, topic="u")], (0, 1, 1, 0)),
}


def counts(result):
    return result.named, len(result.missing), len(result.not_wanted), len(result.information)


@pytest.mark.parametrize(("wanted", "lines", "expected"), CASES.values(), ids=CASES)
def test_lines_are_counted(wanted, lines, expected):
    assert counts(judged(wanted, lines)) == expected


def test_results_add_up_and_show_each_wrong_line_in_full():
    first, second = (
        judged([SILENT], [SILENT_LINE, replace(SILENT_LINE, kind="falling_behind", severity="warning")]),
        judged([SILENT], []),
    )
    both = sum([first, second], Judged())
    assert counts(both) == (1, 1, 1, 0)
    assert not both.is_right
    assert "not wanted: warning falling_behind, g: no commit" in str(both)
    assert "missing: critical group_silent, g: it is dead" in str(both)
