"""What becomes of each text of a table in a redacted copy, by the path of its column.

Every text is a name, also in columns of later releases, until it is listed here. Bytes are always left out.
"""

from enum import Enum
from functools import cache

from schemas.tables import TABLES
from schemas.views import VIEWS
from schemas.words.enumerations import enumerations
from udfs.assignors.answers import ASSIGNORS


class Kind(Enum):
    # Kept: what we write, which has no name in it.
    OURS = "ours"
    # Kept if it is a word of Kafka or of ours; any other value is a name.
    WORD = "word"
    # Kept if it is a number or a truth value; any other value is a name.
    NUMBER = "number"
    # A sentence of ours: names in it are replaced.
    SENTENCE = "sentence"
    # A statement: names in its literals are replaced, not those of tables and columns.
    SQL = "sql"
    # Left out: a sentence or JSON made of raw bytes.
    RAW = "raw"
    NAME = "name"


OURS = frozenset({
    "algorithm", "assignment_audit.variant", "checks.name", "config_hash", "contract_version", "expectation", "field",
    "column_name", "job", "known_defect", "metric", "migration", "out_of_range.field", "part", "run_id", "settings.key",
    "group_settings.settings.key", "setting", "table_name", "table_versions.key", "variant", "rejected_records.reason",
})  # fmt: skip
WORDS = frozenset({
    "actor", "assignor", "assignor_after", "assignor_before", "assignor_source", "assignors.name", "blockers.kind",
    "burrow_rule", "burrow_verdict", "change", "classic_member.supported_protocols.name", "client_library",
    "client_library_confidence", "confidence", "ended_by", "eta_unknown_reason", "group_protocol", "group_type",
    "kind", "leave_kind", "marker", "member_state", "mode", "outcome", "own_verdict", "partition_counts_source",
    "phase", "protocol", "protocol_type", "readiness", "role", "rule", "server_assignor", "settings_source",
    "severity", "source", "state", "suite", "time_lag_method", "trigger", "unknown_reason", "verdict", "via",
})  # fmt: skip
NUMBERS = frozenset({"settings.value", "group_settings.settings.value"})
SENTENCES = frozenset({
    "blockers.detail", "checks.detail", "detail", "error", "first_evidence", "message", "observed", "reason",
    "skipped_reason", "slice", "subject", "threshold", "trigger_detail", "unread_basis",
})  # fmt: skip
STATEMENTS = frozenset({"query"})
RAW = frozenset({"rejected_records.detail", "members.payload_json"})
# Names that no sentence has, or that are too short to be looked for in one.
NOT_IN_SENTENCES = (
    "metadata", "rack", "racks", "rack_id", "subtopology_id", "value", "key", "text", "group_pattern",
)  # fmt: skip
KINDS = (
    (RAW, Kind.RAW),
    (OURS, Kind.OURS),
    (WORDS, Kind.WORD),
    (NUMBERS, Kind.NUMBER),
    (SENTENCES, Kind.SENTENCE),
    (STATEMENTS, Kind.SQL),
)


def kind_of(table: str, path: str) -> Kind:
    """`path`: names of the column and of fields in it, joined by dots."""
    for places, kind in KINDS:
        if f"{table}.{path}" in places:
            return kind
    return next((kind for places, kind in KINDS if path in places), Kind.NAME)


def is_in_sentences(path: str) -> bool:
    return path.rpartition(".")[2] not in NOT_IN_SENTENCES


@cache
def known_words() -> frozenset[str]:
    """Every enumerated value, every table and view (suites have their names), and what Kafka's own clients write as
    protocols and assignors."""
    ours = {value.value for each in enumerations() for value in each}
    return frozenset(ours | set(TABLES) | set(VIEWS) | {name for _, name in ASSIGNORS} | OF_KAFKA)


OF_KAFKA = frozenset({
    "classic", "compatible", "connect", "consumer", "sessioned", "share", "simple", "sr", "stream",
    "streams", "v0",
})  # fmt: skip
