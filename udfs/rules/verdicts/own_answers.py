"""Our own verdict of all partitions at once. Nearly all are plainly caught up; the rules are asked about the others."""

from collections.abc import Mapping

import numpy as np

from udfs.arrays.nullable import Flags
from udfs.rules.verdicts.lag_trend import WindowLags
from udfs.rules.verdicts.own_facts import OwnFacts
from udfs.rules.verdicts.own_verdict import OwnAnswer, Rewind, lag_is_allowed, own_verdicts
from udfs.rules.verdicts.rewinds import rewinds
from udfs.rules.verdicts.standings import OfAllKeys, standings
from udfs.rules.verdicts.window_lags import window_lags


def own_answers(facts: OwnFacts, of_all: OfAllKeys) -> list[OwnAnswer]:
    """One for each key, in their order."""
    back = rewinds(facts)
    is_plain = are_caught_up(facts, of_all, back)
    lags = facts.lag_available.tolist()
    by_lag = {lag: lag_is_allowed(lag, facts.rules) for lag in {*facts.lag_available[is_plain].tolist()}}
    asked = iter(answers_by_rules(facts, of_all, back, ~is_plain))
    return [by_lag[lag] if plain else next(asked) for lag, plain in zip(lags, is_plain.tolist(), strict=True)]


def are_caught_up(facts: OwnFacts, of_all: OfAllKeys, back: Mapping[int, Rewind]) -> Flags:
    """Whether no rule before `caught_up` has an answer, and this one has only the lag to look at."""
    ends = facts.ends
    is_plain = (facts.live >= 0) & (facts.committed >= 0) & ends.are_known
    is_plain &= facts.history.as_of_time - ends.newest_time <= facts.rules.window
    is_plain &= facts.lag_available <= facts.rules.allowed_lag
    is_plain &= ~(facts.is_unsubscribed | facts.is_group_idle(of_all.have_committed))
    is_plain &= ~(facts.is_recreated | facts.is_now_doubtful)
    is_plain[[*back]] = False
    return is_plain


def answers_by_rules(
    facts: OwnFacts, of_all: OfAllKeys, back: Mapping[int, Rewind], is_asked: Flags
) -> list[OwnAnswer]:
    keys = np.flatnonzero(is_asked)
    if not len(keys):
        return []

    def windows_of(places: list[int]) -> Mapping[int, WindowLags]:
        by_key = window_lags(facts, keys[places].tolist())
        return {place: by_key[key] for place in places if (key := int(keys[place])) in by_key}

    return own_verdicts([*standings(facts, of_all, back, is_asked)], facts.rules, windows_of)
