"""The judge counts each line once, and asks for the right group, kind and severity."""

import pytest

from tests.stories.judge import Judged, Line, judged

SILENT = {"group": "g", "severity": "critical", "kinds": ["group_silent"], "why": "it is dead"}
SILENT_LINE = Line("group_silent", "critical", "g", None, None, "no commit")
STOPPED = {
    "group": "g",
    "severity": "critical",
    "kinds": ["partition_stopped"],
    "topic": "t",
    "partition": 1,
    "why": "",
}


def counts(result):
    return result.named, len(result.missing), len(result.not_wanted), len(result.information)


def line(**other):
    return Line(**{**vars(SILENT_LINE), **other})


@pytest.mark.parametrize(
    ("wanted", "lines", "expected"),
    [
        pytest.param([], [], (0, 0, 0, 0), id="nothing is wanted and nothing said"),
        pytest.param([SILENT], [SILENT_LINE], (1, 0, 0, 0), id="what is wanted is said"),
        pytest.param([SILENT], [SILENT_LINE, line(message="twice")], (1, 0, 1, 0), id="the second line is not wanted"),
        pytest.param([SILENT, SILENT], [SILENT_LINE], (1, 1, 0, 0), id="one line is one of two that are wanted"),
        pytest.param([SILENT], [], (0, 1, 0, 0), id="it is missing"),
        pytest.param([SILENT], [line(group_id="h")], (0, 1, 1, 0), id="it names another group"),
        pytest.param([SILENT], [line(group_id=None)], (0, 1, 1, 0), id="it names no group"),
        pytest.param([SILENT], [line(kind="falling_behind")], (0, 1, 1, 0), id="it says something else"),
        pytest.param([SILENT], [line(severity="warning")], (0, 1, 1, 0), id="it is less loud"),
        pytest.param([SILENT], [line(severity="info")], (0, 1, 0, 1), id="as information it counts as nothing"),
        pytest.param([], [line(severity="info")], (0, 0, 0, 1), id="information is never wrong"),
        pytest.param(
            [{**SILENT, "kinds": ["group_down", "group_silent"]}],
            [SILENT_LINE],
            (1, 0, 0, 0),
            id="either kind is right",
        ),
        pytest.param([{**SILENT, "may_be_silent": True}], [], (0, 0, 0, 0), id="silence is as right"),
        pytest.param(
            [{**SILENT, "may_be_silent": True}], [SILENT_LINE], (0, 0, 0, 0), id="what need not be said may be"
        ),
        pytest.param(
            [STOPPED],
            [
                line(kind="partition_stopped", topic="t", partition=2),
                line(kind="partition_stopped", topic="t", partition=1),
            ],
            (1, 0, 1, 0),
            id="another partition is not the one that is stuck",
        ),
    ],
)
def test_lines_are_counted(wanted, lines, expected):
    assert counts(judged(wanted, lines)) == expected


def test_results_add_up_and_show_each_wrong_line_in_full():
    first, second = (
        judged([SILENT], [SILENT_LINE, line(kind="falling_behind", severity="warning")]),
        judged([SILENT], []),
    )
    both = sum([first, second], Judged())
    assert counts(both) == (1, 1, 1, 0)
    assert not both.is_right
    assert "not wanted: warning falling_behind, g: no commit" in str(both)
    assert "missing: critical group_silent, g: it is dead" in str(both)
