"""Names in a sentence: of a member, and lists of the first few and the number of the others."""

from collections.abc import Mapping, Sequence
from typing import Any


def list_names(names: Sequence[str], most: int, gap: str = ", ") -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return gap.join(names[:most]) + more


def member_name(row: Mapping[str, Any]) -> str:
    """By what its program is called and where it runs. Kafka writes hosts as Java does, such as /10.0.0.7."""
    host = f" at {row['client_host'].removeprefix('/')}" if row["client_host"] else ""
    return f"{row['client_id'] or row['member_id']}{host}"
