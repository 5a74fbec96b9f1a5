"""The program that plants faults (tests/planted): its faults fit today's code, and what it says of a run is true."""

import os
import shutil
from dataclasses import replace

import pytest

from tests.planted import __main__ as command
from tests.planted import drawn, planting
from tests.planted.planting import ROOT, Area, Copy, Fault, Outcome, Refused

AREAS, FAULTS, UNCHANGED = planting.read()


def test_every_fault_fits_the_code_of_today():
    assert len(FAULTS) >= 60
    for fault in FAULTS:
        fault.plant((ROOT / fault.file).read_text())


def test_what_changes_no_answer_is_a_line_of_the_code_of_today():
    assert UNCHANGED
    for each in UNCHANGED:
        text = (ROOT / each["file"]).read_text()
        changes = drawn.in_python(text) if each["file"].endswith(".py") else drawn.in_sql(text)
        assert (each["old"], each["new"]) in {drawn.shown(text, change) for change in changes}, each


@pytest.mark.parametrize("rule", ["late", "late warning", "late critical as odd_commits clock_ahead"])
def test_changes_are_drawn_in_conditions_of_rules_and_not_in_other_comments(rule):
    text = f"-- age < 2: AND 5.\n-- rule {rule}: age < 3\n-- limit age warning: 4\nSELECT 1\n"
    changes = [(text[change.start : change.end], change.new) for change in drawn.in_sql(text)]
    assert changes == [("<", "<="), ("3", "4"), ("1", "2")]


def test_faults_have_different_names_and_each_area_has_some():
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    assert {fault.area for fault in FAULTS} == AREAS.keys()
    assert all(area.paths(ROOT) for area in AREAS.values())


@pytest.mark.parametrize(
    ("text", "why"),
    [("if a < c:\n    pass\n", "0 times"), ("if a < b < b:\n    a < b\n", "2 times"), ("(a < b", "does not compile")],
)
def test_a_fault_that_cannot_be_planted_is_refused_by_its_name(text, why):
    with pytest.raises(Refused, match=f"^a border: .*{why}"):
        Fault("lag", "a border", "a.py", "a < b", "a <= b").plant(text)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project of one rule and one test, whose output of pytest is real."""
    root = tmp_path / "root"
    shutil.copytree(ROOT / "tests/planted", root / "tests/planted")
    (root / "rule.py").write_text("def is_late(age):\n    return age > 3\n")
    (root / "tests/test_rule.py").write_text(
        "import rule\ndef test_three_is_not_late():\n    assert not rule.is_late(3)\n"
    )
    (root / ".venv").mkdir()
    (root / "pytest.ini").write_text("[pytest]\npythonpath = .\naddopts = --import-mode=importlib\n")
    for name in ("lanes.py", "durations.json"):
        shutil.copy(ROOT / "tests" / name, root / "tests" / name)
    os.symlink(ROOT / "jobs", root / "jobs")
    return Copy(tmp_path / "copy", root)


def test_a_fault_is_only_in_the_copy_and_only_while_its_tests_run(project):
    fault = Fault("lag", "a border", "rule.py", "return age > 3", "return age >= 3")
    outcome = project.run(fault, Area("lag", ["tests/test_none*", "tests/test_rule.py"], "not soak"), 60, "1")
    assert (outcome.word, outcome.test) == ("caught", "tests/test_rule.py::test_three_is_not_late")
    for root in (project.root, project.folder):
        assert (root / "rule.py").read_text() == "def is_late(age):\n    return age > 3\n"


@pytest.mark.parametrize(
    ("code", "output", "word", "test"),
    [
        (0, "tests/a.py::a PASSED [ 50%]\ntests/a.py::b PASSED [100%]\n", "missed", ""),
        (1, "tests/a.py::a PASSED [ 50%]\ntests/a.py::b[x y] FAILED [ 99%]\n", "caught", "tests/a.py::b[x y]"),
        (1, "tests/a.py::a ERROR [ 50%]\n", "caught", "tests/a.py::a"),
        (-11, "tests/a.py::a PASSED [ 50%]\ntests/a.py::b \nFatal error\n", "caught", "tests/a.py::b"),
        (None, "tests/a.py::a PASSED [ 50%]\ntests/a.py::b ", "timed out", "tests/a.py::b"),
        (2, "ERROR collecting tests/a.py\nE   NameError: name 'a'\n1 error\n", "invalid", "NameError: name 'a'"),
    ],
)
def test_what_pytest_says_decides_what_becomes_of_a_fault(code, output, word, test):
    assert planting.outcome(code, output, 1.0) == Outcome(word, 1.0, test)


def test_only_a_missed_or_refused_fault_ends_the_run_with_1(capsys):
    faults = [replace(FAULTS[0], name=name) for name in "abcde"]
    outcomes = {fault: Outcome("caught", 1.0, "tests/a.py::a") for fault in faults}
    assert command.summed(outcomes, is_drawn=False) == 0
    for word in ("missed", "timed out", "invalid"):
        assert command.summed(outcomes | {faults[0]: Outcome(word, 1.0)}, is_drawn=False) == 1
    assert command.summed(outcomes | {faults[0]: Outcome("missed", 1.0)}, is_drawn=True) == 0
    assert "4 of 5 caught" in capsys.readouterr().out


def test_what_is_drawn_changes_what_the_code_computes_and_no_text():
    python = 'def f(a: int = 1) -> list[int]:\n    """At 2."""\n    return sorted([f"{3}", a], key=lambda x: (x, -x))\n'
    sql = "-- of 4\nSELECT coalesce(a, 5), '6' FROM t WHERE b < 7 AND c ORDER BY a, b DESC\n"
    news = [sorted(drawn.shown(text, change)[1] for change in find(text)) for text, find in
            ((python, drawn.in_python), (sql, drawn.in_sql))]  # fmt: skip
    assert news[0] == [
        'def f(a: int = 0) -> list[int]:',
        'def f(a: int = 2) -> list[int]:',
        'return sorted([f"{3}", a], key=lambda x: (x, x))',
        'return sorted([f"{3}", a], key=lambda x: (x,))',
        "return sorted([f'{3}', a])",
    ]  # fmt: skip
    assert {each.partition("SELECT ")[2] for each in news[1]} == {
        "a, '6' FROM t WHERE b < 7 AND c ORDER BY a, b DESC",
        "coalesce(a, 6), '6' FROM t WHERE b < 7 AND c ORDER BY a, b DESC",
        "coalesce(a, 5), '6' FROM t WHERE b <= 7 AND c ORDER BY a, b DESC",
        "coalesce(a, 5), '6' FROM t WHERE b < 8 AND c ORDER BY a, b DESC",
        "coalesce(a, 5), '6' FROM t WHERE b < 7 OR c ORDER BY a, b DESC",
        "coalesce(a, 5), '6' FROM t WHERE b < 7 AND c ORDER BY a",
    }


def test_one_seed_draws_one_list_without_what_changes_nothing(monkeypatch):
    area = replace(AREAS["findings"], code=("udfs/rules/findings/steps_back.py",))
    faults = drawn.draw(area, 20, "1", [])
    assert faults == drawn.draw(area, 20, "1", []) != drawn.draw(area, 20, "2", [])
    old, new = faults[0].name.partition(": ")[2].split("  →  ")
    assert faults[0] not in drawn.draw(area, 10_000, "1", [{"file": faults[0].file, "old": old, "new": new}])
    for fault in faults:
        assert fault.plant((ROOT / fault.file).read_text()) != (ROOT / fault.file).read_text()
