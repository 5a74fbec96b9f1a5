"""Settings: the file lists every declaration, and what is wrong in a file is reported with its place."""

import re
from pathlib import Path

import pytest

from jobs.configuration.settings import Group, Ingest, Settings, Tables, settings_hash
from jobs.configuration.settings_file import load_settings, settings_file
from jobs.output.failure import Failure
from schemas.words.exit_codes import ExitCode

ROOT = Path(__file__).parents[3]


def written(folder: Path, text: str) -> Path:
    path = folder / "own.toml"
    path.write_text(text)
    return path


def test_the_file_of_the_project_lists_every_setting_with_its_default() -> None:
    path = ROOT / "conf/groupscope.toml"
    assert path.read_text() == settings_file()
    assert load_settings(path) == Settings()


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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[ingest]\nmax_rejected = 0.1", "[ingest] max_rejected: no such setting, the nearest is max_rejected_share"),
        (
            "[verdicts]\nexpire_group_s = 1",
            "[verdicts] expire_group_s: no such setting, the nearest is [burrow] expire_group_s",
        ),
        (
            "[burrow]\nexpire_group_s = 0",
            "[burrow] expire_group_s = 0; give a whole number from 1 to 315_360_000",
        ),
        (
            "[gate]\nstorm_rebalances_per_hour = 30",
            "[gate] storm_rebalances_per_hour: is no setting any more; give storm_rebalances and storm_gap_s instead",
        ),
        ("[table]\nsmall_files = 3", "[table]: no such setting, the nearest is [tables]"),
        ("small_files = 3", "small_files: no such setting, the nearest is [tables] small_files"),
        ("tables = 3", "tables = 3; give a section [tables]"),
        (
            "[ingest]\nmax_rejected_share = 1.5",
            "[ingest] max_rejected_share = 1.5; give a share from 0 to 1",
        ),
        ("[ingest]\nmax_rejected_share = nan", "[ingest] max_rejected_share = nan; give a share from 0 to 1"),
        ("[ingest]\nmax_rejected_share = true", "[ingest] max_rejected_share = true; give a share from 0 to 1"),
        (
            "[burrow]\nexpire_group_s = true",
            "[burrow] expire_group_s = true; give a whole number from 1 to 315_360_000",
        ),
        ("[tables]\nsmall_files = 1", "[tables] small_files = 1; give a whole number from 2 to 1_000_000_000"),
        ("[tables]\nsmall_files = 2.5", "[tables] small_files = 2.5; give a whole number from 2 to 1_000_000_000"),
        (
            "[tables]\nsmall_file_bytes = 268435456",
            "[tables] small_file_bytes = 268435456 is larger than file_bytes = 134217728; make it smaller",
        ),
        ("[broker]\ndefault_assignor = 1", "[broker] default_assignor = 1; give a text"),
        *(
            (
                f"[broker]\nrelease = {release}",
                f'[broker] release = {release}; give a release from "2.0" to "4.4", such as "4.1", "3.7-new", or ""',
            )
            for release in ('"4.9"', '"4.1.2"', '"4.0-new"', "4.1")
        ),
        ("[groups]\npattern = 'g'", "[groups]; give sections [[groups]]"),
        ("groups = ['g']", "groups = ['g']; give sections [[groups]]"),
        ("[[group]]\npattern = 'g'", "group: no such setting, the nearest is [[groups]]"),
        (
            "[[groups]]\nredundancy = 2",
            "[[groups]] number 1: pattern is missing; give a regular expression for the ids of the groups",
        ),
        (
            "[[groups]]\npattern = 'g'\n[[groups]]\npatern = 'h'",
            "[[groups]] number 2: patern: no such setting, the nearest is pattern",
        ),
        (
            "[[groups]]\npattern = 'a(b'",
            '[[groups]] number 1: pattern = "a(b"; give a regular expression: missing ), unterminated '
            "subpattern at position 1",
        ),
        (
            "[[groups]]\npattern = 'g'\ncopartitioned = ['a', 'b']",
            "copartitioned = ['a', 'b']; give a list of lists, each with two or more different topics",
        ),
        (
            "[[groups]]\npattern = 'g'\ncopartitioned = [['a', 'b'], ['c', 'c']]",
            "copartitioned = [['a', 'b'], ['c', 'c']]; give a list of lists, each with two or more different topics",
        ),
        (
            "[[groups]]\npattern = 'g'\ncopartitioned = [['a']]",
            "copartitioned = [['a']]; give a list of lists, each with two or more different topics",
        ),
        (
            "[[groups]]\npattern = 'g'\nredundancy = 0",
            "redundancy = 0; give a whole number from 1 to 2_147_483_647",
        ),
        (
            "[[groups]]\npattern = 'g'\nredundancy = 2147483648",
            "redundancy = 2147483648; give a whole number from 1 to 2_147_483_647",
        ),
        ("[[groups]]\npattern = 'g'\nis_rack_local = 1", "is_rack_local = 1; give true or false"),
        ("redundancy = 2", "redundancy: no such setting, the nearest is [[groups]] redundancy"),
    ],
)
def test_a_wrong_setting_is_reported_with_file_key_value_and_what_was_expected(
    tmp_path: Path, text: str, message: str
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(Failure) as failure:
        load_settings(path)
    assert (failure.value.code, str(failure.value).count("\n")) == (ExitCode.USAGE, 0)
    assert str(failure.value).startswith(f"{path}")
    assert str(failure.value).endswith(message)


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
