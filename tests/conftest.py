"""What tests share: one seed a test, printed, and one Spark session a run, started by the first test that asks."""

import gc
import os
import pickle
import secrets
import signal
import sys
from hashlib import sha256

import numpy as np
import pytest

from tests import lanes, short_lived_java
from tests.drawn_cases import VARIABLE, draw_order, draw_seed, is_order_drawn, leave_others_to_soak
from tests.once_a_run import end_servers, folder_of_run, server_of_run

# Few of the objects that tests make are in circles, and Python's own 700 have the collector look for them all the time.
COLLECTED_AFTER = (10_000, 20, 50)
AHEAD = pytest.StashKey["subprocess.Popen[bytes] | None"]()


def pytest_configure(config):
    from jobs.spark.compiled_loops import keep_compiled_loops

    config.pluginmanager.register(lanes.Durations(config))
    config.pluginmanager.register(lanes)
    # Before other processes start, which must draw the same.
    draw_seed()
    keep_compiled_loops()
    # A shell's background job ignores Ctrl-C, and so would every process that a test starts in order to interrupt it.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.update(short_lived_java.of_spark())


def pytest_report_header():
    return f"{VARIABLE}={draw_seed()}"


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """What is collected stays until the end, so Python's garbage collector need not look at it again and again."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()
    gc.set_threshold(*COLLECTED_AFTER)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config, items):
    leave_others_to_soak(config, items)
    if is_order_drawn():
        draw_order(items)
    yield
    if not is_order_drawn():
        # As `item.location` has it, which takes long to make out, for thousands of items that then are deselected.
        items.sort(key=lambda item: -lanes.expected_seconds(item.nodeid.partition("::")[0], config.rootpath))


def pytest_collection_finish(session):
    from tests.kafka import ahead

    session.stash[AHEAD] = ahead.started_for(session)
    # From here on: what was started before goes on as it was.
    if hasattr(session.config, "workerinput"):
        os.nice(ahead.GIVES_WAY)


def pytest_sessionfinish(session):
    from tests.kafka import ahead

    if (running := session.stash.get(AHEAD, None)) is not None:
        ahead.stop(running)
    if not hasattr(session.config, "workerinput"):
        end_servers(session.config._tmp_path_factory)


@pytest.fixture(scope="session", autouse=True)
def own_report(tmp_path_factory):
    """Audits of tests replace no report of whoever runs them."""
    from jobs.reporting import report_folder

    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("default")
        patch.setattr(report_folder, "local_default", lambda place: f"{folder}/{sha256(place.encode()).hexdigest()}")
        yield


@pytest.fixture(scope="session", autouse=True)
def no_waits_for_the_disk():
    """The kernel keeps what a killed process wrote; only a machine that stops would show a difference."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda file: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def no_progress_lines():
    """Commands in this process say no more on a slow machine than on a fast one."""
    from jobs.output import progress

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(progress, "LOG_SECONDS", float("inf"))
        yield


@pytest.fixture(scope="session", autouse=True)
def no_process_that_judges():
    """Great Expectations, which takes seconds to load, is loaded once for all commands in this process."""
    from jobs.gating import run

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "cores", lambda: 1)
        yield


@pytest.fixture(scope="session", autouse=True)
def suites_judged_once(tmp_path_factory):
    """What Great Expectations says of a suite over a frame depends on nothing else, and takes it most of the time of an
    audit of a small log, whose frames mostly have nothing in them: of equal ones a run asks it once."""
    from jobs.gating import judging

    judge = judging.outcomes_of
    folder = folder_of_run(tmp_path_factory) / "judged"
    folder.mkdir(exist_ok=True)
    known = {}

    def outcomes_of(suite, frame, error, validate):
        values = {name: list(each) for name, each in frame.values.items()}
        asked = sha256(repr((suite, frame.table, list(frame.slices), values, error)).encode()).hexdigest()
        file = folder / asked
        if asked not in known and file.exists():
            known[asked] = pickle.loads(file.read_bytes())
        if asked not in known:
            known[asked] = judge(suite, frame, error, validate)
            # Whole or not at all: other processes look for it.
            partial = folder / f"{asked}.{os.getpid()}"
            partial.write_bytes(pickle.dumps(known[asked]))
            partial.rename(file)
        return known[asked]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judging, "outcomes_of", outcomes_of)
        yield


@pytest.fixture
def seed():
    """Another one each time; GROUPSCOPE_SEED repeats a failure."""
    chosen = int(os.environ.get("GROUPSCOPE_SEED") or secrets.randbelow(2**32))
    sys.stdout.write(f"GROUPSCOPE_SEED={chosen}\n")
    return chosen


@pytest.fixture
def rng(seed):
    return np.random.default_rng(seed)


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    from jobs.spark.session import spark_session

    settings = {
        **short_lived_java.SETTINGS,
        "spark.master": "local[2]",
        "spark.driver.memory": "1g",
        # The machine's name need not resolve, and no test listens beyond the machine.
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        # Plans of a thousand queries otherwise: only a web page, which is off, would show them.
        "spark.sql.ui.retainedExecutions": "1",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
    }
    session = spark_session("tests", shuffle_partitions=2, settings=settings)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def s3(tmp_path_factory):
    """One server for all tests: it takes seconds to start, and each test has a folder of its own."""
    from tests.builders.storages.s3_server import make_bucket, started_s3

    def start():
        process, url = started_s3()
        make_bucket(url, "bucket")
        return process, url

    return server_of_run(tmp_path_factory, "s3", start)


@pytest.fixture(scope="session")
def hdfs(tmp_path_factory):
    """One for all tests, as `s3`."""
    from tests.builders.storages.mini_hdfs import MiniHdfs

    def start():
        cluster = MiniHdfs(tmp_path_factory.mktemp("hdfs"))
        cluster.start()
        return cluster.process, cluster.uri

    return server_of_run(tmp_path_factory, "hdfs", start)
