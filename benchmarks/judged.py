"""How much of what an audit says a person who knows what was done to the cluster would want, and what is missing.

python -m benchmarks.judged [--seed N] [--story NAME…] [--rounds K]

Plays the stories of tests/stories/ on a real broker, each time by another seed, and audits the log of each. Without
--seed the seeds are drawn: no rule was ever tried on them. A round of all stories takes about six minutes; what was
played stays in the cache folder, so a seed that is named again costs the audits alone.
"""

import argparse
import secrets
import sys
from collections.abc import Iterator, Sequence

from tests.stories.captures import stories_of
from tests.stories.judge import Judged, judge_all
from tests.stories.plays import PLAYS

HEAD = ("story", "wanted and named", "wanted and missing", "named and not wanted")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.judged", description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, help="of the first round; each further one has the next number")
    parser.add_argument("--story", action="append", default=[], choices=PLAYS, metavar="NAME", help="default: all")
    parser.add_argument("--rounds", type=int, default=1)
    given = parser.parse_args(arguments)
    seed = secrets.randbelow(2**32) if given.seed is None else given.seed
    total = Judged()
    for number in range(seed, seed + given.rounds):
        sys.stdout.write(f"seed {number}\n\n")
        results = dict(judge_all(stories_of(number, given.story)))
        for line in page(results):
            sys.stdout.write(f"{line}\n")
        total = sum(results.values(), total)
    num_wrong, num_said = len(total.not_wanted), total.named + len(total.not_wanted)
    sys.stdout.write(
        f"{total.named} wanted and named, {len(total.missing)} wanted and missing, {num_wrong} of {num_said} named and "
        "not wanted\n"
    )
    return 0


def page(results: dict[str, Judged]) -> Iterator[str]:
    yield f"| {' | '.join(HEAD)} |"
    yield "|---|---|---|---|"
    for name, each in results.items():
        yield f"| {name.replace('_', ' ')} | {each.named} | {len(each.missing)} | {len(each.not_wanted)} |"
    yield ""
    for name, each in results.items():
        if not each.is_right or each.information:
            yield f"{name.replace('_', ' ')}: {each}\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
