"""DOWN is the worst wherever verdicts are ranked or shown, and no place is forgotten."""

import re
from pathlib import Path

from jobs.pages.prometheus_file import RANKS
from jobs.reporting.report import WORST
from schemas.views import VIEWS
from schemas.words.lag import WORST_FIRST, LagVerdict
from udfs.rules.verdicts.burrow_evaluation import IN_ORDER

PRODUCT = Path(__file__).parents[2]
NAMED = ("STOP", "STALL", "REWIND", "WARN")
# What these name, only partitions have, or only Burrow's rules.
WITHOUT = {"udfs/rules/verdicts/own_verdict.py", "udfs/rules/verdicts/burrow_evaluation.py"}


def test_down_is_the_worst_of_all() -> None:
    assert WORST_FIRST[0] == IN_ORDER[-1] == min(RANKS, key=RANKS.__getitem__) == LagVerdict.DOWN
    assert WORST.startswith("CASE verdict WHEN 'DOWN' THEN 0 ")
    assert {*WORST_FIRST} == {*RANKS} == {*LagVerdict} and WORST_FIRST[-1] == LagVerdict.OK
    assert "WHEN 'DOWN' THEN 1 " in VIEWS["v_group_verdict"].sql


def test_every_place_that_names_verdicts_knows_down() -> None:
    for folder in ("schemas", "udfs", "jobs"):
        for path in (PRODUCT / folder).rglob("*"):
            if path.suffix not in {".py", ".sql", ".css", ".js", ".html"}:
                continue
            words, name = {*re.findall(r"\w+", path.read_text(encoding="utf-8"))}, path.relative_to(PRODUCT).as_posix()
            assert not words.issuperset(NAMED) or "DOWN" in words or name in WITHOUT, name
