"""Partitions that are answered by arrays have the answers that the rules give when they are asked about each."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.builders.tables.verdict_history import history
from tests.udfs.rules.verdicts.test_own_verdict import CASES, EMPTY, MEMBER, NOW
from udfs.lag.doubtful_times import Doubt
from udfs.rules.verdicts.burrow_evaluation import BurrowRules
from udfs.rules.verdicts.group_verdicts import Verdicts
from udfs.rules.verdicts.own_answers import answers_by_rules, own_answers
from udfs.rules.verdicts.own_verdict import OwnRules
from udfs.rules.verdicts.rewinds import rewinds
from udfs.rules.verdicts.standings import OfAllKeys

SECOND = 1_000_000
# What may be so beside what a case is about.
BESIDE: tuple[dict[str, Any], ...] = (
    {},
    {"group_state_intervals": EMPTY},
    {"generation_members": [{"subscribed_topics": ["u"]}]},
    {"doubts": (Doubt(100 * SECOND, NOW * SECOND + 1, 0),)},
    {"doubts": (Doubt(100 * SECOND, NOW * SECOND + 1, 0),), "group_state_intervals": EMPTY},
)
RULES = (OwnRules(), OwnRules(allowed_lag=10_000), OwnRules(window_s=60), OwnRules(window_s=NOW + 1))


@pytest.mark.parametrize("case", CASES)
def test_an_answer_by_arrays_is_that_of_the_rules(case: str) -> None:
    given = [(each, history(NOW, **{"group_state_intervals": MEMBER, **CASES[case][2], **each})) for each in BESIDE]
    for (beside, known), rules in product(given, RULES):
        facts, of_all = Verdicts(BurrowRules(), rules).facts_of(known), OfAllKeys()
        of_all.add(facts)
        all_keys = np.ones(facts.keys.size, np.bool_)
        by_rules = answers_by_rules(facts, of_all, of_all.absences_of(facts), rewinds(facts), all_keys)
        assert own_answers(facts, of_all) == by_rules, (beside, rules)
