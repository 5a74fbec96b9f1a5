"""Completion as real shells give it, from the sample's warehouse."""

from pathlib import Path

import pytest

from tests.terminals.shells import offered

SHELLS = ["bash", "zsh", "fish"]


@pytest.mark.parametrize("shell", SHELLS)
def test_commands_flags_and_choices_are_completed(shell: str, folder: Path) -> None:
    assert set(offered(shell, "groupscope re", folder)) == {"rebalances", "replay", "report"}
    assert offered(shell, "groupscope why --fo", folder) == ["--format"]
    assert set(offered(shell, "groupscope why x --format ", folder)) == {"table", "csv", "json"}
    # An instant is anybody's guess, and no file.
    assert offered(shell, "groupscope why x --at ", folder) == []
    assert offered(shell, "groupscope why x --tz Europe/Berl", folder) == ["Europe/Berlin"]


@pytest.mark.parametrize("shell", SHELLS)
def test_groups_and_topics_come_from_the_warehouse(shell: str, folder: Path) -> None:
    story = {"classic-static", "classic-sticky", "classic-storm"}
    assert set(offered(shell, "groupscope why classic-st", folder)) == story
    assert offered(shell, "groupscope owner cl", folder) == ["clicks"]
    assert offered(shell, "groupscope why --warehouse nowhere classic-st", folder) == []


def test_a_source_is_completed_by_its_form_and_then_by_files(folder: Path) -> None:
    assert offered("fish", "groupscope ingest --source seg", folder) == ["segments"]
    assert offered("bash", f"groupscope ingest --source segments:{folder}/ware", folder) == [f"{folder}/warehouse/"]
