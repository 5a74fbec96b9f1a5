"""Long files come first, those that wait between those that compute, and none is left out."""

from tests.file_order import taking_turns

FILES = [
    ("plain a", frozenset[str]()),
    ("broker a", frozenset({"broker"})),
    ("broker b", frozenset({"broker", "spark"})),
    ("page", frozenset({"browser"})),
    ("plain b", frozenset({"parametrize"})),
    ("spark a", frozenset({"spark"})),
    ("broker c", frozenset({"broker", "browser"})),
    ("broker d", frozenset({"broker"})),
    ("spark b", frozenset({"spark", "browser"})),
]


def test_files_that_wait_and_files_that_compute_take_turns() -> None:
    long = ["broker a", "spark a", "broker b", "broker c", "spark b", "broker d"]
    assert taking_turns(FILES) == [*long, "page", "plain a", "plain b"]


def test_without_long_files_the_order_stays() -> None:
    assert taking_turns([(file, markers) for file, markers in FILES if "plain" in file]) == ["plain a", "plain b"]
