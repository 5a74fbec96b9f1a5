"""Our own verdict of all partitions at once. Nearly all are plain: nobody reads them, or they are caught up. The rules
are asked about the others only."""

from collections.abc import Mapping, Sequence

import numpy as np

from udfs.arrays.nullable import Flags
from udfs.rules.verdicts.absences import are_waiting
from udfs.rules.verdicts.lag_trend import WindowLags
from udfs.rules.verdicts.own_facts import OwnFacts
from udfs.rules.verdicts.own_verdict import (
    NOT_SUBSCRIBED,
    OwnAnswer,
    Rewind,
    lag_is_allowed,
    own_verdicts,
)
from udfs.rules.verdicts.rewinds import rewinds
from udfs.rules.verdicts.standings import OfAllKeys, standings
from udfs.rules.verdicts.window_lags import window_lags


def own_answers(facts: OwnFacts, of_all: OfAllKeys) -> list[OwnAnswer]:
    """One for each key, in their order."""
    back, is_unsubscribed = rewinds(facts), facts.is_unsubscribed
    is_idle = facts.is_group_idle(of_all.have_committed)
    is_caught_up = are_caught_up(facts, back) & ~(is_unsubscribed | (is_idle & facts.is_clock_doubtful))
    answers = np.empty(facts.keys.size, object)
    answers[is_unsubscribed] = NOT_SUBSCRIBED
    for idle in (False, True):
        of_these = is_caught_up & (is_idle == idle)
        lags, place = np.unique(facts.lag_available[of_these], return_inverse=True)
        by_lag = [lag_is_allowed(lag, facts.rules, is_idle=idle) for lag in lags.tolist()]
        answers[of_these] = np.array(by_lag, object)[place]
    absences = of_all.absences_of(facts)
    is_decided = np.array([each is not None for each in absences], np.bool_)[facts.group]
    is_away = is_decided & are_waiting(facts) & ~(is_unsubscribed | facts.is_clock_doubtful)
    answers[is_away] = np.array([*absences, None], object)[facts.group[is_away]]
    is_asked = ~(is_unsubscribed | is_caught_up | is_away)
    answers[is_asked] = answers_by_rules(facts, of_all, absences, back, is_asked)
    by_key: list[OwnAnswer] = answers.tolist()
    return by_key


def are_caught_up(facts: OwnFacts, back: Mapping[int, Rewind]) -> Flags:
    """Whether `caught_up` needs only the lag, and no rule between it and `not_in_question` has an answer."""
    ends = facts.ends
    is_plain = (facts.live >= 0) & (facts.committed >= 0) & ends.are_known
    is_plain &= facts.history.as_of_time - ends.newest_time <= facts.rules.window
    is_plain &= facts.lag_available <= facts.rules.allowed_lag
    is_plain &= ~(facts.is_recreated | facts.is_now_doubtful | facts.is_beyond_end)
    is_plain[[key for key, each in back.items() if facts.committed[key] < each.peak]] = False
    return is_plain


def answers_by_rules(
    facts: OwnFacts,
    of_all: OfAllKeys,
    absences: Sequence[OwnAnswer | None],
    back: Mapping[int, Rewind],
    is_asked: Flags,
) -> list[OwnAnswer]:
    keys = np.flatnonzero(is_asked)
    if not len(keys):
        return []

    asked = [*standings(facts, of_all, absences, back, is_asked)]

    def windows_of(places: list[int]) -> Mapping[int, WindowLags]:
        until = [asked[place].usually_heard_until for place in places]
        by_key = window_lags(facts, keys[places].tolist(), until)
        return {place: by_key[key] for place in places if (key := int(keys[place])) in by_key}

    return own_verdicts(asked, facts.rules, windows_of)
