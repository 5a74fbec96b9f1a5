"""`python -m tests.kafka.handovers`: see capture.py."""

import argparse
import sys

from tests.kafka.handovers.capture import HANDOVER_RELEASES, handovers_of


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.kafka.handovers")
    parser.add_argument("release", nargs="*", help=f"of {', '.join(HANDOVER_RELEASES)}; all when none is named")
    parser.add_argument("--rounds", type=int, default=1, help="how often each script repeats its middle")
    given = parser.parse_args(arguments)
    for name in given.release or HANDOVER_RELEASES:
        sys.stdout.write(f"{handovers_of(HANDOVER_RELEASES[name], given.rounds).folder}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
