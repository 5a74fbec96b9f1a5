"""What the project is made of besides its own code: the packages of both locks and the jars that an audit with Spark
uses, their licences, their known flaws.

    python .ci/supply.py packages FILE    the packages that the product needs, with versions and hashes
    python .ci/supply.py local FILE       those of them that the local engine needs: without Spark and Java
    python .ci/supply.py bill FILE        the bill of materials, in the JSON of CycloneDX 1.6
    python .ci/supply.py advisories       compares the locks with published advisories, by pip-audit
    python .ci/supply.py beside LOCK ALL  prints the lines of ALL for packages that LOCK does not hold: `make lock`

The same tree gives the same bytes: a bill has no time and no serial number. `advisories` ends with 0 if every package
was checked and none has a known flaw, with 1 if one has, with 2 if some or all could not be checked: a package about
which nothing is known is not one without flaws.
"""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, metadata, requires
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from jobs.spark.jars import DELTA
from udfs.sentences.counts import counted

ROOT = Path(__file__).parents[1]
# What the product needs, and what its development needs besides.
LOCK, DEVELOPMENT_LOCK = ROOT / "requirements.lock", ROOT / "requirements-dev.lock"
PACKAGE = re.compile(r"^([a-z0-9._-]+)==(\S+)(.*?)(?=^[a-z0-9]|\Z)", re.MULTILINE | re.DOTALL)
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
# The jars do not say it; these are the licences of both projects.
OF_ORGANISATIONS = {"io.delta": "Apache-2.0", "io.unitycatalog": "Apache-2.0"}
CLEAN, FLAWS, UNCHECKED = 0, 1, 2
PIP_AUDIT = ("pip_audit", "--require-hashes", "--disable-pip", "--progress-spinner", "off", "--format", "json")


class Package(NamedTuple):
    name: str
    version: str
    hashes: tuple[str, ...]


def packages_in(lock: Path) -> list[Package]:
    matches = PACKAGE.findall(lock.read_text())
    return [Package(name, version, tuple(HASH.findall(rest))) for name, version, rest in matches]


