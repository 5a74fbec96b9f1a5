"""Which of two verdicts is worse: a group has the worst verdict of its partitions."""

from schemas.words.lag import LagVerdict

# From the best to the worst. UNKNOWN, which Burrow does not have, hides no worse verdict and no OK hides it.
IN_ORDER = (
    LagVerdict.OK, LagVerdict.UNKNOWN, LagVerdict.WARN, LagVerdict.ERR, LagVerdict.STOP, LagVerdict.STALL,
    LagVerdict.REWIND, LagVerdict.DOWN,
)  # fmt: skip
PLACES = {verdict: place for place, verdict in enumerate(IN_ORDER)}


def severity(verdict: LagVerdict) -> int:
    return PLACES[verdict]
