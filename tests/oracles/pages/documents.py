"""The document that a page of the report holds, read as a browser reads it, without anything of the product."""

import base64
import json
import re
import zlib
from html import unescape
from itertools import accumulate
from pathlib import Path
from typing import Any

DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)
Table = dict[str, list[Any]]


def document_of(page: str) -> dict[str, Any]:
    (text,) = DATA.findall(page)
    document: dict[str, Any] = json.loads(text)
    return document


def document_at(file: Path) -> dict[str, Any]:
    return document_of(file.read_text())


def said(sentence: list[Any]) -> str:
    """With times and durations as numbers."""
    return "".join(part if isinstance(part, str) else str(part.get("g", part.get("n", part.get("d", part.get("t")))))
                   for part in sentence)  # fmt: skip


def detail_of(document: dict[str, Any], group: str) -> dict[str, Any]:
    raw = zlib.decompress(base64.b64decode(document["details"][group]), -zlib.MAX_WBITS)
    end = 4 + int.from_bytes(raw[:4], "little")
    detail = json.loads(raw[4:end])
    return {name: table_of(value, raw[end:]) if isinstance(value, dict) else value for name, value in detail.items()}


def table_of(columns: dict[str, Any], planes: bytes = b"") -> Table:
    table: Table = {}
    for name, column in sorted(columns.items(), key=lambda each: isinstance(each[1], dict) and "of" in each[1]):
        table[name] = values_of(column, table, planes)
    return table


def values_of(column: Any, table: Table, planes: bytes) -> list[Any]:
    match column:
        case {"p": place, "n": number, "w": width}:
            values = [whole(planes[place + index : place + width * number : number]) for index in range(number)]
            return sums(values, column["f"]) if "f" in column else values
        case {"w": words, "i": index}:
            return [None if place < 0 else words[place] for place in values_of(index, table, planes)]
        case {"of": base, "v": more}:
            pairs = zip(values_of(more, table, planes), table[base], strict=True)
            return [None if each is None else each + (start or 0) for each, start in pairs]
    assert isinstance(column, list)
    return column


def whole(data: bytes) -> int | None:
    value = int.from_bytes(data, "little", signed=True)
    return None if value == -(1 << 8 * len(data) - 1) else value


def sums(steps: list[int | None], first: int) -> list[int | None]:
    added = accumulate((step or 0 for step in steps), initial=first)
    return [None if step is None else total for step, total in zip(steps, list(added)[1:], strict=True)]


def rows_of(table: dict[str, Any]) -> list[dict[str, Any]]:
    columns = table_of(table)
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def without_script(page: str) -> str:
    """What a browser shows that runs no script, as text."""
    (inner,) = re.findall("<noscript>(.*?)</noscript>", page, re.DOTALL)
    return " ".join(unescape(re.sub("<[^>]+>", " ", inner)).split())
