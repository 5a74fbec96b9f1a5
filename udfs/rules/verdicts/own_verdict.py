"""Our own verdict of a partition of a group: what each rule of `OwnRule` asks, in their order.

They mend what Burrow's rules are known for: every rewind within the window counts and not only the first, a trend over
the window decides instead of one lower lag, short lags alarm nobody, silence is held against the partition's own
cadence, and commits of transactions count once they are committed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from schemas.words.lag import LagVerdict, OwnRule
from schemas.words.records import EarlyEnd
from udfs.rules.verdicts.lag_trend import Trend, WindowLags
from udfs.sentences.counts import counted
from udfs.sentences.durations import SECOND, clock_time, in_words


@dataclass(frozen=True)
class OwnRules:
    """`window_s`: how far back rewinds, members, commits and snapshots count. `silence_factor`: silence is longer than
    so many times the usual gap between commits. `least_repeats`: how many commits of one offset mean that it
    does not move. The others: when a group without members is missed (`absences.py`)."""

    window_s: int = 3600
    allowed_lag: int = 0
    least_time_lag_s: int = 60
    silence_factor: int = 10
    least_repeats: int = 3
    in_use_share: float = 0.5
    in_use_days: int = 7
    in_use_s: int = 3600
    absence_factor: float = 1.5

    @property
    def window(self) -> int:
        return self.window_s * SECOND

    @property
    def least_time_lag(self) -> int:
        return self.least_time_lag_s * SECOND


@dataclass(frozen=True)
class Rewind:
    """The last of `num_steps` steps back below `peak`, the largest offset before them."""

    peak: int
    time: int
    num_steps: int


@dataclass(frozen=True)
class Standing:
    """What is known of one partition of a group at a time. Times and durations in microseconds; None: not known, or
    there is none."""

    now: int
    # Until when the log is known; None: up to now.
    log_until: int | None = None
    committed: int | None = None
    # Since when this value holds, and when it was committed last.
    held_since: int | None = None
    last_commit: int | None = None
    start_offset: int | None = None
    # By the newest snapshot that has it, and when that was.
    end_offset: int | None = None
    end_time: int | None = None
    is_unsubscribed: bool = False
    is_group_idle: bool = False
    # Why its group has no members, where that decides.
    absence: "OwnAnswer | None" = None
    is_recreated: bool = False
    is_in_hole: bool = False
    is_beyond_end: bool = False
    # Its offset changed while the clock of the log was in doubt, within the window; or now.
    is_clock_doubtful: bool = False
    is_now_doubtful: bool = False
    owned_since: int | None = None
    rewind: Rewind | None = None
    # When a snapshot first had the end beyond the committed offset, and how old the message there is.
    unread_since: int | None = None
    time_lag: int | None = None
    # How far the end rose between the first snapshot from then on and the newest one.
    written_since_owned: int | None = None
    written_since_commit: int | None = None
    written_since_held: int | None = None
    # The usual gap between commits, of the partition or else of the others of the group.
    cadence: int | None = None
    # Since when none of its group's partitions, or of its member's, was committed, where that is a silence; and until
    # when its member committed any, or its group if no member owns it.
    group_silent_since: int | None = None
    member_silent_since: int | None = None
    others_until: int | None = None
    num_repeats: int = 0
    # Why its log probably goes on after what was read; and since when the group is silent, if it does not go on.
    early_end: EarlyEnd | None = None
    silent_if_whole_since: int | None = None

    @property
    def heard_until(self) -> int:
        return self.now if self.log_until is None else min(self.log_until, self.now)

    @property
    def usually_heard_until(self) -> int:
        """Until when its lag shows how fast it reads: after that it grows because the next commit is late."""
        if self.last_commit is None or self.cadence is None:
            return self.now
        return min(self.last_commit + self.cadence, self.now)

    @property
    def available_lag(self) -> int:
        """Messages that can still be read."""
        assert self.end_offset is not None and self.committed is not None
        return max(0, self.end_offset - max(self.committed, self.start_offset or 0))


@dataclass(frozen=True)
class OwnAnswer:
    """`since`: since when its offset does not move, or its lag grows; None: neither."""

    verdict: LagVerdict
    rule: OwnRule
    reason: str
    since: int | None = None


# In usual gaps between commits.
MOST_APART = 2
# What commits that the log does not hold any more, or not yet, would change; a trend too.
NEED_THE_LOG = frozenset({
    OwnRule.NEVER_COMMITTED, OwnRule.REWOUND, OwnRule.GROUP_SILENT, OwnRule.MEMBER_SILENT, OwnRule.SILENT,
    OwnRule.STANDS_STILL, OwnRule.NO_READER,
})  # fmt: skip


# A step back is one by the order of the log; its clock does not matter.
COMPARE_TIMES = (NEED_THE_LOG | {OwnRule.NOT_IN_USE, OwnRule.GROUP_DOWN, OwnRule.WENT_AWAY_UNSEEN, OwnRule.RETIRED}) - {
    OwnRule.REWOUND
}


def own_verdicts(
    standings: Sequence[Standing], rules: OwnRules, windows_of: Callable[[list[int]], Mapping[int, WindowLags]]
) -> list[OwnAnswer]:
    """`windows_of`: the lags of the standings at these places, where any is known: most are decided without."""
    answers = [verdict_without_trend(each, rules) for each in standings]
    windows = windows_of([place for place, answer in enumerate(answers) if answer is None])
    return [
        not_ok_beyond_the_end(
            trend_verdict(standing, windows.get(place), rules) if answer is None else answer, standing, rules
        )
        for place, (standing, answer) in enumerate(zip(standings, answers, strict=True))
    ]


def verdict_without_trend(standing: Standing, rules: OwnRules) -> OwnAnswer | None:
    """None: how its lag went decides."""
    answer = next((own for rule in RULES if (own := rule(standing, rules)) is not None), None)
    if standing.is_clock_doubtful and (answer is None or answer.rule in COMPARE_TIMES):
        return clock_went_back()
    if standing.is_now_doubtful and answer is not None and answer.rule == OwnRule.CAUGHT_UP:
        return clock_went_back()
    needs_the_log = answer is None or answer.rule in NEED_THE_LOG
    return log_ended(standing) if needs_the_log and is_log_old(standing, rules) else answer


def not_ok_beyond_the_end(answer: OwnAnswer, standing: Standing, rules: OwnRules) -> OwnAnswer:
    """What its records show stays, but nobody is well at a time that its log has not reached. Who is at the end of a
    topic has nothing to commit."""
    is_said_of_now = answer.rule in (OwnRule.CAUGHT_UP, OwnRule.KEEPS_UP) and answer.verdict == LagVerdict.OK
    if is_said_of_now and standing.available_lag > rules.allowed_lag and is_end_missing(standing, rules):
        return log_ended(standing)
    return answer


def is_end_missing(standing: Standing, rules: OwnRules) -> bool:
    """Whether it probably committed after its log ended, which is shorter than those of others. Where nothing proves
    that something was written, its own rhythm has to."""
    unknown = standing.now - standing.heard_until
    if standing.early_end is None or unknown <= 0:
        return False
    if standing.early_end == EarlyEnd.BEFORE_OTHERS:
        return standing.cadence is not None and unknown > usual_silence(standing, rules)
    return standing.cadence is None or unknown > standing.cadence


def is_log_old(standing: Standing, rules: OwnRules) -> bool:
    """Whether the log ended so long ago that a group of this cadence would have committed since."""
    return standing.now - standing.heard_until > proven_silence(standing, rules)


def clock_went_back() -> OwnAnswer:
    reason = "the broker's clock moved back, so times of commits and snapshots cannot be compared"
    return OwnAnswer(LagVerdict.UNKNOWN, OwnRule.CLOCK_WENT_BACK, reason)


def log_ended(standing: Standing) -> OwnAnswer:
    until, ago = clock_time(standing.heard_until), in_words(standing.now - standing.heard_until)
    reason = f"the data ends at {until}, {ago} before the as-of time; whether the group committed later is unknown"
    since = standing.silent_if_whole_since
    if standing.early_end is not None and since is not None:
        reason = f"no commit of the whole group is known since {clock_time(since)}, but {reason}"
    return OwnAnswer(LagVerdict.UNKNOWN, OwnRule.LOG_ENDED, reason, since if standing.early_end else None)


NOT_SUBSCRIBED = OwnAnswer(LagVerdict.OK, OwnRule.NOT_SUBSCRIBED, "no member of the group subscribes to the topic")


def not_in_question(standing: Standing, _rules: OwnRules) -> OwnAnswer | None:
    """Reasons not to raise an alarm, for any lag."""
    if standing.is_unsubscribed:
        return NOT_SUBSCRIBED
    if standing.committed is None and standing.owned_since is None and not standing.is_in_hole:
        return OwnAnswer(LagVerdict.OK, OwnRule.NOTHING_HELD, "nothing is committed and no member owns it")
    return None


def missing_input(standing: Standing, _rules: OwnRules) -> OwnAnswer | None:
    if standing.end_offset is None:
        return OwnAnswer(LagVerdict.UNKNOWN, OwnRule.NO_END_OFFSETS, "no snapshot has the end offset of the partition")
    if standing.committed is not None and standing.committed < 0:
        reason = f"the committed offset is {standing.committed}, which clients ignore"
        return OwnAnswer(LagVerdict.UNKNOWN, OwnRule.COMMITTED_NEGATIVE, reason)
    if standing.is_recreated:
        reason = "the topic was deleted and created again, and the commit may be for the deleted one"
        return OwnAnswer(LagVerdict.UNKNOWN, OwnRule.TOPIC_RECREATED, reason)
    if standing.is_in_hole:
        reason = "records of the log are missing, so the committed offset is unknown"
        return OwnAnswer(LagVerdict.UNKNOWN, OwnRule.HISTORY_HOLE, reason)
    if standing.is_beyond_end:
        assert standing.committed is not None
        reason = (
            f"the committed offset {standing.committed:,} is {standing.committed - standing.end_offset:,} beyond the "
            f"end of the log, {standing.end_offset:,}: a consumer that starts there resets its offset"
        )
        return OwnAnswer(LagVerdict.UNKNOWN, OwnRule.BEYOND_END, reason)
    return None


def group_is_away(standing: Standing, rules: OwnRules) -> OwnAnswer | None:
    """A group without members is not asked why it does not commit."""
    if standing.committed is None or standing.available_lag <= rules.allowed_lag:
        return None
    return standing.absence


def never_committed(standing: Standing, rules: OwnRules) -> OwnAnswer | None:
    if standing.committed is not None:
        return None
    assert standing.end_offset is not None and standing.owned_since is not None
    owned_for = standing.now - standing.owned_since
    owned = f"a member has owned it for {in_words(owned_for)}"
    if standing.end_offset <= (standing.start_offset or 0):
        reason = f"nothing is committed and the log has no messages; {owned}"
        return OwnAnswer(LagVerdict.OK, OwnRule.NOTHING_TO_READ, reason)
    patience = max(rules.least_time_lag, usual_silence(standing, rules))
    if not standing.written_since_owned or owned_for < patience:
        # It may rightly begin at the end of the log, or be about to commit: the reset policy is not in the log.
        reason = f"nothing is committed; {owned}, and it is too early or there were no new messages to expect a commit"
        return OwnAnswer(LagVerdict.UNKNOWN, OwnRule.NEVER_COMMITTED, reason)
    if standing.heard_until - standing.owned_since < patience:
        return log_ended(standing)
    reason = f"nothing is committed; {owned}, and {standing.written_since_owned:,} or more messages were written since"
    if (whole := whole_silence(standing)) is not None:
        return OwnAnswer(LagVerdict.STOP, whole.rule, f"{whole.text}; here {reason}", whole.since)
    return OwnAnswer(LagVerdict.STOP, OwnRule.NEVER_COMMITTED, reason, standing.owned_since)


def rewound(standing: Standing, _rules: OwnRules) -> OwnAnswer | None:
    if (back := standing.rewind) is None:
        return None
    assert standing.committed is not None and standing.end_offset is not None
    if not standing.committed < back.peak <= max(standing.end_offset, standing.committed):
        return None  # made up for; or the log lost its end, and the group followed it
    steps = "" if back.num_steps == 1 else f" in {back.num_steps} steps, the last"
    reason = (
        f"committed offset {standing.committed:,}, {messages(back.peak - standing.committed)} below offset "
        f"{back.peak:,}, which it had committed before: a rewind{steps} at {clock_time(back.time)}"
    )
    return OwnAnswer(LagVerdict.REWIND, OwnRule.REWOUND, reason, back.time)


def nothing_to_read(standing: Standing, rules: OwnRules) -> OwnAnswer | None:
    lag = standing.available_lag
    if lag > rules.allowed_lag:
        return None
    end_age = standing.now - (standing.now if standing.end_time is None else standing.end_time)
    if end_age > rules.window:
        # What came since may be unread. That messages stayed unread before is proven by old snapshots too.
        reason = (
            f"{messages(lag)} to read at the newest snapshot of its end offset, but that is {in_words(end_age)} old"
        )
        return OwnAnswer(LagVerdict.UNKNOWN, OwnRule.NO_END_OFFSETS, reason)
    return lag_is_allowed(lag, rules, is_idle=standing.is_group_idle)


def caught_up(standing: Standing, rules: OwnRules) -> OwnAnswer | None:
    if standing.time_lag is None or standing.time_lag >= rules.least_time_lag:
        return None
    reason = f"{messages(standing.available_lag)} to read, the oldest {in_words(standing.time_lag)} old"
    return OwnAnswer(LagVerdict.OK, OwnRule.CAUGHT_UP, reason)


def lag_is_allowed(lag: int, rules: OwnRules, *, is_idle: bool) -> OwnAnswer:
    allowed = f", and {rules.allowed_lag:,} are allowed" if lag else ""
    reason = f"{messages(lag)} to read{allowed}"
    if is_idle:
        reason = f"{reason}; the group had no members and no commits for {in_words(rules.window)}"
        return OwnAnswer(LagVerdict.OK, OwnRule.NOT_IN_USE, reason)
    return OwnAnswer(LagVerdict.OK, OwnRule.CAUGHT_UP, reason)


@dataclass(frozen=True)
class WholeSilence:
    rule: OwnRule
    since: int
    text: str


def whole_silence(standing: Standing) -> WholeSilence | None:
    """The widest that holds."""
    whole = (
        (OwnRule.GROUP_SILENT, standing.group_silent_since, "no commit of the whole group"),
        (OwnRule.MEMBER_SILENT, standing.member_silent_since, "no commit of its member"),
    )
    for rule, since, what in whole:
        if since is not None:
            silence = in_words(standing.heard_until - since)
            return WholeSilence(rule, since, f"{what} for {silence}, since {clock_time(since)}")
    return None


def silent_with_others(standing: Standing, _rules: OwnRules) -> OwnAnswer | None:
    """Whatever waits in a partition of a silent group or member waits for the same reason, however short it does."""
    if standing.committed is None or (whole := whole_silence(standing)) is None:
        return None
    reason = f"{whole.text}{usual_time(standing)}; {messages(standing.available_lag)} to read"
    return OwnAnswer(LagVerdict.STOP, whole.rule, reason, whole.since)


def silent(standing: Standing, rules: OwnRules) -> OwnAnswer | None:
    """Silence counts only while there is something to read: a quiet topic makes nobody late. And only while its member
    went on with others: if that has fallen silent too, its own silence decides, once it is long enough."""
    if not standing.written_since_commit or standing.unread_since is None or standing.last_commit is None:
        return None
    patience = max(usual_silence(standing, rules), rules.least_time_lag)
    waiting_since = max(standing.last_commit, standing.unread_since)
    if standing.now - waiting_since <= patience:
        return None
    if standing.heard_until - waiting_since <= patience:
        return log_ended(standing)
    if standing.others_until is None or standing.others_until - waiting_since <= together(standing, rules):
        return None
    silence = in_words(standing.heard_until - standing.last_commit)
    reason = (
        f"no commit for {silence}{usual_time(standing)}, while others were committed; "
        f"{standing.written_since_commit:,} or more messages were written since"
    )
    return OwnAnswer(LagVerdict.STOP, OwnRule.SILENT, reason, standing.last_commit)


def together(standing: Standing, rules: OwnRules) -> int:
    """How far the last commits of partitions may be apart when all end at once: each is committed at its own moment,
    and one may be late."""
    return usual_silence(standing, rules) if standing.cadence is None else MOST_APART * standing.cadence


def usual_time(standing: Standing) -> str:
    if standing.cadence is None:
        return ", how often it commits is not known"
    return f", before that one every {in_words(standing.cadence)}"


def usual_silence(standing: Standing, rules: OwnRules) -> int:
    return rules.window if standing.cadence is None else rules.silence_factor * standing.cadence


def proven_silence(standing: Standing, rules: OwnRules) -> int:
    """How long its commits show that it may be silent. If they show nothing, it is not given the whole window."""
    return max(0 if standing.cadence is None else usual_silence(standing, rules), rules.least_time_lag)


def stands_still(standing: Standing, rules: OwnRules) -> OwnAnswer | None:
    if not standing.written_since_held or None in (standing.unread_since, standing.last_commit, standing.held_since):
        return None
    assert standing.unread_since is not None and standing.last_commit is not None and standing.held_since is not None
    since = max(standing.held_since, standing.unread_since)
    if standing.num_repeats < rules.least_repeats or standing.last_commit - since < rules.least_time_lag:
        return None
    how_long = in_words(standing.last_commit - standing.held_since)
    reason = (
        f"committed offset {standing.committed:,} again and again, {standing.num_repeats:,} times in {how_long}; "
        f"{standing.written_since_held:,} or more messages were written since"
    )
    return OwnAnswer(LagVerdict.STALL, OwnRule.STANDS_STILL, reason, standing.held_since)


def nobody_reads(standing: Standing, rules: OwnRules) -> OwnAnswer | None:
    """A program that assigns partitions to itself is no member, but goes on to commit."""
    if standing.owned_since is not None or standing.last_commit is None:
        return None
    since_commit = standing.now - standing.last_commit
    if since_commit <= proven_silence(standing, rules):
        return None
    reason = f"{messages(standing.available_lag)} to read, but no member owns it, and the last commit is "
    return OwnAnswer(LagVerdict.UNKNOWN, OwnRule.NO_READER, f"{reason}{in_words(since_commit)} old")


def trend_verdict(standing: Standing, window: WindowLags | None, rules: OwnRules) -> OwnAnswer:
    """`window`: None: no lag of it is known."""
    if window is None or window.trend is None:
        num = "no snapshot" if window is None else "only 1 snapshot"
        few = f"{num} of the last {in_words(rules.window)}{up_to_when(standing)} shows its lag"
        reason = f"{messages(standing.available_lag)} to read; {few}, too few to see whether lag grows"
        return OwnAnswer(LagVerdict.UNKNOWN, OwnRule.TOO_FEW, reason)
    trend = window.trend
    over = f"over {in_words(window.last_time - window.first_time)} ({counted(window.number, 'snapshot')})"
    if trend.grows(rules.allowed_lag):
        reason = f"median lag grew {from_to(trend)} {over}"
        return OwnAnswer(LagVerdict.WARN, OwnRule.FALLS_BEHIND, reason, window.first_time)
    return OwnAnswer(LagVerdict.OK, OwnRule.KEEPS_UP, f"median lag changed {from_to(trend)} {over}{why_not(trend)}")


def up_to_when(standing: Standing) -> str:
    """Of later snapshots the lag rests on commits that may be missing, or are late."""
    until = min(standing.heard_until, standing.usually_heard_until)
    if until >= standing.now:
        return ""
    why = "where the data ends" if until == standing.heard_until else "when its next commit was due"
    return f", up to {clock_time(until)} {why},"


def from_to(trend: Trend) -> str:
    """Medians of the first and the last third of the snapshots: single lags that `lag_points` has may be others."""
    return f"from {trend.begin:,} to {trend.end:,}"


def why_not(trend: Trend) -> str:
    """Why a lag that is larger at the end is no growing one."""
    if trend.end <= trend.begin:
        return ""
    return ", and falls again" if trend.is_falling else f", which is within its usual variation of {trend.noise:,.0f}"


def messages(number: int) -> str:
    return counted(number, "message")


RULES: tuple[Callable[[Standing, OwnRules], OwnAnswer | None], ...] = (
    not_in_question, missing_input, group_is_away, never_committed, rewound, nothing_to_read, silent_with_others,
    caught_up, silent, stands_still, nobody_reads,
)  # fmt: skip
