"""Writes what is generated, from the declarations: conf/groupscope.toml, and in the pages of docs/ the parts between
two marks. The rest of each page is written by hand.

    python .ci/docs.py            writes what has changed
    python .ci/docs.py --check    only says which pages are not current
"""

import ast
import dataclasses
import json
import re
import runpy
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from jobs.command_line.flags import COMMANDS, Argument, Kind, flags_of, loaded
from jobs.configuration.settings import SECTIONS, heading, kind_of
from jobs.gating.declarations.metric_files import FAILING, our_metrics
from schemas.fields import Array, Field, FieldType, Message, Shape, Struct
from schemas.records import (
    ASSIGNMENT,
    CONNECT_ASSIGNMENT,
    CONNECT_SUBSCRIPTION,
    CONTROL_KEY,
    CONTROL_VALUE,
    COOPERATIVE_STICKY_FORMS,
    REGISTRY,
    STICKY_FORMS,
    STREAMS_ASSIGNMENT,
    STREAMS_SUBSCRIPTION,
    SUBSCRIPTION,
)
from schemas.renames import RENAMES
from schemas.tables import (
    CONTRACT_VERSION,
    SCALAR_FUNCTIONS,
    USER_TABLES,
    Column,
    ColumnType,
    ListOf,
    MapOf,
    StructOf,
    Table,
    sql_type,
)
from schemas.views import VIEWS
from schemas.words.exit_codes import ExitCode
from schemas.words.gate import ExportedMetric, FindingKind

PART = re.compile(r"(<!-- generated[^>]*-->\n).*?(<!-- end[^>]*-->)", re.DOTALL)
LAYERS = ("schemas", "udfs", "jobs")
SETTINGS_FILE = Path("conf/groupscope.toml")
COMMENT = partial(textwrap.wrap, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)
INTRODUCTION = """\
# Settings of groupscope, each with its unit and default. A setting that is not in the file has its default. An unknown
# setting is an error. Flags of the command line override this file.
"""
Lines = Iterator[str]


def main(arguments: list[str]) -> int:
    is_stale = False
    for path in (*(Path("docs", f"{name}.md") for name in PAGES), SETTINGS_FILE):
        written = path.read_text(encoding="utf-8")
        if written == (text := settings_file() if path == SETTINGS_FILE else page(path.stem, written)):
            continue
        if "--check" in arguments:
            sys.stderr.write(f"{path} is not what the declarations say; run: python .ci/docs.py\n")
            is_stale = True
        else:
            path.write_text(text, encoding="utf-8")
    return int(is_stale)


def page(name: str, written: str) -> str:
    """The page as it is written, with the parts between marks made anew."""
    parts = iter(PAGES[name])

    def part(marks: re.Match[str]) -> str:
        text = "\n".join(next(parts)()).strip("\n")
        return f"{marks[1]}\n{text}\n\n{marks[2]}"

    text = PART.sub(part, written)
    if next(parts, None) is not None:
        sys.exit(f"docs/{name}.md: has fewer parts between marks than are generated for it")
    return text


def table(head: str, rows: Iterable[Iterable[str]]) -> Lines:
    """`head`: the names of its columns, between bars."""
    yield from (f"| {head} |", "|---" * (head.count(" | ") + 1) + "|")
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
    yield ""


def type_name(kind: FieldType) -> str:
    match kind:
        case Array(of):
            return f"[]{type_name(of)}"
        case Struct(name, _):
            return name
    return str(kind.value)


def field_rows(fields: Iterable[Field], inside: str = "") -> Iterator[tuple[str, ...]]:
    for field in fields:
        versions = f"{field.first}+" if field.last is None else f"{field.first} to {field.last}"
        yield (
            f"`{inside}{field.name}`",
            type_name(field.type),
            str(field.first) if field.first == field.last else versions,
            "yes" if field.nullable else "",
            "" if field.tag is None else str(field.tag),
            "" if field.default is None else f"`{field.default}`",
            field.since,
            field.about,
        )
        inner = field.type.of if isinstance(field.type, Array) else field.type
        if isinstance(inner, Struct):
            yield from field_rows(inner.fields, f"{inside}{field.name}.")


