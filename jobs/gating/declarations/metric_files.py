"""Reads the declarations of metrics: one portable SQL aggregate per table, documented by comments.

    -- What is measured, in a sentence.
    -- num_rows: Rows of the table.
    -- rows_failing_negative: Rows that commit a negative offset.
    -- rule negative: committed_offset < 0
    WITH judged AS (
      SELECT * FROM offset_commits WHERE cluster = :cluster
    )
    SELECT count(*) AS num_rows, :rules
    FROM judged

The result has one row, or one row per slice if it has a column `slice`. Every other column is a metric. `:rules`
becomes a count of the failing rows for each rule. The statement that lists these rows uses the same condition.

Files also say what is expected; from this, the suite of the table is made:

    -- rows due if: runs.num_decoded
    -- rule negative warning as odd_commits: committed_offset < 0
    -- limit share_known critical: 0 to 1
    -- limit num_critical warning as replay_anomaly: 0, rows by SELECT …

`as` are the kinds of findings that list the same rows. In files of ours, `{keys}` are the two metrics of the key of the
table, which a file without SQL has alone; `judged` are its rows of the cluster, unless a WITH says others. Where rows
have evidence, or an interval, its order is a rule of our tables.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jobs.gating.declarations.rule_files import METRICS, RuleFile, shipped_files, user_files
from jobs.gating.declarations.sql_text import Parameters, check_names
from jobs.output.failure import Failure
from schemas.renames import renamed
from schemas.sql_files import sql_file
from schemas.tables import TABLES, Table
from schemas.words.exit_codes import ExitCode
from schemas.words.gate import FindingKind
from schemas.words.history import Severity

SLICE, ALL = "slice", "all"
RULES = ":rules"
FAILING = "rows_failing_"
METRIC = re.compile(r"(?P<name>[a-z]\w*): (?P<text>.+)")
EXPECTED = r"(?: (?P<severity>info|warning|critical)(?: as (?P<kinds>[\w ]+))?)"
RULE = re.compile(rf"rule (?P<name>[a-z]\w*){EXPECTED}?: (?P<text>.+)")
LIMIT = re.compile(
    rf"limit (?P<name>[a-z]\w*){EXPECTED}: (?P<low>\S+?)(?: to (?P<high>\S+?))?(?:, rows by (?P<query>.+))?"
)
DUE = re.compile(r"rows due if: (?P<names>.+)")
SEVERITIES = {severity.value: severity for severity in Severity}
KEYS = "{keys}"
OURS = "schemas/"
OF_KEY = {"num_rows": "Number of rows.", "num_repeated_keys": "Rows that repeat the key of another row."}
EVIDENCE = ("evidence_partition", "evidence_first_offset", "evidence_last_offset")
# By columns that a table has: a rule, what it counts, and its condition.
OF_COLUMNS = (
    (EVIDENCE, "evidence_order", "Rows whose evidence ends before it begins.",
     "evidence_first_offset > evidence_last_offset"),
    ((*EVIDENCE, "from_record_offset", "to_record_offset"), "interval_order",
     "Intervals that end before they begin, by offset.", "to_record_offset < from_record_offset"),
)  # fmt: skip
# Other words in these places would be read as a comment, and expect nothing.
MEANT = re.compile(r"(?:rule \w+ [^:]+|limit .+): .*|(?:rule|limit) \w+ (?:info|warning|critical)\b.*|rows due if\b.*")
LINES = "rule NAME SEVERITY: CONDITION, limit METRIC SEVERITY: NUMBER to NUMBER, or rows due if: TABLE.METRIC"
LAST_SELECT = re.compile(r"(?m)^SELECT\b(?![\s\S]*^SELECT\b)")


@dataclass(frozen=True)
class Limit:
    """What a metric must be. `query` lists failing rows, if no rule does; `kinds` are findings about the same rows."""

    metric: str
    severity: Severity
    kinds: tuple[FindingKind, ...] = ()
    low: float = 0
    high: float = 0
    query: str | None = None


@dataclass(frozen=True)
class Metrics:
    """`metrics`: meaning by name. `rules`: condition of a failing row, by name. `limits` and `rows_due`, of which one
    above 0 says that the table must have rows, make its suite."""

    table: str
    place: str
    about: str
    metrics: Mapping[str, str]
    rules: Mapping[str, str]
    sql: str
    limits: tuple[Limit, ...] = ()
    rows_due: tuple[str, ...] = ()

    def statement(self, parameters: Parameters) -> str:
        counts = ", ".join(
            f"count(*) FILTER (WHERE {condition}) AS {FAILING}{name}" for name, condition in self.rules.items()
        )
        return parameters.fill(self.sql.replace(RULES, counts), self.place)

    def failing_rows(self, metric: str, parameters: Parameters) -> str | None:
        """The statement that lists the rows of a metric; None: it belongs to no rule."""
        condition = self.rules.get(metric.removeprefix(FAILING)) if metric.startswith(FAILING) else None
        if condition is None:
            return None
        select = LAST_SELECT.search(self.sql)
        assert select is not None
        listing = f"{self.sql[: select.start()]}SELECT * FROM judged WHERE {condition}"
        return parameters.fill(listing, self.place)


def metric_files(config: Path | None) -> dict[str, Metrics]:
    """By table or view: ours and the user's."""
    files = user_files(METRICS, ".sql", config)
    for name, file in files.items():
        if since := renamed(name):
            raise misuse(file.place, f"{since}; rename the file")
    users = {name: parse_metrics(file) for name, file in files.items()}
    return dict(sorted({**our_metrics(), **users}.items()))


