"""How a cluster stands, by its newest audit: which groups are not well, why and since when, and what else is wrong.

What is wrong is first of all what the audit found: its findings. Only a verdict without any finding is taken from
`group_verdicts` itself, such as of a group that the settings leave out. The views v_groups_now and v_lag_now have the
same rows for SQL; here they are read without a query engine, since whoever asks is in a hurry.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

import pyarrow.compute as pc

from jobs.answers.history import History
from jobs.answers.marks import after_words, current_marks, mark_before, marks_about
from jobs.answers.missing_records import unseen_of
from jobs.answers.table_reader import Condition, Row, equal, one_of
from jobs.answers.verdicts import COLUMNS as VERDICT_COLUMNS
from jobs.answers.verdicts import NEVER, Verdicts, group_verdicts, place
from jobs.answers.verdicts import TABLE as VERDICTS
from jobs.output.failure import Failure
from schemas.words.exit_codes import ExitCode
from schemas.words.gate import FindingKind, SuiteVerdict
from schemas.words.history import OwnershipPhase, Severity, TaskRole
from schemas.words.lag import WORST_FIRST, EtaUnknown, LagVerdict, OwnRule
from udfs.sentences.durations import in_words
from udfs.sentences.partitions_read import KNOWN, never_read

DAY = timedelta(days=1)
# A finding of these severities says that the group is not well, as long as it lasts.
SEVERITIES = (Severity.CRITICAL, Severity.WARNING)
WELL = (LagVerdict.OK, LagVerdict.UNKNOWN)
# What the rule of a verdict means, in the words of findings.
KINDS = {
    OwnRule.GROUP_DOWN: FindingKind.GROUP_DOWN,
    OwnRule.WENT_AWAY_UNSEEN: FindingKind.GROUP_DOWN,
    OwnRule.GROUP_SILENT: FindingKind.GROUP_SILENT,
    OwnRule.MEMBER_SILENT: FindingKind.MEMBER_SILENT,
    OwnRule.SILENT: FindingKind.PARTITION_STOPPED,
    OwnRule.NEVER_COMMITTED: FindingKind.PARTITION_STOPPED,
    OwnRule.STANDS_STILL: FindingKind.PARTITION_STALLED,
    OwnRule.REWOUND: FindingKind.OFFSET_REWOUND,
    OwnRule.FALLS_BEHIND: FindingKind.FALLING_BEHIND,
}
HEADINGS = {kind.value: kind.heading for kind in FindingKind}
NOT_READING = {
    kind.heading
    for kind in (FindingKind.GROUP_DOWN, FindingKind.GROUP_SILENT, FindingKind.MEMBER_SILENT,
                 FindingKind.PARTITION_STOPPED, FindingKind.PARTITION_STALLED)
}  # fmt: skip
FINDING_COLUMNS = (
    "rank", "kind", "severity", "group_id", "message", "at_time", "since_time", "messages_waiting", "waived_until_time",
)  # fmt: skip
STATE_COLUMNS = ("group_id", "group_type", "state", "num_members", "from_time", "to_time", "is_provisional")
REBALANCE_COLUMNS = (
    "group_id", "start_time", "trigger", "trigger_detail", "evidence_partition", "assignment_offset",
)  # fmt: skip
OWNER_COLUMNS = (
    "group_id", "group_type", "topic", "topic_id", "partition", "client_id", "client_host", "phase", "role",
    "from_time", "to_time", "is_provisional",
)  # fmt: skip
RATE_COLUMNS = (
    "group_id", "topic", "topic_id", "bucket_ms", "bucket_time", "lag", "eta_high_ms", "eta_unknown_reason",
)  # fmt: skip
RESET_COLUMNS = (
    "at_time", "group_id", "topic", "kind", "actor", "actor_reason", "num_partitions", "messages_reread",
    "messages_skipped", "num_members", "confidence",
)  # fmt: skip
# Of consumption_rates: longer ones say less about now.
BUCKET_MS = 300_000
RECENT = timedelta(minutes=15)
# Members of one program go within about a minute.
TOGETHER = timedelta(minutes=1)


@dataclass
class Unwell:
    """A group, and what is wrong with it: as much as the verdict on it and the findings say. `verdict`: None: there is
    none. The rest is read only for groups that are shown."""

    group: str
    verdict: Row | None = None
    findings: list[Row] = field(default_factory=list)
    partitions: Mapping[tuple[str, int], Row] = field(default_factory=dict)
    owners: Mapping[tuple[str, int], Row] = field(default_factory=dict)
    # Of a group that has no owners now.
    last_owners: Sequence[Row] = ()
    rebalance: Row | None = None
    mark: Row | None = None
    rates: Sequence[Row] = ()

    @property
    def severity(self) -> str | None:
        return self.findings[0]["severity"] if self.findings else None

    @property
    def is_unwell(self) -> bool:
        return bool(self.findings) or is_bad(self.verdict)

    @property
    def is_unknown(self) -> bool:
        """An input is missing, so that nothing can be said."""
        return not self.findings and self.verdict is not None and self.verdict["own_verdict"] == LagVerdict.UNKNOWN

    @property
    def place(self) -> tuple[Any, ...]:
        """The worst is first: by its findings, by its verdict, by what waits."""
        worst = self.findings[0]["rank"] if self.findings else None
        verdict = WORST_FIRST.index(self.verdict["own_verdict"]) if self.verdict else len(WORST_FIRST)
        return worst is None, worst or 0, verdict, -(self.waiting or 0), self.group

    @property
    def what(self) -> str:
        """Such as `group down`; of a verdict without a finding: by the rules of its partitions."""
        # A later release may have written other kinds.
        headings = [HEADINGS.get(row["kind"]) or str(row["kind"]) for row in self.findings]
        if not headings:
            rows = [*self.partitions.values(), *([self.verdict] if self.verdict else [])]
            headings = [KINDS[rule].heading for row in rows if is_bad(row) and (rule := row["rule"]) in KINDS]
        return ", ".join(dict.fromkeys(headings)) or str(self.verdict and self.verdict["own_verdict"])

    @property
    def reasons(self) -> list[str]:
        reason = [str(self.verdict["reason"])] if self.verdict else []
        return [str(row["message"]) for row in self.findings] or reason

    @property
    def since(self) -> datetime | None:
        own = [self.verdict["since_time"]] if is_bad(self.verdict) and self.verdict else []
        times = [time for time in (*own, *(row["since_time"] for row in self.findings)) if time is not None]
        return min(times, default=None)

    @property
    def waiting(self) -> int | None:
        if self.verdict is not None:
            return None if self.verdict["lag"] is None else int(self.verdict["lag"])
        known = [int(row["messages_waiting"]) for row in self.findings if row["messages_waiting"] is not None]
        return max(known, default=None)

    @property
    def time_lag_ms(self) -> int | None:
        return None if self.verdict is None else self.verdict["time_lag_ms"]

    @property
    def clients(self) -> list[Row]:
        """Who owns the partitions that are not well."""
        bad = [key for key, row in self.partitions.items() if is_bad(row)]
        return clients(self.owners[key] for key in bad or self.owners if key in self.owners)

    @property
    def catches_up(self) -> str:
        """Whether and when the group will have read what waits."""
        if not NOT_READING & {*self.what.split(", ")}:
            return catching_up(self.rates)
        stopped, number = sum(map(is_bad, self.partitions.values())), len(self.partitions)
        return "not reading" if stopped in (0, number) else f"not reading {stopped:,} of {number:,} partitions"


def clients(owned: Iterable[Row]) -> list[Row]:
    """Those with most partitions first."""
    numbers = Counter((row["client_id"] or "", row["client_host"] or "") for row in owned)
    ordered = sorted(numbers.items(), key=lambda each: (-each[1], each[0]))
    return [{"client_id": name or None, "client_host": host or None, "num_partitions": number}
            for (name, host), number in ordered]  # fmt: skip


def is_bad(row: Row | None) -> bool:
    return row is not None and row["own_verdict"] not in WELL


def catching_up(rates: Iterable[Row]) -> str:
    """By the newest rows of `consumption_rates` of a group that reads."""
    reasons = {row["eta_unknown_reason"] for row in rates}
    if EtaUnknown.NOT_CATCHING_UP in reasons:
        return "never at this rate"
    if EtaUnknown.NOT_READING in reasons:
        return "not reading"
    etas = [row["eta_high_ms"] for row in rates if row["eta_high_ms"] is not None]
    if etas and reasons <= {None, EtaUnknown.NOTHING_TO_READ}:
        return f"in {in_words(max(etas) * 1000)}"
    if reasons == {EtaUnknown.NOTHING_TO_READ}:
        return "caught up"
    return "keeps up" if reasons <= {EtaUnknown.KEEPS_UP, EtaUnknown.NOTHING_TO_READ} and reasons else "not known"


@dataclass(frozen=True)
class Standing:
    """Of one cluster. `runs`: the newest one of each job of an audit."""

    history: History
    verdicts: Verdicts
    runs: Mapping[str, Row]

    @cached_property
    def as_of(self) -> datetime:
        return self.verdicts.as_of or self.runs["gate"]["as_of_time"] or NEVER

    @cached_property
    def findings(self) -> list[Row]:
        """Of the newest audit, worst first."""
        if self.gate_run is None:
            return []
        rows = self.history.rows("findings", equal("run_id", self.gate_run), columns=FINDING_COLUMNS)
        return sorted(rows, key=lambda row: int(row["rank"]))

    @cached_property
    def gate_run(self) -> str | None:
        """The run whose findings count: the newest whole one; without any the newest. A later one that changed nothing
        wrote none."""
        cluster = equal("cluster", self.history.cluster)
        rows = self.history.reader.arrow("gate_runs", ["run_id", "narrowed_by"], cluster)
        whole = rows.filter(rows["narrowed_by"].is_null())
        newest: str | None = pc.max((whole if whole.num_rows else rows)["run_id"]).as_py()
        return newest

    @property
    def narrowed_by(self) -> str | None:
        return next((row["narrowed_by"] for row in self.suites), None)

    @cached_property
    def suites(self) -> list[Row]:
        if self.gate_run is None:
            return []
        columns = ["suite", "verdict", "num_expectations", "num_failed", "num_errors", "narrowed_by"]
        return self.history.rows("gate_runs", equal("run_id", self.gate_run), columns=columns)

    @cached_property
    def lasting(self) -> list[Row]:
        """Findings that are true as of now, and that no waiver accepts."""
        return [row for row in self.findings if row["at_time"] is None and row["waived_until_time"] is None]

    def events_of(self, group: str) -> list[Row]:
        """What happened to it within the term of events, newest first."""
        events = [row for row in self.findings if row["group_id"] == group and row["at_time"] is not None]
        return sorted(events, key=lambda row: row["at_time"], reverse=True)

    @property
    def is_critical(self) -> bool:
        return any(row["severity"] == Severity.CRITICAL for row in self.lasting)

    @cached_property
    def states(self) -> dict[str, Row]:
        rows = self.history.rows_at("group_state_intervals", self.as_of, columns=STATE_COLUMNS)
        return {row["group_id"]: row for row in sorted(rows, key=lambda row: row["from_time"] or NEVER)}

    @cached_property
    def num_groups(self) -> int:
        """Without those that are gone: Burrow counts their commits for a while."""
        stateless = sorted(self.verdicts.of_groups.keys() - self.states.keys())
        before = Condition("from_time", "<=", self.as_of, or_null=True)
        places = one_of("group_id", stateless), before
        gone = self.history.distinct("group_state_intervals", "group_id", *places) if stateless else set()
        return len(self.states) + len({*stateless} - gone)

    @cached_property
    def unwell(self) -> list[Unwell]:
        """All of them, worst first."""
        by_group: dict[str, Unwell] = {}
        for row in self.lasting:
            if row["group_id"] is not None and row["severity"] in SEVERITIES:
                by_group.setdefault(row["group_id"], Unwell(row["group_id"])).findings.append(row)
        waived = {row["group_id"] for row in self.findings if row["waived_until_time"] is not None}
        for group, row in self.verdicts.of_groups.items():
            if group in by_group or (is_bad(row) and group not in waived):
                by_group.setdefault(group, Unwell(group)).verdict = row
        return sorted(by_group.values(), key=lambda each: each.place)

    @property
    def num_unknown(self) -> int:
        """Groups of which an input is missing, so that nothing can be said: they are not called well."""
        unwell = {each.group for each in self.unwell}
        rows = self.verdicts.of_groups.items()
        return sum(row["own_verdict"] == LagVerdict.UNKNOWN for group, row in rows if group not in unwell)

    def about(self, group: str) -> Unwell:
        """Of a group that may be well."""
        there = next((each for each in self.unwell if each.group == group), None)
        return there or Unwell(group, self.verdicts.of_groups.get(group))

    def with_details(self, some: Sequence[Unwell]) -> Sequence[Unwell]:
        if not some:
            return some
        names = [each.group for each in some]
        of_groups = one_of("group_id", names)
        rebalances = self.by_group(
            "rebalances", REBALANCE_COLUMNS, of_groups, Condition("start_time", "<=", self.as_of)
        )
        owned = by_group(self.history.rows_at("ownership_intervals", self.as_of, of_groups, columns=OWNER_COLUMNS))
        recent = Condition("bucket_time", ">", self.as_of - RECENT)
        left = self.last_owners([name for name in names if not any(map(is_reader, owned[name]))])
        rates = self.by_group("consumption_rates", RATE_COLUMNS, of_groups, equal("bucket_ms", BUCKET_MS), recent)
        as_of = equal("as_of_time", self.verdicts.as_of)
        judged = self.by_group(VERDICTS, VERDICT_COLUMNS, of_groups, as_of)
        for each in some:
            own = None if each.verdict is None else each.verdict["evidence_partition"]
            rows = (row for row in judged[each.group] if row["evidence_partition"] == own)
            each.partitions = {place(row): row for row in rows if row["partition"] is not None}
            each.owners = {place(row): row for row in owned[each.group] if is_reader(row)}
            each.last_owners = left.get(each.group, [])
            each.rebalance = last_before(rebalances[each.group], each.since or self.as_of)
            each.rates = newest_of_topics(rates[each.group])
            if each.rebalance is not None:
                each.mark = mark_before(marks_about(self.marks, each.group), each.rebalance["start_time"])
        return some

    def last_owners(self, groups: Sequence[str]) -> Mapping[str, list[Row]]:
        """Of each of these groups what the last owners had, each as long as it had it until a minute before the end."""
        if not groups:
            return {}
        ended = one_of("group_id", groups), Condition("to_time", "<=", self.as_of)
        rows = self.by_group("ownership_intervals", OWNER_COLUMNS, *ended)
        readers = {group: [row for row in some if is_reader(row)] for group, some in rows.items()}
        newest = {group: max(row["to_time"] for row in some) for group, some in readers.items() if some}
        return {group: [row for row in readers[group] if row["to_time"] > end - TOGETHER]
                for group, end in newest.items()}  # fmt: skip

    def by_group(self, table: str, columns: Sequence[str], *conditions: Condition) -> Mapping[str, list[Row]]:
        return by_group(self.history.rows(table, *conditions, columns=columns))

    @cached_property
    def marks(self) -> list[Row]:
        return current_marks(self.history.reader.warehouse, self.history.cluster)

    @cached_property
    def resets(self) -> list[Row]:
        """Of the last day, those that moved most messages first. Each with the mark that it followed."""
        since = Condition("at_time", ">", self.as_of - DAY), Condition("at_time", "<=", self.as_of)
        rows = self.history.rows("offset_resets", *since, columns=RESET_COLUMNS)
        for row in rows:
            mark = mark_before(marks_about(self.marks, row["group_id"]), row["at_time"])
            row["after_mark"] = None if mark is None else after_words(mark, row["at_time"])
        return sorted(rows, key=lambda row: (-moved_messages(row), row["group_id"], str(row["topic"]), row["at_time"]))

    @property
    def storms(self) -> list[Row]:
        return [
            row for row in self.findings
            if row["kind"] == FindingKind.REBALANCE_STORM and row["at_time"] > self.as_of - DAY
        ]  # fmt: skip

    @cached_property
    def quality(self) -> dict[str, Any]:
        failed = (SuiteVerdict.FAILED, SuiteVerdict.ERROR)
        return {
            "num_expectations": sum(row["num_expectations"] for row in self.suites),
            "num_failed": sum(row["num_failed"] for row in self.suites),
            "num_errors": sum(row["num_errors"] for row in self.suites),
            "failed_suites": sorted(row["suite"] for row in self.suites if row["verdict"] in failed),
            **self.rejected,
        }

    @property
    def rejected(self) -> dict[str, Any]:
        """Records, and damaged ranges of bytes. There may be millions."""
        columns = ["byte_position", "size_bytes", "num_records", "is_num_records_estimated"]
        rows = self.history.reader.arrow("rejected_records", columns, equal("cluster", self.history.cluster))
        ranges = rows.filter(pc.is_valid(rows["byte_position"]))
        damaged = sum(row["damaged_records"] or 0 for row in self.history.coverage())
        return {
            "num_rejected": rows.num_rows - ranges.num_rows,
            "num_damaged_ranges": ranges.num_rows,
            "damaged_bytes": pc.sum(ranges["size_bytes"]).as_py() or 0,
            # Of which no copy of the log has an undamaged one.
            "damaged_records": damaged,
            "is_damage_estimated": bool(pc.any(ranges["is_num_records_estimated"]).as_py()),
        }

    @cached_property
    def coverage(self) -> dict[str, Any]:
        stretches: dict[int, list[Row]] = defaultdict(list)
        reader = self.history.reader
        for row in self.history.coverage():
            stretches[row["offsets_partition"]].append(row)
        times = [row["to_time"] for some in stretches.values() for row in some if row["to_time"] is not None]
        newest, rows = max(times, default=None), self.history.offsets_partitions.rows
        return {
            "num_partitions_read": sum(row["reading"] in KNOWN for row in rows) if rows else len(stretches),
            "num_offsets_partitions": self.history.offsets_partitions.number,
            "never_read": never_read(rows),
            "num_records": sum(row["num_records"] for some in stretches.values() for row in some),
            "num_missing_ranges": sum(len(unseen_of(some)) for some in stretches.values()),
            "newest_record_time": newest,
            "has_newer_records": newest is not None and newest > self.as_of,
            "has_snapshots": "topic_snapshots" in reader.versions
            and any(reader.files("topic_snapshots", [equal("cluster", self.history.cluster)])),
        }


def standing(history: History) -> Standing:
    """Fails with a message if there was no audit yet."""
    columns = ["cluster", "job", "run_id", "as_of_time", "finished_time"]
    warehouse = history.reader.warehouse
    runs = [row for job in ("lag", "gate") for row in warehouse.run_rows(columns, job)]
    newest = {row["job"]: row for row in sorted(runs, key=lambda row: str(row["run_id"]))
              if row["cluster"] == history.cluster}  # fmt: skip
    verdicts = group_verdicts(history, None)
    if verdicts.as_of is None and "gate" not in newest:
        line = f"{warehouse.address}: no audit of cluster {history.cluster} has ended yet; run `groupscope audit`"
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, line)
    return Standing(history, verdicts, newest)


def by_group(rows: Iterable[Row]) -> Mapping[str, list[Row]]:
    grouped: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        grouped[row["group_id"]].append(row)
    return grouped


def is_reader(row: Row) -> bool:
    return row["phase"] != OwnershipPhase.HELD and row["role"] in (None, TaskRole.ACTIVE)


def last_before(rebalances: Sequence[Row], at: datetime) -> Row | None:
    before = [row for row in rebalances if row["start_time"] <= at]
    return max(before, key=lambda row: (row["start_time"], row["assignment_offset"]), default=None)


def newest_of_topics(rates: Iterable[Row]) -> list[Row]:
    newest: dict[Any, Row] = {}
    for row in sorted(rates, key=lambda row: row["bucket_time"]):
        newest[row["topic"], row["topic_id"]] = row
    return [*newest.values()]


def moved_messages(row: Row) -> int:
    return int(row["messages_reread"] or 0) + int(row["messages_skipped"] or 0)
