"""A server of objects that stops answering in the middle of a run, or whose answers are lost: the run ends with one
line, and the next one leaves the tables that an undisturbed one would."""

import random
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from jobs import cli
from jobs.storage.places.addresses import storage_at
from schemas.words.exit_codes import ExitCode
from tests.builders.storages.s3_server import Misbehaviour, options_for, proxy
from tests.faults.killed_runs import JOBS, Undisturbed, check_like, put, short_locks

# From some request on the server is gone, refuses, or is done with each but does not say so.
FAULTS = ["hang up", "503", "lose"]
# What a run says of the lock and the manifest that it found.
ABOUT_THE_LAST = ("has stopped renewing its lock", "which was killed while it wrote", "waiting for ")


@pytest.fixture
def behaviour(s3: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Misbehaviour]:
    monkeypatch.setattr("jobs.configuration.settings.RETRY_SECONDS", 1)
    with proxy(s3) as (url, behaviour), short_locks():
        for name, value in options_for(url).values:
            monkeypatch.setenv(name.upper(), value)
        yield behaviour


def check_faults(
    s3: str,
    behaviour: Misbehaviour,
    undisturbed: Undisturbed,
    folder: Path,
    chance: random.Random,
    capfd: pytest.CaptureFixture[str],
) -> None:
    job, is_later, fault = chance.choice(JOBS), chance.random() < 0.5, chance.choice(FAULTS)
    folder.mkdir()
    storage = storage_at(f"s3://bucket/{uuid.uuid4().hex}/w", options_for(s3))
    if (before := undisturbed.before(job, is_later=is_later)) is not None:
        put(before, storage, folder / "put")
    words = [job, "--warehouse", storage.place, *undisturbed.words(job, is_later=is_later)]
    good = chance.randrange(150)
    behaviour.next, behaviour.always = ["pass"] * good, fault
    # Of one answer that is lost the client asks again.
    if fault == "lose" and chance.random() < 0.5:
        behaviour.next, behaviour.always = [*behaviour.next, fault], "pass"
    capfd.readouterr()
    code = cli.main(words)
    about = f"{job} {is_later} {fault} {good}"
    lines = [line for line in capfd.readouterr().err.splitlines() if not any(each in line for each in ABOUT_THE_LAST)]
    if code != ExitCode.CLEAN:
        assert code == ExitCode.UNUSABLE_WAREHOUSE, (about, lines)
        assert len(lines) == 1 and lines[0].startswith("groupscope: s3://"), (about, lines)
    behaviour.next, behaviour.always = [], "pass"
    assert cli.main(words) == ExitCode.CLEAN, about
    check_like(storage, folder / about, undisturbed.after(job, is_later=is_later))


def test_the_run_after_a_server_was_gone_goes_on(
    s3: str,
    behaviour: Misbehaviour,
    undisturbed: Undisturbed,
    tmp_path: Path,
    seed: int,
    capfd: pytest.CaptureFixture[str],
) -> None:
    check_faults(s3, behaviour, undisturbed, tmp_path / "run", random.Random(seed), capfd)


@pytest.mark.soak
def test_runs_after_a_server_was_gone_go_on_many_times(
    s3: str,
    behaviour: Misbehaviour,
    undisturbed: Undisturbed,
    tmp_path: Path,
    seed: int,
    capfd: pytest.CaptureFixture[str],
) -> None:
    chance = random.Random(seed)
    for number in range(20):
        check_faults(s3, behaviour, undisturbed, tmp_path / str(number), chance, capfd)
