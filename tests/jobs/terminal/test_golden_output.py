"""Every command on the sample, compared whole with what was read by eye."""

from pathlib import Path

import pytest

from jobs.reporting import report_folder
from tests.runs.typed_here import typed_here
from tests.terminals.golden_output import COLUMNS, COMMANDS, GOLDEN, WRITING, Run, output, outputs, spawned


@pytest.fixture(
    scope="module",
    params=[typed_here, pytest.param(spawned, marks=pytest.mark.soak)],
    ids=["in this process", "in processes of their own"],
)
def run(request: pytest.FixtureRequest) -> Run:
    result: Run = request.param
    return result


@pytest.fixture(scope="module")
def folder(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where they are typed."""
    return tmp_path_factory.mktemp("golden")


@pytest.fixture(scope="module")
def printed(run: Run, folder: Path) -> dict[str, str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", COLUMNS)
        # Where commands have it that are not in tests: in the folder.
        patch.setattr(report_folder, "local_default", lambda place: report_folder.DEFAULT)
        return dict(outputs(folder, run))


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_prints_what_was_read_by_eye(name: str, printed: dict[str, str]) -> None:
    assert printed[name] == text_of(name)


@pytest.mark.drawn(3)
@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in WRITING])
@pytest.mark.parametrize("run", [typed_here], ids=["afterwards"], indirect=True)
def test_a_process_of_its_own_prints_the_same(name: str, folder: Path, printed: dict[str, str]) -> None:
    assert output(name, folder, spawned) == text_of(name)


def text_of(name: str) -> str:
    return (GOLDEN / f"{name}.txt").read_text()


def test_no_file_is_of_a_command_that_is_not_run() -> None:
    assert {path.stem for path in GOLDEN.iterdir()} == set(COMMANDS)
