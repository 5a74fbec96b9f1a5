"""Settings: the file lists every declaration, and what is wrong in a file is reported with its place."""

import re
from pathlib import Path

import pytest

from jobs.configuration.settings import Group, Ingest, Settings, Tables, load_settings, settings_hash
from jobs.output.failure import Failure
from schemas.words.exit_codes import ExitCode

ROOT = Path(__file__).parents[3]
# Files with what is wrong in each, as somebody read it.
CASES = Path(__file__).with_name("wrong_settings.txt").read_text().split("\n\n")
WRONG = dict(case.rstrip("\n").rsplit("\n--- own.toml", 1) for case in CASES)


def written(folder: Path, text: str) -> Path:
    path = folder / "own.toml"
    path.write_text(text)
    return path


def test_the_file_of_the_project_lists_every_setting_with_its_default() -> None:
    assert load_settings(ROOT / "conf/groupscope.toml") == Settings()


def test_settings_come_from_the_file_that_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, "[ingest]\nmax_rejected_share = 0.5\n[tables]\nsmall_files = 3\n")
    assert load_settings(path) == Settings(Ingest(max_rejected_share=0.5), Tables(small_files=3))


def test_there_may_be_any_number_of_rules_for_groups(tmp_path: Path) -> None:
    text = """
        [[groups]]
        pattern = "orders-.*"
        copartitioned = [["orders", "customers"], ["a", "b", "c"]]
        [[groups]]
        pattern = "cache"
        redundancy = 2
        is_rack_local = true
    """
    result = load_settings(written(tmp_path, text)).groups
    assert result == (
        Group("orders-.*", (("orders", "customers"), ("a", "b", "c"))),
        Group("cache", redundancy=2, is_rack_local=True),
    )
    assert settings_hash(Settings(groups=result)) != settings_hash(Settings(groups=result[::-1]))


def test_the_example_of_a_rule_in_the_file_of_the_project_is_one(tmp_path: Path) -> None:
    _, _, example = (ROOT / "conf/groupscope.toml").read_text().partition("#   [[groups]]")
    text = "[[groups]]" + re.sub(r"\n#( {3})?", r"\n", example)
    assert load_settings(written(tmp_path, text.replace('pattern = ""', 'pattern = ".*"'))).groups == (Group(".*"),)


def test_without_a_name_the_file_in_conf_counts_and_without_that_the_defaults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_settings() == Settings()
    Path("conf").mkdir()
    Path("conf/groupscope.toml").write_text("[tables]\nsmall_files = 5\n")
    assert load_settings() == Settings(tables=Tables(small_files=5))


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_setting_is_reported_with_file_key_value_and_what_was_expected(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.toml").write_text(text)
    with pytest.raises(Failure) as failure:
        load_settings(Path("own.toml"))
    assert (failure.value.code, str(failure.value)) == (ExitCode.USAGE, f"own.toml{WRONG[text]}")


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "No such file"), (b"[ingest", "; write it as TOML"), (b"\xff = 1", "; write it as TOML")],
    ids=["absent", "no TOML", "no UTF-8"],
)
def test_a_file_that_is_none_of_settings_is_reported_in_one_line(
    tmp_path: Path, content: bytes | None, message: str
) -> None:
    path = tmp_path / "own.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(Failure, match=message) as failure:
        load_settings(path)
    assert failure.value.code == ExitCode.USAGE
    assert "\n" not in str(failure.value)


def test_the_hash_is_of_the_values_and_not_of_how_they_are_written(tmp_path: Path) -> None:
    whole = load_settings(written(tmp_path, "[ingest]\nmax_rejected_share = 0"))
    broken = load_settings(written(tmp_path, "# none\n[ingest]\nmax_rejected_share = 0.0"))
    assert settings_hash(whole) == settings_hash(broken) != settings_hash(Settings())
    # As warehouses have it: a section or key of another name would be other settings.
    assert settings_hash(Settings()) == "10a5ca2c44209c45"
