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
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jobs.gating.declarations.rule_files import METRICS, RuleFile, rule_files
from jobs.gating.declarations.sql_text import Parameters
from jobs.output.failure import Failure
from schemas.sql_files import sql_file
from schemas.words.exit_codes import ExitCode

SLICE, ALL = "slice", "all"
RULES = ":rules"
FAILING = "rows_failing_"
ENTRY = re.compile(r"(?P<rule>rule )?(?P<name>[a-z]\w*): (?P<text>.+)")
LAST_SELECT = re.compile(r"(?m)^SELECT\b(?![\s\S]*^SELECT\b)")


@dataclass(frozen=True)
class Metrics:
    """`metrics`: meaning by name. `rules`: condition of a failing row, by name."""

    table: str
    place: str
    about: str
    metrics: Mapping[str, str]
    rules: Mapping[str, str]
    sql: str

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
    return {name: parse_metrics(file) for name, file in rule_files(METRICS, ".sql", config).items()}


def parse_metrics(file: RuleFile) -> Metrics:
    declared = sql_file(file.text, file.place, is_loose=True)
    comments = [text.strip() for _, text in declared.header]
    about = " ".join(text for text in comments if not ENTRY.fullmatch(text))
    matches = [match for text in comments if (match := ENTRY.fullmatch(text))]
    metrics = {each["name"]: each["text"] for each in matches if not each["rule"]}
    rules = {each["name"]: each["text"] for each in matches if each["rule"]}
    sql = declared.sql.strip().rstrip(";")
    check(file.place, metrics, rules, sql)
    return Metrics(table=file.name, place=file.place, about=about, metrics=metrics, rules=rules, sql=sql)


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
