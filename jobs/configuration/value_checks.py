"""Checks of setting values: what each kind of value must be."""

import difflib
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from jobs.storage.options import KNOWN, is_known
from udfs.log.release_lines import BY_RELEASE


class Check(NamedTuple):
    """`expected` describes the value in messages. `right` returns the value as the program uses it; for a wrong value
    it returns None, or raises a ValueError with the reason."""

    expected: str
    right: Callable[[object], Any]


def number_from(least: int, most: int) -> Check:
    def right(value: object) -> int | None:
        # True and False are integers to Python, though not to TOML.
        return value if type(value) is int and least <= value <= most else None

    return Check(f"a whole number from {least:_} to {most:_}", right)


def one_of(*choices: str) -> Check:
    expected = " or ".join(f'"{choice}"' for choice in choices)
    return Check(expected, lambda value: value if value in choices else None)


def right_share(value: object) -> float | None:
    # A whole 0 or 1 is the same setting as 0.0 or 1.0, and must not change the hash of the settings.
    return float(value) if type(value) in (int, float) and 0 <= value <= 1 else None  # type: ignore[operator,arg-type]


def right_factor(value: object) -> float | None:
    return float(value) if type(value) in (int, float) and 1 <= value <= 1000 else None  # type: ignore[operator,arg-type]


def right_pattern(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    try:
        re.compile(value)
    except re.error as error:
        raise ValueError(error) from None
    return value


def right_patterns(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list):
        return None
    patterns = tuple(map(right_pattern, value))
    return None if None in patterns else patterns  # type: ignore[return-value]


def right_topic_sets(value: object) -> tuple[tuple[str, ...], ...] | None:
    if not isinstance(value, list) or not all(isinstance(each, list) and len(each) > 1 for each in value):
        return None
    sets = tuple(map(tuple, value))
    if not all(isinstance(topic, str) for topics in sets for topic in topics):
        return None
    return sets if all(len(set(topics)) == len(topics) for topics in sets) else None


def right_release(value: object) -> str | None:
    return value if isinstance(value, str) and (not value or value in BY_RELEASE) else None


SHARE = Check("a share from 0 to 1", right_share)
FACTOR = Check("a number from 1 to 1_000", right_factor)
PATTERN = Check("a regular expression", right_pattern)
PATTERNS = Check("a list of regular expressions", right_patterns)
TOPIC_SETS = Check("a list of lists, each with two or more different topics", right_topic_sets)
FLAG = Check("true or false", lambda value: value if isinstance(value, bool) else None)
RELEASE = Check(
    f'a release from "{next(iter(BY_RELEASE))}" to "{list(BY_RELEASE)[-1]}", such as "4.1", "3.7-new", or ""',
    right_release,
)
TEXT = Check("a text", lambda value: value if isinstance(value, str) else None)


def right_options(value: object) -> tuple[tuple[str, str], ...] | None:
    """Messages name only the keys: values may be secrets."""
    if not isinstance(value, dict):
        return None
    for name, text in value.items():
        if not is_known(name):
            near = difflib.get_close_matches(name, sorted(KNOWN), n=1, cutoff=0.3)
            raise ValueError(f"{name}: no such option" + "".join(f", the nearest is {each}" for each in near))
        if not isinstance(text, str):
            raise ValueError(f"{name}: its value is not a string")
    return tuple(sorted(value.items()))


OPTIONS = Check("a table with a string for each option", right_options)