@cache
def our_metrics() -> dict[str, Metrics]:
    return {name: parse_metrics(file) for name, file in shipped_files(METRICS).items()}


def parse_metrics(file: RuleFile) -> Metrics:
    declared, is_ours = sql_file(file.text, file.place, is_loose=True), file.place.startswith(OURS)
    table = TABLES.get(file.name) if is_ours else None
    about: list[str] = []
    metrics: dict[str, str] = {}
    rules: dict[str, str] = {}
    limits: list[Limit] = []
    due: list[str] = []
    for line, text in declared.header:
        if match := RULE.fullmatch(text):
            rules[match["name"]] = match["text"]
            if match["severity"]:
                limits.append(limit(f"{file.place}, line {line}", FAILING + match["name"], match.groupdict()))
        elif match := LIMIT.fullmatch(text):
            limits.append(limit(f"{file.place}, line {line}", match["name"], match.groupdict()))
        elif match := DUE.fullmatch(text):
            due += match["names"].split()
        elif match := METRIC.fullmatch(text):
            metrics[match["name"]] = match["text"]
        else:
            check_words(f"{file.place}, line {line}", text, is_first=not about, is_ours=is_ours)
            about.append(text)
    sql = declared.sql.strip().rstrip(";")
    if is_ours:
        check_parts(file, table)
    if table is not None and (limits or KEYS in sql or not sql):
        if KEYS in sql or not sql:
            metrics = OF_KEY | metrics
            limits.insert(0, Limit("num_repeated_keys", Severity.CRITICAL))
        for columns, name, counted, condition in OF_COLUMNS:
            if {*columns} <= {column.name for column in table.columns}:
                metrics[FAILING + name], rules[name] = counted, condition
                limits.append(Limit(FAILING + name, Severity.CRITICAL))
        sql = with_keys(sql, table, bool(rules))
    sql = with_rows(sql, file.name) if is_ours else sql
    check(file.place, metrics, rules, sql)
    check_suite(file.place, limits, due)
    return Metrics(file.name, file.place, " ".join(about), metrics, rules, sql, tuple(limits), tuple(due))