def shape_lines(title: str, shapes: Iterable[Shape]) -> Lines:
    yield from (f"### {title}", "")
    for shape in shapes:
        versions = f"version {shape.first}" if shape.first == shape.last else f"versions {shape.first} to {shape.last}"
        flexible = "" if shape.flexible_from is None else f", flexible from version {shape.flexible_from}"
        is_declared_only = shape.releases.startswith("declared ")
        written_by = f"D{shape.releases[1:]}" if is_declared_only else f"Written by {shape.releases}"
        yield from (f"{written_by}; {versions}{flexible}. {shape.provenance}.", "")
        yield from table(
            "field | type | versions | nullable | tag | default | since | what it is", field_rows(shape.fields)
        )


def records() -> Lines:
    for record in REGISTRY.values():
        key = ", ".join(f"`{field.name}` {type_name(field.type)}" for field in record.key)
        yield from (f"## {record.number} {record.name}", "", f"{record.about} Written by: {record.written_by}.", "")
        yield from (f"Key: {key}.", "")
        yield from shape_lines(record.value.name, record.value.shapes)
    yield from ("## Control records", "")
    for message in (CONTROL_KEY, CONTROL_VALUE):
        yield from shape_lines(message.name, message.shapes)


def client_payloads() -> Lines:
    messages: tuple[Message, ...] = (
        SUBSCRIPTION, ASSIGNMENT, STREAMS_SUBSCRIPTION, STREAMS_ASSIGNMENT,
        CONNECT_SUBSCRIPTION, CONNECT_ASSIGNMENT,
    )  # fmt: skip
    for message in messages:
        yield from shape_lines(message.name, message.shapes)
    yield from shape_lines("User data of `sticky`", STICKY_FORMS)
    yield from shape_lines("User data of `cooperative-sticky`", COOPERATIVE_STICKY_FORMS)


# Tables and functions.
def shown_type(kind: ColumnType) -> str:
    """Structs by that word only: their fields have rows of their own."""
    match kind:
        case ListOf(item):
            return f"ARRAY<{shown_type(item)}>"
        case MapOf(key, value):
            return f"MAP<{shown_type(key)}, {shown_type(value)}>"
        case StructOf():
            return "STRUCT"
    return sql_type(kind)


def column_rows(columns: Iterable[Column], inside: str = "") -> Iterator[tuple[str, ...]]:
    for column in columns:
        null = "yes" if column.is_nullable and not inside else ""
        yield f"`{inside}{column.name}`", shown_type(column.type), null, column.comment
        kind = column.type
        while isinstance(kind, ListOf | MapOf):
            kind = kind.item if isinstance(kind, ListOf) else kind.value
        if isinstance(kind, StructOf):
            yield from column_rows(kind.fields, f"{inside}{column.name}.")


def tables() -> Lines:
    yield from (f"Contract version: **{CONTRACT_VERSION}**.", "", "**Tables and views**", "")
    shown = (*USER_TABLES.values(), *VIEWS.values())
    yield from (f"- [{each.name}](#{each.name}): {each.comment}" for each in shown)
    yield ""
    for each in shown:
        yield from (f"## {each.name}", "", each.comment, "")
        if isinstance(each, Table):
            yield f"- One row per {each.grain}"
            yield f"- Key: {names(each.key)}"
            yield f"- Sorted by: {names(each.order)}"
            yield f"- Written by: {'every job' if each.job == 'each' else f'`{each.job}`'}"
        else:
            yield f"- Reads: {names(each.reads) or 'no table'}"
        yield ""
        yield from table("column | type | null | what it is", column_rows(each.columns))


def names(columns: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in columns)


