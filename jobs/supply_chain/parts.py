"""The packages of requirements.lock and the jars that an audit with Spark uses, each with its licence."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, metadata, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from jobs.spark.jars import DELTA

ROOT = Path(__file__).parents[2]
LOCK = ROOT / "requirements.lock"
PROJECT, EXTRA = "groupscope", "kafka"
PACKAGE = re.compile(r"^([a-z0-9._-]+)==(\S+)(.*?)(?=^[a-z0-9]|\Z)", re.MULTILINE | re.DOTALL)
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
# The jars do not say it; these are the licences of both projects.
OF_ORGANISATIONS = {"io.delta": "Apache-2.0", "io.unitycatalog": "Apache-2.0"}
UNSTATED = "not stated by the package"
LONGEST = 80


@dataclass(frozen=True)
class Package:
    name: str
    version: str
    hashes: tuple[str, ...]


@dataclass(frozen=True)
class Jar:
    organisation: str
    name: str
    version: str

    @property
    def licence(self) -> str:
        return OF_ORGANISATIONS[self.organisation]


def locked_packages(text: str | None = None) -> list[Package]:
    matches = PACKAGE.findall(LOCK.read_text() if text is None else text)
    return [Package(name, version, tuple(HASH.findall(rest))) for name, version, rest in matches]


def needed_packages() -> frozenset[str]:
    """What the project and its extra need, and what these need, as the installed packages declare it; all others are
    for its development. The lock does not say for which extra of a package it holds another one."""
    done: set[tuple[str, str]] = set()
    waiting = [(PROJECT, ""), (PROJECT, EXTRA)]
    while waiting:
        name, extra = waiting.pop()
        done.add((name, extra))
        for requirement in map(Requirement, requires(name) or []):
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                package = canonicalize_name(requirement.name)
                waiting += [(package, each) for each in ("", *requirement.extras) if (package, each) not in done]
    return frozenset(name for name, _ in done) - {PROJECT}


def jars() -> Iterator[Jar]:
    for artifact in DELTA.artifacts:
        yield Jar(*artifact.split(":"))


def licence_of(package: str) -> str:
    """As the installed package states it: an SPDX expression, else its classifiers, else a line of text."""
    try:
        facts = metadata(package).json
    except PackageNotFoundError:
        line = f"{package}: is in requirements.lock, but not installed; run `make setup`, then this command again"
        raise SystemExit(line) from None
    if expression := facts.get("license_expression"):
        return str(expression)
    classifiers = [each for each in facts.get("classifier", ()) if each.startswith("License ::")]
    if stated := [each.rpartition(" :: ")[2] for each in classifiers if not each.endswith("OSI Approved")]:
        return ", ".join(stated)
    lines = str(facts.get("license", "")).strip().splitlines()
    return lines[0][:LONGEST] if lines else UNSTATED
