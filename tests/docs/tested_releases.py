"""The table of tested releases in the README and in docs/inputs.md, from what the tests use.

python -m tests.docs.tested_releases [--check]
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.kafka import jar_sets, releases
from tests.kafka.releases import Release

ROOT: Final = Path(__file__).parents[2]
PAGES: Final = (ROOT / "README.md", ROOT / "docs" / "inputs.md")
TABLE: Final = re.compile(r"^\| part \| tested releases \|\n(?:\|.*\n)+", re.M)
# What a release's name ends with, where it has two coordinators.
COORDINATORS: Final = {"old": "old coordinator", "new": "new coordinator"}
LOCKS: Final = ("requirements.lock", "requirements-dev.lock")
LIBRARIES: Final = {"confluent-kafka": "confluent-kafka (librdkafka)", "kafka-python": "kafka-python"}


def table() -> str:
    rows = {
        "layouts of records, against Kafka's own classes": ", ".join(versions_of_classes()),
        "brokers, each with a log of its own": ", ".join(brokers()),
        "clients": ", ".join(clients()),
        "Python": "3.11; 3.13 for the local engine alone, by pip",
        "Spark": f"{locked('pyspark')}, with Delta {locked('delta-spark')}",
    }
    lines = ["| part | tested releases |", "|---|---|", *(f"| {part} | {of} |" for part, of in rows.items())]
    return "".join(f"{line}\n" for line in lines)


def number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def versions_of_classes() -> list[str]:
    named = (name.removeprefix("kafka-") for name in jar_sets.JAR_SETS if re.fullmatch(r"kafka-[\d.]+", name))
    return sorted(named, key=number)


def brokers() -> Iterator[str]:
    """A release that another one extends, such as by a class of its own, has the same name."""
    names = {each.name for each in vars(releases).values() if isinstance(each, Release)}
    by_version: dict[str, list[str]] = {}
    for name in sorted(names, reverse=True):
        version, _, kind = name.partition("-")
        by_version.setdefault(version, []).extend([kind] if kind in COORDINATORS else [])
    for version in sorted(by_version, key=number):
        kinds = [COORDINATORS[kind] for kind in by_version[version]]
        yield f"{version} ({', '.join(kinds)})" if kinds else version


def clients() -> Iterator[str]:
    newest = max((name.partition("-")[0] for name in releases.RELEASES), key=number)
    yield f"Java {newest}, in some tests that of the broker's release"
    for package, shown in LIBRARIES.items():
        yield f"{shown} {locked(package)}"


def locked(package: str) -> str:
    text = "".join((ROOT / name).read_text(encoding="utf-8") for name in LOCKS)
    version = re.search(rf"^{package}==(\S+)", text, re.M)
    assert version is not None, package
    return version[1]


def main(arguments: list[str]) -> int:
    code = 0
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        whole, count = TABLE.subn(table(), text)
        assert count == 1, page
        if whole != text and arguments == ["--check"]:
            sys.stderr.write(f"{page}: run python -m tests.docs.tested_releases\n")
            code = 1
        elif whole != text:
            page.write_text(whole, encoding="utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
