"""What answers from a warehouse, or goes on in one, makes none where there is none: a name mistyped stays a mistake."""

from pathlib import Path

import pytest

from jobs import cli

COMMANDS = (
    ["replay"],
    ["replay", "--full"],
    ["assignments"],
    ["groups"],
    ["why", "billing"],
    ["rebalances", "billing"],
    ["partition", "billing"],
    ["mark", "billing 2.4.1"],
    ["doctor"],
    ["whatif", "g"],
)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_where_there_is_no_warehouse_none_is_made(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    for name, result in (("absent", "no such folder"), ("empty", "no _warehouse.json in it")):
        assert cli.main([*words, "--warehouse", str(tmp_path / name)]) == 23
        advice = "give the folder of a warehouse, or create one with `groupscope audit`"
        expected = f"groupscope: {tmp_path / name}: {result}; {advice}\n"
        assert capsys.readouterr() == ("", expected)
    assert [path.name for path in tmp_path.rglob("*")] == ["empty"]
