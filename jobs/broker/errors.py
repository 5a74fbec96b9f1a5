"""Errors between a cluster and its client."""

from typing import Final, TypeVar

from jobs.output.failure import Failure
from schemas.words.exit_codes import ExitCode

UNKNOWN_ERROR: Final = -1
ABSENT_TOPIC: Final = 3
FORBIDDEN_TOPIC: Final = 29
FORBIDDEN_CLUSTER: Final = 31
UNSUPPORTED_VERSION: Final = 35

Key = TypeVar("Key")


class ConnectionLost(Exception):
    """A retry may help. The message names the broker."""


class NoAnswer(ConnectionLost):
    """No response in time."""


class Forbidden(Failure):
    """A permission is missing; the message says which."""

    def __init__(self, message: str) -> None:
        super().__init__(ExitCode.UNREADABLE_INPUT, message)


def error_name(code: int) -> str:
    """The name in Kafka's documentation."""
    from kafka.errors import for_code

    kind = for_code(code)
    return str(getattr(kind, "message", None) or kind.__name__)


def is_passing(code: int) -> bool:
    """Whether a retry may succeed."""
    from kafka.errors import for_code

    # An unknown error is often the shutdown of a broker.
    return code == UNKNOWN_ERROR or bool(for_code(code).retriable)


def leave_out(left_out: dict[Key, str] | None, key: Key, failure: Failure) -> None:
    """Notes the reason if the caller accepts partial results; else fails."""
    if left_out is None:
        raise failure
    left_out[key] = str(failure)


def needs(operation: str, topic: str) -> Forbidden:
    return Forbidden(f"topic {topic}: the Kafka user has no {operation} permission on it")