def renames() -> Lines:
    rows = ((f"`{each.old}`", f"`{each.new}`" if each.new else "gone", each.kind, str(each.since), names(each.where))
            for each in RENAMES)  # fmt: skip
    yield from table("old name | new name | kind | since version | where", rows)
    # Columns that have the old name of others, and keep it.
    for old in dict.fromkeys(each.old for each in RENAMES):
        shown = {**USER_TABLES, **VIEWS}.items()
        if kept := [name for name, each in shown if old in {column.name for column in each.columns}]:
            yield f"- `{old}` is still the name of a column of {names(kept)}: there it is an offset of data."


def functions() -> Lines:
    for function in SCALAR_FUNCTIONS.values():
        yield from (f"## {function.name}", "", function.comment, "")
        result = Column("result", function.result, function.result_comment)
        rows = column_rows([*function.arguments, result])
        # The result itself has no name to type.
        shown = ((name.replace("`result`", "result"), kind, about) for name, kind, _, about in rows)
        yield from table("argument or result | type | what it is", shown)


# Commands, settings, outcomes.
# Commands that do two things.
USAGES = {
    "status": ("groupscope status [flags]", "groupscope status GROUP [flags]"),
    "gate": ("groupscope gate [flags]",
             "groupscope gate --group GROUP --span TOPIC:PARTITION:FROM:TO[:ROWS] --result FILE [flags]"),
    "mark": ("groupscope mark TEXT [--at T] [--group REGEX] [flags]", "groupscope mark --list [flags]",
             "groupscope mark --remove N [flags]"),
}  # fmt: skip
# What explains a command at length.
MORE = {
    "status": "guides/on_call.md#what-is-wrong-now", "audit": "operations.md", "ingest": "inputs.md",
    "replay": "history.md", "assignments": "assignors.md#how-the-audit-decides", "lag": "inputs.md#snapshots",
    "gate": "operations.md#the-gate", "report": "operations.md#the-report", "capture": "inputs.md#snapshots",
    "describe": "history.md#as-kafka-consumer-groups-shows-it",
    "rebalances": "history.md#what-happened-to-a-group-and-when",
    "why": "history.md#what-happened-to-a-group-and-when", "mark": "history.md#what-followed-a-deployment",
    "offsets": "guides/on_call.md#put-a-group-back", "whatif": "assignors.md#what-another-assignor-would-give",
    "assign": "assignors.md#inputs-of-an-assignor", "sql": "sql.md", "dump": "inputs.md#dump",
}  # fmt: skip


def commands() -> Lines:
    yield from (f"- [{name}](#{name}): {plain(command.summary)}" for name, command in COMMANDS.items())
    yield ""
    for name, command in COMMANDS.items():
        shown = list(flags_of(command))
        flags = [each for each in shown if each.name.startswith("-")]
        words = [each for each in shown if each not in flags]
        yield from (f"## {name}", "", f"{plain(command.summary[0].upper() + command.summary[1:])}.", "")
        if name in MORE:
            yield from (f"More: [{MORE[name].partition('#')[0]}]({MORE[name]}).", "")
        needed = [flag_text(each) for each in flags if each.words.get("required")]
        usage = ["groupscope", name, *map(word_of, words), *needed]
        yield from ("```text", *USAGES.get(name, [" ".join([*usage, "[flags]"] if flags else usage)]), "```", "")
        for head, rows in (
            ("argument", [(word_of(each), each) for each in words if each.words["help"]]),
            ("flag", [(flag_text(each), each) for each in flags]),
        ):
            if rows:
                texts = ((f"`{text}`", plain(each.words["help"])) for text, each in rows)
                yield from table(f"{head} | what it does", texts)
        if Kind.NAMES in command.kind:
            yield from (f"Put `--` before a name that begins with a hyphen: `groupscope {name} -- -name`.", "")


def word_of(argument: Argument) -> str:
    word = argument.words["metavar"]
    return {"?": f"[{word}]", "+": f"{word} […]"}.get(argument.words.get("nargs", ""), word)


