"""How well the bounds of unread time, and what is said of who reads, hold beside what clients themselves wrote down.

    python -m benchmarks.unread_bounds [RELEASE…] [--rounds N] [--before TREE] [--seed N] [--json FILE] [--problems N]

Of each release the captures of tests/kafka/handovers and tests/kafka/outages are ingested with their snapshots and
replayed, by this tree and by the other one. A gap is outside if the truth is not between its bounds. It is missing if
it has none, or bounds wider than ten times the gap and than the delivery plus 1 s: 0.5 s in classic groups, the
heartbeat interval in others. Then, at drawn instants, who is said to read. It ends with 1 if of our gaps more than 1 in
200 are outside or one is missing, or at an instant another client reads than the certain one. Groups of librdkafka
whose callbacks are slow have rows of their own (late commits), which are left out of that: see docs/unread.md.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.__main__ import table
from benchmarks.before import tree_of
from tests.kafka.audits.unread_judge import AT_MOST_OUTSIDE, Judged, WhoReads, drawn, heartbeat_ms, judged, who_reads
from tests.kafka.handovers.capture import HANDOVER_RELEASES, Handovers, handovers_of
from tests.kafka.outages import OUTAGE_RELEASES, Outages, outages_of
from tests.runs.ingested import rows

ROOT = Path(__file__).parents[1]
INSTANTS = 10_000
HEAD = ("way", "groups", "gaps", "outside", "missing", "median ms", "95th ms")
BEFORE_HEAD = tuple(f"{name} before" for name in HEAD[3:])


@dataclass(frozen=True)
class Audited:
    judgements: list[Judged]
    # None: the capture does not say, or the tree has no such columns.
    readers: WhoReads | None


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.unread_bounds")
    parser.add_argument("release", nargs="*", help=f"of {', '.join(HANDOVER_RELEASES)}; all when none is named")
    parser.add_argument("--rounds", type=int, default=1, help="of the captures of handovers")
    parser.add_argument("--before", metavar="TREE", help="a commit, or the folder of a checkout that is set up")
    parser.add_argument("--seed", type=int, help="of the drawn instants")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write every gap with its bounds too")
    parser.add_argument("--problems", type=int, default=20, help="how many gaps outside or missing are printed")
    given = parser.parse_args(words)
    seed = random.randrange(1 << 32) if given.seed is None else given.seed
    trees = [ROOT, *([tree_of(given.before)] if given.before else [])]
    releases = [HANDOVER_RELEASES[name] for name in given.release or HANDOVER_RELEASES]
    captures: list[Handovers | Outages] = [handovers_of(release, given.rounds) for release in releases]
    captures += [outages_of(release) for release in releases if release.name in OUTAGE_RELEASES]
    audits = [[audited(tree, capture, seed) for capture in captures] for tree in trees]
    for capture, *of_trees in zip(captures, *audits, strict=True):
        kind = "handovers" if isinstance(capture, Handovers) else "outages"
        sys.stdout.write(f"\n## {capture.release.name}, {kind}\n\n{bounds_table(of_trees)}")
        for name, each in zip(("", "before: "), of_trees, strict=False):
            sys.stdout.write(f"\n{name}{readers_line(each.readers)}\n")
    of_all = [Audited([each for audit in of_tree for each in audit.judgements], None) for of_tree in audits]
    sys.stdout.write(f"\n## All, seed {seed}\n\n{bounds_table(of_all)}")
    num_late = sum(each.is_late for each in of_all[0].judgements)
    sys.stdout.write(f"\nNot counted as outside, since the machine was late: {num_late}\n\n")
    bad = [each for each in of_all[0].judgements if each.is_outside or each.is_missing]
    for each in sorted(bad, key=lambda each: not each.is_outside)[: given.problems]:
        sys.stdout.write(f"{'outside' if each.is_outside else 'missing'}: {each}\n")
    for readers in [each.readers for each in audits[0] if each.readers]:
        for line in [*readers.not_the_reader, *readers.not_in_doubt][:5]:
            sys.stdout.write(f"who reads: {line}\n")
    if given.json:
        given.json.write_text(
            json.dumps([facts(capture, each) for capture, each in zip(captures, audits[0], strict=True)])
        )
    wrong = sum(len(each.readers.not_the_reader) for each in audits[0] if each.readers)
    return int(not is_reached(of_all[0].judgements) or bool(wrong))


def is_reached(judgements: Sequence[Judged]) -> bool:
    num_outside = sum(each.is_outside and not each.gap["commits_late"] for each in judgements)
    return num_outside <= AT_MOST_OUTSIDE * len(judgements) and not any(each.is_missing for each in judgements)


def audited(tree: Path, capture: Handovers | Outages, seed: int) -> Audited:
    truth = capture.truth
    gaps = truth["gaps"] if isinstance(capture, Handovers) else gaps_of_outages(truth)
    with tempfile.TemporaryDirectory(prefix="groupscope-unread-") as folder:
        warehouse = Path(folder) / "warehouse"
        source = ["--source", f"segments:{capture.log_dir}", "--snapshots", str(capture.snapshots)]
        for step in (["ingest", *source], ["replay"]):
            command = [tree / ".venv" / "bin" / "python", "-m", "jobs.cli", *step, "--warehouse", warehouse]
            environment = {**os.environ, "PYTHONPATH": str(tree)}
            subprocess.run(command, cwd=tree, env=environment, check=True, stdout=subprocess.DEVNULL)
        judgements = judged(gaps, rows(warehouse, "partition_moves"), heartbeat_ms(capture.snapshots))
        readers = None
        if "held" in truth:
            instants = drawn(truth, INSTANTS, np.random.default_rng(seed))
            readers = who_reads(truth["held"], rows(warehouse, "ownership_intervals"), instants)
        return Audited(judgements, readers)


def gaps_of_outages(truth: dict[str, Any]) -> list[dict[str, Any]]:
    """In the words of the handovers: what became of the member whose gap it is says how it ended. Where nothing more
    came to read, nothing was unread."""
    fates = {}
    for event in truth["events"]:
        for member in event["members"]:
            way = {"killed": "killed", "returned": "static_restart", "closed": "left"}[event["event"]]
            is_expired = way == "left" and member["is_static"]
            fates[member["group"], member["client"]] = "static_expired" if is_expired else way
    result = []
    for gap in truth["gaps"]:
        if gap["first_read_ms"] is None:
            continue
        suffix = gap["group"].removesuffix("-static").rpartition("-")[2]
        kind = suffix if suffix in ("consumer", "share") else "classic"
        way = fates.get((gap["group"], gap["from_client"]))
        if way is None or (way != "static_restart" and gap["from_client"] == gap["to_client"]):
            way = "returned" if gap["from_client"] == gap["to_client"] else "handed_over"
        result.append({**gap, "group_kind": kind, "commits": True, "commits_late": False, "stall_ms": 0, "way": way})
    return result


def bounds_table(of_trees: Sequence[Audited]) -> str:
    """By way of ending and kind of group, ours beside the other tree's."""
    grouped = [by_way(each.judgements) for each in of_trees]
    result = [HEAD if len(of_trees) == 1 else (*HEAD, *BEFORE_HEAD)]
    for way, kind in sorted(grouped[0]):
        of_way = [each[way, kind] for each in grouped]
        cells = [cell for each in of_way for cell in figures(each)]
        result.append((way, kind, str(len(of_way[0])), *cells))
    result.append(("all", "", str(len(of_trees[0].judgements)),
                   *(cell for each in of_trees for cell in figures(each.judgements))))  # fmt: skip
    return table(result)


