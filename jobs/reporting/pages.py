"""Pages: one template with a style sheet, a script and the data of the page; its policy forbids all others."""

import json
import zlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from jobs.command_line.values import EPOCH
from jobs.output.failure import visible
from jobs.output.rows import time_text
from jobs.reporting.columns import Json, in_planes
from udfs.sentences.durations import in_words

TEMPLATE, STYLE = "report.html", "report.css"
SCRIPTS = (
    "times.js", "data.js", "shapes.js", "frame.js", "map.js", "findings.js", "lanes.js", "owners.js", "panel.js",
    "story.js", "group.js", "keys.js",
)  # fmt: skip
# Of names in the page without a script.
MOST_CHARACTERS = 120


@cache
def resource(name: str) -> str:
    return (files("jobs.reporting") / "page" / name).read_text("utf-8")


@cache
def environment() -> Environment:
    made = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=safe,
    )  # fmt: skip
    made.filters |= {"cut": shorten, "name": group_name}
    return made


def safe(value: Any) -> Any:
    """Every value that a template writes goes through here: control and bidi characters become escapes. Markup is our
    own, and has been through it."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def shorten(text: str, most: int = MOST_CHARACTERS) -> str:
    """The beginning and the end, between them how much is left out."""
    shown = visible(text)
    if len(shown) <= most:
        return shown
    head, tail = most * 2 // 3, most // 6
    return f"{shown[:head]}… {len(shown) - head - tail:,} more …{shown[-tail:]}"


def group_name(text: str) -> str:
    """In quotes where nothing would be seen: Kafka lets groups have no name."""
    return shorten(text) if text.strip() else f"'{shorten(text)}'"


@cache
def script() -> str:
    inner = "\n".join(resource(name) for name in SCRIPTS)
    return f'"use strict";\n(() => {{\n{inner}\n}})();\n'


def page(document: Mapping[str, Json], values: Mapping[str, Any]) -> str:
    ours = {"style": Markup(resource(STYLE)), "script": Markup(script()), "policy": policy()}
    # No text in it can end the element that holds it.
    data = Markup(json_text(document).replace("<", "\\u003c"))
    return environment().from_string(resource(TEMPLATE)).render(**values, data=data, **ours)


def json_text(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def packed(document: Mapping[str, Json]) -> str:
    """As a browser unpacks it: the length of its JSON, the JSON, and numbers of its tables byte by byte; deflated, in
    letters."""
    planes: list[bytes] = []
    shown = {name: in_planes(value, planes) if isinstance(value, dict) else value for name, value in document.items()}
    text = json_text(shown).encode()
    # A higher level takes three times as long, for a hundredth less.
    deflate = zlib.compressobj(6, wbits=-zlib.MAX_WBITS, memLevel=9)
    raw = b"".join([len(text).to_bytes(4, "little"), text, *planes])
    return b64encode(deflate.compress(raw) + deflate.flush()).decode()


@cache
def policy() -> str:
    """No other script and no other style sheet may run."""
    hashes = (b64encode(sha256(text.encode()).digest()).decode() for text in (resource(STYLE), script()))
    style, script_hash = (f"'sha256-{each}'" for each in hashes)
    return f"default-src 'none'; style-src {style}; script-src {script_hash}; base-uri 'none'; form-action 'none'"


def text_of(parts: Sequence[Json]) -> str:
    """A sentence as plain text."""
    return "".join(part if isinstance(part, str) else part_text(part) for part in parts)


def part_text(part: Mapping[str, Json]) -> str:
    match part:
        case {"g": group}:
            return str(group)
        case {"n": number}:
            return f"{number:,}"
        case {"d": duration}:
            return in_words(duration * 1000)
    return "" if part["t"] is None else time_text(EPOCH + timedelta(milliseconds=part["t"]))
