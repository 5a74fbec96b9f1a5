"""A server of objects that stops answering in the middle of a run, or whose answers are lost: the run ends with one
line, and the next one leaves the tables that an undisturbed one would."""

import pytest

from tests.faults.killed_runs import JOBS, check_like

# From some request on the server is gone, refuses, or is done with each but does not say so.
FAULTS = ["hang up", "503", "lose"]
# What a run says of the lock and the manifest that it found.
ABOUT_THE_LAST = ("has stopped renewing its lock", "which was killed while it wrote", "waiting for ")


@pytest.fixture(autouse=True)
def given_up_soon(monkeypatch):
    monkeypatch.setattr("jobs.configuration.settings.RETRY_SECONDS", 1)


def check_faults(runs, folder):
    chance, behaviour = runs.chance, runs.behaviour
    job, is_later, fault = chance.choice(JOBS), chance.random() < 0.5, chance.choice(FAULTS)
    storage = runs.stored_before(job, is_later=is_later, beside=folder)
    words = [job, "--warehouse", storage.place, *runs.undisturbed.words(job, is_later=is_later)]
    good = chance.randrange(150)
    behaviour.next, behaviour.always = ["pass"] * good, fault
    # Of one answer that is lost the client asks again.
    if fault == "lose" and chance.random() < 0.5:
        behaviour.next, behaviour.always = [*behaviour.next, fault], "pass"
    code, lines = runs.run(words)
    about = f"{job} {is_later} {fault} {good}"
    runs.end_well(words, code, [line for line in lines if not any(each in line for each in ABOUT_THE_LAST)], about)
    check_like(storage, folder / about, runs.undisturbed.after(job, is_later=is_later))


def test_the_run_after_a_server_was_gone_goes_on(disturbed):
    check_faults(disturbed, disturbed.folder / "run")


@pytest.mark.soak
def test_runs_after_a_server_was_gone_go_on_many_times(disturbed):
    for number in range(20):
        check_faults(disturbed, disturbed.folder / str(number))
