"""Which process of a run takes which file of tests, and when: a plugin of pytest-xdist (`--dist loadfile`).

Each process that uses a Spark session starts one, so two processes take all files with one. Files that mostly wait, for
brokers, for servers that sleep, have one or two processes of their own, so that the others always compute. Who has done
the files of its lane helps others, but not those with Spark. What takes long comes first, so that all end together.

Every run of several processes writes how long files took to `test_durations.json` in the cache folder: seconds by the
clock, and processor seconds of the tests and of the programs they waited for. `python -m tests.lanes` lists them and
keeps them in the tree, for machines that have run nothing yet.
"""

import json
import re
import resource
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest
from xdist.scheduler import LoadFileScheduling

from jobs.spark.cache_folder import cache_folder

ROOT = Path(__file__).parents[1]
IN_TREE = Path(__file__).with_name("durations.json")
SPARK = "spark"
# An argument of this name: the fixture, whose tests share a session. Those that only start a Java have no such lane.
ASKS_FOR_SESSION = re.compile(r"""(?<![.\w"'])spark[:,)]""")
WAITS, COMPUTES = "waits", "computes"
# Whose lanes they are: the first two processes of Spark, and of four or more the last ones of those that wait.
MOST_WITH_SPARK, LEAST_WITH_WAITING = 2, 4
HELPS = {SPARK: (SPARK, COMPUTES, WAITS), COMPUTES: (COMPUTES, WAITS), WAITS: (WAITS, COMPUTES)}
# Beside others a file that computes has half a core.
WAITING_FRACTION = 0.25
# Of files that never ran here: a guess by what they name.
GUESSED_SECONDS = {"mark.broker": 30.0, "mark.spark": 30.0, "mark.browser": 20.0, "": 2.0}
# A process runs a test when it knows the next one, or that there is none.
AT_LEAST_KNOWN = 2


def in_cache():
    return cache_folder() / "test_durations.json"


@cache
def durations(path):
    return json.loads(path.read_text()) if path.exists() else {}


@cache
def text_of(path):
    return path.read_text()


@cache
def expected_seconds(file, root=ROOT):
    """What this machine saw counts more than what is in the tree."""
    for known in map(durations, (in_cache(), IN_TREE)):
        if file in known:
            # No file is free: it starts and is reported.
            return max(known[file]["seconds"], 0.1)
    return max(seconds for word, seconds in GUESSED_SECONDS.items() if word in text_of(root / file))


@cache
def lane_of(file, root=ROOT):
    """By what an idle machine saw: on a busy one all files wait."""
    if ASKS_FOR_SESSION.search(text_of(root / file)):
        return SPARK
    if (known := durations(IN_TREE).get(file)) is None:
        return WAITS if "mark.broker" in text_of(root / file) else COMPUTES
    return WAITS if known["processor_seconds"] < WAITING_FRACTION * known["seconds"] else COMPUTES


def lanes(number):
    """Of so many processes. A few take what there is, with Spark in half of them."""
    with_spark = min(MOST_WITH_SPARK, (number + 1) // 2)
    waiting = 0 if number < LEAST_WITH_WAITING else max(1, number - 3)
    return [SPARK] * with_spark + [COMPUTES] * (number - with_spark - waiting) + [WAITS] * waiting


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return FileDistribution(config, log) if config.getvalue("dist") == "loadfile" else None


class FileDistribution(LoadFileScheduling):
    """Also when a process dies. Version 3.8.0 of pytest-xdist puts all files that a dead process had on the list again,
    finished ones too. Processes that are then given nothing to run wait for ever, and the test that killed one process
    kills the next (pytest-dev/pytest-xdist#1378, #1371). It also gives files to a process that has started in the place
    of a dead one and does not know its tests yet: they are never sent to it. A release that has all three mended needs
    only the choice of files from here.
    """

    def __init__(self, config, log=None):
        super().__init__(config, log)
        self.lanes = {}

    def add_node(self, node):
        """In the place of a dead one it takes that one's lane."""
        super().add_node(node)
        free = lanes(self.numnodes)
        for lane in self.lanes.values():
            free.remove(lane)
        self.lanes[node] = free[0]

    def remove_node(self, node):
        """The test during which the process died, if it did. It has failed; what was not run is for others."""
        files = self.assigned_work.pop(node)
        del self.lanes[node]
        not_run = [(file, test) for file, tests in files.items() for test, is_done in tests.items() if not is_done]
        if not not_run:
            return None
        file, died_in = not_run[0]
        files[file][died_in] = True
        self.workqueue.update({file: tests for file, tests in files.items() if not all(tests.values())})
        for other in self.nodes:
            self._reschedule(other)
        return died_in

    def next_file(self, node):
        """None: what is left is for others."""
        for lane in HELPS[self.lanes[node]]:
            for file in self.workqueue:
                if lane_of(file, self.config.rootpath) == lane:
                    return file
        return None

    def _assign_work_unit(self, node):
        file = self.next_file(node)
        if file is not None:
            self.workqueue.move_to_end(file, last=False)
            super()._assign_work_unit(node)

    def _reschedule(self, node):
        """A process that has not collected its tests yet comes here again when it has."""
        if node not in self.registered_collections or node.shutting_down:
            return
        while self.next_file(node) and self._pending_of(self.assigned_work[node]) < AT_LEAST_KNOWN:
            self._assign_work_unit(node)
        if self.next_file(node) is None:
            node.shutdown()


def processor_seconds():
    usages = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


class Durations:
    """Processes measure their tests; the one that distributes them adds up and writes."""

    def __init__(self, config):
        self.is_worker = hasattr(config, "workerinput")
        self.files = defaultdict(lambda: {"seconds": 0.0, "processor_seconds": 0.0})

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        self.before = processor_seconds()
        return (yield)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item):
        # Before the last report of the test, which takes it along. What a teardown costs counts for the next test.
        item.user_properties.append(("processor_seconds", processor_seconds() - self.before))

    def pytest_runtest_logreport(self, report):
        file = self.files[report.location[0]]
        file["seconds"] += report.duration
        if report.when == "teardown":
            file["processor_seconds"] += dict(report.user_properties).get("processor_seconds", 0.0)

    def pytest_sessionfinish(self, session):
        # A run of one process is of few tests, mostly.
        if self.is_worker or not session.config.pluginmanager.has_plugin("dsession"):
            return
        path = in_cache()
        earlier = json.loads(path.read_text()) if path.exists() else {}
        now = {name: {key: round(value, 1) for key, value in file.items()} for name, file in self.files.items()}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(earlier | now, indent=0, sort_keys=True) + "\n")

    def pytest_terminal_summary(self, terminalreporter, config):
        """Of `make soak` its parts: who wants one alone runs its file."""
        if config.option.markexpr == "soak" and not config.option.collectonly:
            terminalreporter.section("parts of the soak, in seconds")
            for file, each in sorted(self.files.items(), key=lambda pair: -pair[1]["seconds"]):
                terminalreporter.line(f"{each['seconds']:8.0f}  {file}")


def main():
    files = {name: each for name, each in json.loads(in_cache().read_text()).items() if (ROOT / name).exists()}
    for name, each in sorted(files.items(), key=lambda pair: -pair[1]["seconds"]):
        sys.stdout.write(f"{each['seconds']:8.1f} s {each['processor_seconds']:8.1f} s of a processor  {name}\n")
    IN_TREE.write_text(json.dumps(files, indent=0, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