def local_packages() -> list[Package]:
    """What the extras `local` and `kafka` name, and what these need, as the installed packages declare it."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    done: set[tuple[str, str]] = set()
    waiting = [(canonicalize_name(Requirement(each).name), "") for each in (*extras["local"], *extras["kafka"])]
    while waiting:
        name, extra = waiting.pop()
        done.add((name, extra))
        for requirement in map(Requirement, requires(name) or []):
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                package = canonicalize_name(requirement.name)
                waiting += [(package, each) for each in ("", *requirement.extras) if (package, each) not in done]
    names = {name for name, _ in done}
    return [package for package in packages_in(LOCK) if package.name in names]


def licence_of(package: str) -> str:
    """As the installed package states it: an SPDX expression, else its classifiers, else a line of text."""
    try:
        facts = metadata(package).json
    except PackageNotFoundError:
        line = f"{package}: is in a lock, but not installed; run `make setup`, then this command again"
        raise SystemExit(line) from None
    if expression := facts.get("license_expression"):
        return str(expression)
    classifiers = [each for each in facts.get("classifier", ()) if each.startswith("License ::")]
    if stated := [each.rpartition(" :: ")[2] for each in classifiers if not each.endswith("OSI Approved")]:
        return ", ".join(stated)
    lines = str(facts.get("license", "")).strip().splitlines()
    return lines[0][:80] if lines else "not stated by the package"


def licences() -> dict[str, list[tuple[str, str, str]]]:
    """The rows of docs/licences.md."""
    jars = [artifact.split(":") for artifact in DELTA.artifacts]
    used, for_development = (
        [(each.name, each.version, licence_of(each.name)) for each in packages_in(lock)]
        for lock in (LOCK, DEVELOPMENT_LOCK)
    )
    return {
        "Packages that Groupscope uses": used,
        "Packages for development only": for_development,
        "Jars for Spark": [(f"{owner}:{name}", version, OF_ORGANISATIONS[owner]) for owner, name, version in jars],
    }


def lines_of(packages: Iterable[Package]) -> Iterator[str]:
    for package in packages:
        hashes = (f"    --hash=sha256:{each}" for each in package.hashes)
        yield " \\\n".join([f"{package.name}=={package.version}", *hashes])


def beside(lock: Path, every: Path) -> str:
    """Without the remarks about the lock, which are in each of its packages."""
    text, known = every.read_text(), {each.name for each in packages_in(lock)}
    head = "".join(takewhile(lambda line: line.startswith("#"), text.splitlines(keepends=True)))
    return head + "".join(match[0] for match in PACKAGE.finditer(text) if match[1] not in known)


def bill() -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    own = {
        "type": "application", "bom-ref": f"pkg:generic/{project['name']}@{project['version']}",
        "name": project["name"], "version": project["version"], "licenses": [{"license": {"id": project["license"]}}],
    }  # fmt: skip
    packages = [package_part(each, lock is LOCK) for lock in (LOCK, DEVELOPMENT_LOCK) for each in packages_in(lock)]
    head = {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "metadata": {"component": own}}
    parts = [*packages, *map(jar_part, DELTA.artifacts)]
    return json.dumps({**head, "components": parts}, indent=1, ensure_ascii=False) + "\n"


def package_part(package: Package, is_needed: bool) -> dict[str, Any]:
    place = f"pkg:pypi/{package.name}@{package.version}"
    return {
        "type": "library", "bom-ref": place, "name": package.name, "version": package.version,
        # What development needs is not shipped.
        "scope": "required" if is_needed else "excluded",
        "licenses": [{"license": {"name": licence_of(package.name)}}], "purl": place,
        # Of each file that may be installed: which one it is depends on the machine.
        "properties": [{"name": "groupscope:locked:sha256", "value": each} for each in package.hashes],
    }  # fmt: skip


def jar_part(artifact: str) -> dict[str, Any]:
    organisation, name, version = artifact.split(":")
    place = f"pkg:maven/{organisation}/{name}@{version}"
    return {
        "type": "library", "bom-ref": place, "group": organisation, "name": name, "version": version,
        "scope": "required", "licenses": [{"license": {"id": OF_ORGANISATIONS[organisation]}}], "purl": place,
    }  # fmt: skip


def advisories() -> int:
    command = [sys.executable, "-m", *PIP_AUDIT, "--requirement", str(LOCK), "--requirement", str(DEVELOPMENT_LOCK)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        packages = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError, TypeError):
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        sys.stdout.write(f"Nothing was checked: no service of advisories could be asked. pip-audit says: {last}\n")
        return UNCHECKED
    lines, code = verdict(packages)
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return code


def verdict(packages: Sequence[Mapping[str, Any]]) -> tuple[list[str], int]:
    skipped = [each["name"] for each in packages if "skip_reason" in each]
    if packages and len(skipped) == len(packages):
        line = "Nothing was checked: the service of advisories that answers here knows none of the packages."
        return [line], UNCHECKED
    flaws = [(f"{each['name']} {each['version']}: {flaw['id']}", flaw.get("fix_versions"))
             for each in packages for flaw in each.get("vulns", ())]  # fmt: skip
    lines = [f"{flaw}, mended in {', '.join(fixed or ['no release'])}" for flaw, fixed in flaws]
    if skipped:
        lines.append(f"Not checked, since the service of advisories does not know them: {', '.join(skipped)}")
    checked = f"{counted(len(packages) - len(skipped), 'package')} checked"
    if flaws:
        return [*lines, f"{checked}."], FLAWS
    return [*lines, f"{checked}, none has a known flaw."], UNCHECKED if skipped or not packages else CLEAN


def main(arguments: Sequence[str]) -> int:
    match arguments:
        case ["advisories"]:
            return advisories()
        case ["beside", lock, every]:
            sys.stdout.write(beside(Path(lock), Path(every)))
            return 0
        case ["bill", file]:
            Path(file).write_text(bill())
        case ["packages" | "local" as what, file]:
            packages = local_packages() if what == "local" else packages_in(LOCK)
            Path(file).write_text("".join(f"{line}\n" for line in lines_of(packages)))
        case _:
            sys.exit(__doc__)
    sys.stdout.write(f"{arguments[-1]}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
