"""The sample's story is in the history tables too, event by event."""

import inspect

import pytest

from tests import sample_history
from tests.replayed import Replayed
from tests.replayed_logs import replay
from tests.sample_story import ROOT, Event, checked_in

SAMPLE = ROOT / "data" / "sample"
FINDERS = {
    name: finder
    for name, finder in inspect.getmembers(sample_history, inspect.isfunction)
    if list(inspect.signature(finder).parameters.values())[1:] and name in {event.kind for event in checked_in().events}
}


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> Replayed:
    warehouse = tmp_path_factory.mktemp("history") / "warehouse"
    return replay(warehouse, SAMPLE, "--snapshots", str(SAMPLE / "snapshots.jsonl"))


@pytest.mark.parametrize("event", checked_in().events, ids=lambda event: event.name)
def test_every_event_is_in_the_history(replayed: Replayed, event: Event) -> None:
    FINDERS[event.kind](replayed, event)


def test_no_partition_has_two_owners_but_in_share_groups(replayed: Replayed) -> None:
    assert [row for row in replayed.tables["replay_anomalies"] if row["severity"] == "critical"] == []


def test_every_kind_of_event_has_its_finder() -> None:
    assert {event.kind for event in checked_in().events} == set(FINDERS)
