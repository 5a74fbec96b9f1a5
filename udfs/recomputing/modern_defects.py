"""Known defects of Kafka's coordinator and its assignors whose signature the records of a target assignment bear."""

from udfs.recomputing.modern_group import ModernGroup
from udfs.recomputing.modern_rows import Answer


def known_defect(group: ModernGroup, answer: Answer) -> str | None:
    return None