def flag_text(flag: Argument) -> str:
    choices = "|".join(map(str, loaded(flag.words).get("choices", ())))
    return " ".join([flag.name, flag.words.get("metavar", choices)]).strip()


def plain(text: str) -> str:
    """Text that Markdown shows as it is, flags as code."""
    shielded = re.sub(r"([\\*<\[\]]|__)", r"\\\1", text)
    return re.sub(r"(?<![\w`-])(--[a-z][a-z-]*)", r"`\1`", shielded)


def settings() -> Lines:
    for section in SECTIONS.values():
        yield from (f"## {section.name}", "", f"```toml\n{heading(section)}\n```", "")
        if "about" in section.metadata:
            yield from (section.metadata["about"], "")
        keys = ((key, key.metadata) for key in dataclasses.fields(kind_of(section)))
        rows = ((f"`{key.name}`", f"`{default_of(key)}`", about["unit"], about["comment"]) for key, about in keys)
        yield from table("key | default | unit | what it does", rows)


def default_of(key: Any) -> str:
    """In TOML."""
    # True and False are integers to Python.
    is_number = isinstance(key.default, int) and not isinstance(key.default, bool)
    return key.metadata.get("default") or (f"{key.default:_}" if is_number else json.dumps(key.default))


def settings_file() -> str:
    lines = [INTRODUCTION]
    for section in SECTIONS.values():
        if "about" in section.metadata:
            inside = [heading(section), *section_lines(section, 116)]
            lines += [*COMMENT(section.metadata["about"], 120), *(f"#   {line}".rstrip() for line in inside)]
        else:
            lines += [heading(section), *section_lines(section, 120)]
    return "\n".join(lines).rstrip("#\n ") + "\n"


def section_lines(section: Any, width: int) -> Lines:
    for key in dataclasses.fields(kind_of(section)):
        about = f"{key.metadata['comment']} Unit: {key.metadata['unit']}; default: {default_of(key)}."
        yield from (*COMMENT(about, width), f"{key.name} = {default_of(key)}", "")


def exit_codes() -> Lines:
    return table("code | meaning", ((str(code.value), code.meaning) for code in ExitCode))


def findings() -> Lines:
    rows = ((f"`{kind.value}`", kind.severity.value, kind.heading, kind.meaning) for kind in FindingKind)
    return table("kind | severity | in few words | meaning", rows)


def metrics() -> Lines:
    files = our_metrics().values()
    yield from (f"- [{each.table}](#{each.table}): {each.about}" for each in files)
    yield ""
    for each in files:
        rules = {f"{FAILING}{rule}": f"`{condition}`" for rule, condition in each.rules.items()}
        rows = ((f"`{name}`", meaning, rules.get(name, "")) for name, meaning in each.metrics.items())
        yield from (f"## {each.table}", "", each.about, "", *table("metric | what it is | condition", rows))


def exported() -> Lines:
    rows = ((f"`{each.value}`", each.meaning, names(("cluster", *each.labels))) for each in ExportedMetric)
    return table("metric | what it is | labels", rows)


def folders() -> Lines:
    packages = [each for layer in LAYERS for each in sorted(Path(layer).rglob("__init__.py"))]
    docstrings = (ast.get_docstring(ast.parse(each.read_text(encoding="utf-8"))) or "" for each in packages)
    rows = ((f"`{each.parent}/`", " ".join(text.split())) for each, text in zip(packages, docstrings, strict=True))
    return table("folder | what is in it", rows)


def licences() -> Lines:
    supply = runpy.run_path(str(Path(__file__).with_name("supply.py")))
    for title, rows in supply["licences"]().items():
        yield from (f"## {title}", "", *table("name | version | licence", rows))


PAGES: dict[str, tuple[Callable[[], Lines], ...]] = {
    "records": (records, client_payloads), "metrics": (metrics, exported), "architecture": (folders,),
    **{each.__name__: (each,) for each in (tables, renames, functions, commands, settings)},
    **{each.__name__: (each,) for each in (exit_codes, findings, licences)},
}  # fmt: skip

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
