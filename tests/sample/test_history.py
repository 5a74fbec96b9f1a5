"""The sample's story is in the history tables too, event by event."""

import inspect
from pathlib import Path

import pytest

from tests.builders.warehouses.replayed_segments import replay
from tests.oracles.history.at_instant import Replayed
from tests.sample import history
from tests.sample.story import Event, Sample, checked_in

FINDERS = {
    name: finder
    for name, finder in inspect.getmembers(history, inspect.isfunction)
    if list(inspect.signature(finder).parameters.values())[1:] and name in {event.kind for event in checked_in().events}
}


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> Replayed:
    return replayed_sample(tmp_path_factory.mktemp("history") / "warehouse", checked_in().folder)


def replayed_sample(warehouse: Path, folder: Path) -> Replayed:
    return replay(warehouse, folder, "--snapshots", str(folder / "snapshots.jsonl"))


@pytest.mark.parametrize("event", checked_in().events, ids=lambda event: event.name)
def test_every_event_is_in_the_history(replayed: Replayed, event: Event) -> None:
    FINDERS[event.kind](replayed, event)


def test_a_real_brokers_log_has_no_findings(replayed: Replayed) -> None:
    """No partition has two owners either, except in share groups."""
    assert replayed.tables["replay_anomalies"] == []


def test_every_kind_of_event_has_its_finder() -> None:
    assert {event.kind for event in checked_in().events} == set(FINDERS)


@pytest.mark.soak
@pytest.mark.broker
def test_every_event_of_a_sample_made_anew_is_in_its_history(tmp_path: Path) -> None:
    from tests.kafka.sample import make

    make(tmp_path / "sample")
    replayed = replayed_sample(tmp_path / "warehouse", tmp_path / "sample")
    for event in Sample(tmp_path / "sample").events:
        FINDERS[event.kind](replayed, event)