def check_words(place: str, text: str, *, is_first: bool, is_ours: bool) -> None:
    """Of a comment that declares nothing. Ours have one paragraph of them, at the head."""
    if MEANT.fullmatch(text):
        raise misuse(place, f"{text}; expected {LINES}")
    if is_ours and not (is_first and text[0].isupper()):
        raise misuse(
            place, f"{text}; expected what the table measures, in one paragraph, then METRIC: what it is, {LINES}"
        )


def check_parts(file: RuleFile, table: Table | None) -> None:
    for part in re.finditer(r"\{[^{}\s]*\}?", file.text):
        place = f"{file.place}, line {file.text.count(chr(10), 0, part.start()) + 1}"
        if part[0] != KEYS:
            raise misuse(place, f"{part[0]}: no such part; expected {KEYS} or none")
        if table is None:
            raise misuse(place, f"{KEYS}: no table has the name {file.name}; expected no keys")


def check_suite(place: str, limits: Sequence[Limit], due: Sequence[str]) -> None:
    if due and not limits:
        raise misuse(place, "rows due if: expects nothing alone; add a limit, or a severity to a rule")


def limit(place: str, metric: str, said: Mapping[str, str | None]) -> Limit:
    known = {kind.value: kind for kind in FindingKind}
    kinds = (said["kinds"] or "").split()
    for kind in kinds:
        if kind not in known:
            now = renamed(kind)
            line = f"as {kind}: no kind of finding{now and f', {now}'}; expected one of {', '.join(known)}"
            raise misuse(place, line)
    try:
        low = json.loads(said.get("low") or "0")
        high = json.loads(said.get("high") or "null")
    except ValueError:
        raise misuse(place, "expected `limit METRIC SEVERITY: NUMBER` or `NUMBER to NUMBER`") from None
    check_names(place, said.get("query") or "")
    return Limit(metric, SEVERITIES[said["severity"] or ""], tuple(known[kind] for kind in kinds), low,
                 low if high is None else high, said.get("query"))  # fmt: skip


def with_rows(sql: str, name: str) -> str:
    if not sql.startswith("SELECT") or "FROM judged" not in sql:
        return sql
    return f"WITH judged AS (\n  SELECT * FROM {name} WHERE cluster = :cluster\n)\n{sql}"


def with_keys(sql: str, table: Table, has_rules: bool) -> str:
    keys = f"count(*) AS num_rows, count(*) - count(DISTINCT ({', '.join(table.key)})) AS num_repeated_keys"
    return sql.replace(KEYS, keys) or f"SELECT {keys}{', ' + RULES if has_rules else ''}\nFROM judged"


def check(place: str, metrics: Mapping[str, str], rules: Mapping[str, str], sql: str) -> None:
    if not LAST_SELECT.search(sql):
        raise misuse(place, "no line begins with SELECT; write one aggregate")
    if not metrics:
        raise misuse(place, "no metric is described; add a line for each, such as `-- num_rows: Rows of the table.`")
    if rules and not (RULES in sql and re.search(r"\bFROM judged\b", sql)):
        raise misuse(
            place, "it has rules `-- rule NAME: CONDITION`, so its last SELECT must have :rules and FROM judged"
        )
    if RULES in sql and not rules:
        raise misuse(place, ":rules is in the query, but no line `-- rule NAME: CONDITION`; add one, or remove :rules")
    for name in rules:
        if f"{FAILING}{name}" not in metrics:
            line = f"rule {name} makes a metric {FAILING}{name}; describe it by a line"
            raise misuse(place, f"{line} `-- {FAILING}{name}: what it is`")
    for name in metrics:
        if name.startswith(FAILING) and name.removeprefix(FAILING) not in rules:
            raise misuse(
                place, f"metric {name} has no rule; add a line `-- rule {name.removeprefix(FAILING)}: CONDITION`"
            )


def misuse(place: str, what: str) -> Failure:
    return Failure(ExitCode.USAGE, f"{place}: {what}")
