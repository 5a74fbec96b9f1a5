"""Two trees in pairs: the limit of each command, and the step that is timed alone."""

from benchmarks import before
from benchmarks.generations import Shape, write_generations


def verdict(clock, at_most):
    return before.Compared("step", 1.0, 1.0, clock, clock, at_most).cells()[-1]


def test_each_command_has_its_own_limit_or_none():
    assert [verdict(1.4, each) for each in (1.3, 1.5, None)] == ["missed", "reached", ""]


def test_the_step_of_assignments_is_timed_on_small_groups_on_rebalances_and_on_one_large_group(tmp_path):
    names = [each.name for each in before.commands(tmp_path, 1_000) if each.name.startswith("assignments")]
    assert names == [
        "assignments of 1,000 records, mix",
        "assignments of 20,000 small groups, many-groups",
        "assignments of 8,000 rebalances, generations",
        "assignments of one group of 5,000 members, large-group",
    ]
    whole = {each.name: each.at_most for each in before.commands(tmp_path, 1_000, is_whole=True)}
    assert whole["assignments of 200,000 small groups, many-groups"] == 1.3
    assert whole["assignments of 50,000 rebalances, generations"] == 1.5


def test_the_last_step_runs_again_and_again_after_the_others(tmp_path):
    write_generations(log := tmp_path / "log", Shape(groups=1, generations=2, members=2))
    tree = before.Tree(before.ROOT, tmp_path)
    assert all(before.last_step("few", lambda: log, before.ASSIGNMENTS, tree) > 0 for _ in range(2))
    assert {"assignment_audit", "assignment_whatif"} <= {each.name for each in (tmp_path / "scratch").iterdir()}
    assert not (tmp_path / "few-before-assignments" / "assignment_audit").exists()
