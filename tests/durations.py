"""How long each test file took, kept for the next run: files that take longest are begun first (tests/file_order.py).

Every run of several processes writes what it saw to `test_durations.json` in the cache folder: seconds by the clock,
and processor seconds of the tests and of the programs they waited for. `python -m tests.durations` lists them and
keeps them in the tree, for machines that have run nothing yet.
"""

import json
import resource
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from jobs.spark.cache_folder import cache_folder

IN_TREE = Path(__file__).with_name("durations.json")
PROCESSOR_SECONDS = "processor_seconds"


@dataclass
class FileDuration:
    seconds: float = 0.0
    processor_seconds: float = 0.0


def in_cache() -> Path:
    return cache_folder() / "test_durations.json"


def known_seconds() -> dict[str, float]:
    """By file; what this machine saw counts more than what is in the tree."""
    seconds: dict[str, float] = {}
    for path in (IN_TREE, in_cache()):
        if path.exists():
            seconds |= {file: each["seconds"] for file, each in json.loads(path.read_text()).items()}
    return seconds


def processor_seconds() -> float:
    usages = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


class Durations:
    """A plugin of pytest. Processes measure their tests; the one that distributes them adds up and writes."""

    def __init__(self, config: pytest.Config) -> None:
        self.is_worker = hasattr(config, "workerinput")
        self.files: defaultdict[str, FileDuration] = defaultdict(FileDuration)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.before = processor_seconds()
        return (yield)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        # Before the last report of the test, which takes it along. What a teardown costs counts for the next test.
        item.user_properties.append((PROCESSOR_SECONDS, processor_seconds() - self.before))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        file = self.files[report.location[0]]
        file.seconds += report.duration
        if report.when == "teardown":
            file.processor_seconds += sum(
                seconds for name, seconds in report.user_properties if name == PROCESSOR_SECONDS
            )

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        # A run of one process is of few tests, mostly.
        if self.is_worker or not session.config.pluginmanager.has_plugin("dsession"):
            return
        path = in_cache()
        earlier = json.loads(path.read_text()) if path.exists() else {}
        now = {name: {key: round(value, 1) for key, value in vars(file).items()} for name, file in self.files.items()}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(earlier | now, indent=0, sort_keys=True) + "\n")


def main() -> None:
    root = Path(__file__).parents[1]
    files = {name: each for name, each in json.loads(in_cache().read_text()).items() if (root / name).exists()}
    for name, each in sorted(files.items(), key=lambda pair: -pair[1]["seconds"]):
        sys.stdout.write(f"{each['seconds']:8.1f} s {each['processor_seconds']:8.1f} s of a processor  {name}\n")
    IN_TREE.write_text(json.dumps(files, indent=0, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
