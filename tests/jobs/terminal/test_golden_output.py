"""Every command on the sample, compared whole with what was read by eye."""

import pytest

from tests.jobs.terminal.golden_output import COMMANDS, GOLDEN, outputs


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return dict(outputs(tmp_path_factory.mktemp("golden")))


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_prints_what_was_read_by_eye(name: str, printed: dict[str, str]) -> None:
    assert printed[name] == (GOLDEN / f"{name}.txt").read_text()


def test_no_file_is_of_a_command_that_is_not_run() -> None:
    assert {path.stem for path in GOLDEN.iterdir()} == set(COMMANDS)
