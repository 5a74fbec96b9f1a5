"""Servers that accept a connection and never answer, or fall silent after some answers: a command ends with one line
that names the place and the remedy."""

import random
import subprocess
import sys
import uuid

import pytest

from jobs import cli
from jobs.storage.places.addresses import storage_at
from schemas.words.exit_codes import ExitCode
from tests.builders.logs.copies import random_log, write_copy
from tests.builders.storages.kinds import copied, fetched
from tests.builders.storages.s3_server import options_for, proxy
from tests.builders.storages.silent_server import silent_server
from tests.faults.killed_runs import short_locks
from tests.runs.ingested import ROOT, history, ingest

# Far below the time after which commands give up by themselves.
PATIENCE_SECONDS = 60
REMEDIES = {
    "hdfs": "no answer from the server for 1 s: check that it runs, then run it again (a server that is only slow: "
    "raise [storage] answer_seconds)",
    "s3": "no answer from the server, tried for 1 s: check the endpoint, and that the server runs",
}
HASTY = "[storage]\nretry_seconds = 1\nanswer_seconds = 1\n"


@pytest.fixture
def place(request, monkeypatch):
    with silent_server() as port:
        reach(monkeypatch, f"http://127.0.0.1:{port}")
        yield f"hdfs://127.0.0.1:{port}/w" if request.param == "hdfs" else "s3://bucket/w"


def reach(monkeypatch, url):
    for name, value in options_for(url).values:
        monkeypatch.setenv(name.upper(), value)


@pytest.fixture
def hasty(tmp_path):
    """A folder where commands find these settings by themselves."""
    path = tmp_path / "conf" / "groupscope.toml"
    path.parent.mkdir()
    path.write_text(HASTY)
    return tmp_path


SAMPLE = f"segments:{ROOT}/data/sample"
COMMANDS = {
    "warehouse": (ExitCode.UNUSABLE_WAREHOUSE, ["replay", "--warehouse", "PLACE"]),
    "new warehouse": (ExitCode.UNUSABLE_WAREHOUSE, ["ingest", "--source", SAMPLE, "--warehouse", "PLACE"]),
    "segments": (ExitCode.UNREADABLE_INPUT, ["ingest", "--source", "segments:PLACE", "--warehouse", "own"]),
    "snapshots": (
        ExitCode.UNREADABLE_INPUT,
        ["ingest", "--source", SAMPLE, "--snapshots", "PLACE/s.jsonl", "--warehouse", "own"],
    ),
    "reader": (ExitCode.UNUSABLE_WAREHOUSE, ["sql", "--warehouse", "PLACE", "select 1 from runs"]),
}


@pytest.mark.drawn(5)
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("place", REMEDIES, indirect=True)
def test_a_command_on_a_server_that_never_answers_ends_with_one_line(place, command, hasty):
    """A process of its own: what hangs in a library must not keep it alive."""
    code, words = COMMANDS[command]
    ended = subprocess.run(
        [sys.executable, "-m", "jobs.cli", *(word.replace("PLACE", place) for word in words)],
        cwd=hasty,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    (line,) = ended.stderr.splitlines()
    assert line.startswith((f"groupscope: {place}", f"groupscope: segments:{place}"))
    assert line.endswith(REMEDIES[place.partition(":")[0]])
    assert (ended.returncode, ended.stdout) == (code, "")


@pytest.fixture
def behaviour(s3, monkeypatch):
    with proxy(s3) as (url, behaviour), short_locks():
        reach(monkeypatch, url)
        yield behaviour


def test_a_server_of_objects_that_falls_silent_after_some_answers_ends_the_run_and_the_next_goes_on(
    s3, behaviour, hasty, rng, seed, capsys
):
    """That of the log and the warehouse: whichever it is asked for next."""
    write_copy(hasty / "copy", 3, random_log(rng, 20), rng)
    place = f"s3://bucket/{uuid.uuid4().hex}"
    log = copied(hasty / "copy", storage_at(f"{place}/copy", options_for(s3)), "")
    words = ["ingest", "--warehouse", f"{place}/w", "--source", f"segments:{log}"]
    good = random.Random(seed).randrange(1, 40)
    behaviour.next, behaviour.always = ["pass"] * good, f"wait {PATIENCE_SECONDS}"
    code = cli.main([*words, "--config", str(hasty / "conf" / "groupscope.toml")])
    lines = capsys.readouterr().err.splitlines()
    assert code in (ExitCode.UNREADABLE_INPUT, ExitCode.UNUSABLE_WAREHOUSE), (good, lines)
    told_of = (f"groupscope: {place}", f"groupscope: segments:{place}")
    assert len(lines) == 1 and lines[0].startswith(told_of), (good, lines)
    assert REMEDIES["s3"] in lines[0] and "readable segment" not in lines[0], (good, lines)
    behaviour.next, behaviour.always = [], "pass"
    assert cli.main(words) == ExitCode.CLEAN
    ingest(hasty / "local", "--source", f"segments:{hasty / 'copy'}")
    result = fetched(storage_at(f"{place}/w", options_for(s3)), "", hasty / "found")
    assert history(result) == history(hasty / "local")
