"""Findings as the page's document has them: what is wrong, in words, the records that show it, and what to run next."""

from jobs.answers.short_ids import ShortIds
from jobs.output.failure import visible
from jobs.pages.run_pages import evidence_place
from jobs.reporting.columns import Json, ms, spelled, words
from jobs.reporting.commands import dump_command, next_command, query_of
from jobs.reporting.head import MEANINGS, Answers

# Of these the page has the SQL too; of the others, the statement that gives it.
MOST_WITH_SQL = 150
MOST_FINDINGS = 2_000
# Columns of the table by what the document calls them.
COLUMNS = {
    "rank": "rank", "severity": "severity", "kind": "kind", "is_new": "is_new", "group": "group_id", "topic": "topic",
    "partition": "partition", "confidence": "confidence", "waiting": "messages_waiting", "at": "at_time",
    "since": "since_time", "first_seen": "first_seen_time", "waived_until": "waived_until_time", "waiver": "waiver",
}  # fmt: skip


def finding_table(answers: Answers, warehouse: str, *, has_names: bool) -> dict[str, Json]:
    """In order. `has_names`: groups have the names that the log has: a command that names a hash, or its folder, would
    find nothing in the log."""
    rows = answers["findings"][:MOST_FINDINGS]
    logs = {row["offsets_partition"]: row["source_file"] for row in answers["logs"]}
    short = ShortIds({row["member_id"] for row in answers["members"]}, (row["message"] for row in rows))
    table: dict[str, Json] = {shown: [spelled(row[name]) for row in rows] for shown, name in COLUMNS.items()}
    return table | {
        "heading": words([MEANINGS.get(row["kind"], (row["kind"], ""))[0] for row in rows]),
        "meaning": words([MEANINGS.get(row["kind"], ("", ""))[1] for row in rows]),
        # Each topic with its partitions; none: the topic as a whole.
        "topic_partitions": [
            [
                [visible(each["topic"] or each["topic_id"] or "?"), each["partitions"] or []]
                for each in row["topic_partitions"] or ()
            ]
            for row in rows
        ],
        "message": [visible(short.text(row["message"])) for row in rows],
        "evidence": [evidence_place(row) for row in rows],
        "dump": [dump_command(row, logs) if has_names else None for row in rows],
        "next": [next_command(row, warehouse, ms(row["at_time"])) if has_names else None for row in rows],
        "query": [
            "\n".join(map(visible, (row["query"] if place < MOST_WITH_SQL else query_of(row)).split("\n")))
            for place, row in enumerate(rows)
        ],
        "is_query_of_query": [place >= MOST_WITH_SQL for place in range(len(rows))],
    }