def by_way(judgements: Iterable[Judged]) -> dict[tuple[str, str], list[Judged]]:
    result: dict[tuple[str, str], list[Judged]] = defaultdict(list)
    for each in judgements:
        result[each.gap["way"], each.kind].append(each)
    return result


def figures(judgements: Sequence[Judged]) -> tuple[str, ...]:
    widths = [each.width_ms for each in judgements if each.width_ms is not None]
    shown = [f"{np.percentile(widths, part):.0f}" if widths else "" for part in (50, 95)]
    return str(sum(each.is_outside for each in judgements)), str(sum(each.is_missing for each in judgements)), *shown


def readers_line(readers: WhoReads | None) -> str:
    if readers is None:
        return "who reads: no such column, or not in this capture"
    return (
        f"who reads: {readers.num_owners:,} owners at {INSTANTS:,} instants, of those who do "
        f"{readers.certain_share:.1%} certain; another one read: {len(readers.not_the_reader)}; "
        f"of {readers.num_given_up:,} who had given up without doubt: {len(readers.not_in_doubt):,}"
    )


def facts(capture: Handovers | Outages, audit: Audited) -> dict[str, Any]:
    gaps = [
        each.gap | {"low": each.low, "high": each.high, "bases": each.bases, "is_outside": each.is_outside,
                    "is_missing": each.is_missing}
        for each in audit.judgements
    ]  # fmt: skip
    return {"release": capture.release.name, "folder": capture.folder.name, "gaps": gaps}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
