"""Pages out of templates: each is one file with its own style sheet and script; its policy forbids all others."""

import re
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from shlex import quote
from typing import Any

from jinja2 import BaseLoader, Environment, StrictUndefined, TemplateNotFound
from markupsafe import Markup, escape

from jobs.output.failure import visible
from jobs.reporting.rows.listings import clock, moment
from jobs.reporting.rows.names import MOST_IN_ROWS, group_name, shorten
from udfs.sentences.counts import counted

# What a shell acts on there.
IN_DOUBLE_QUOTES = '"$`\\!'
IN_BACKTICKS = re.compile("`([^`]+)`")
STYLE, SCRIPT = "report.css", "report.js"


class PackagedTemplates(BaseLoader):
    """Those of this package, also where it is inside a zip."""

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, None]:
        try:
            return resource(template), template, None
        except FileNotFoundError:
            raise TemplateNotFound(template) from None


@cache
def resource(name: str) -> str:
    return (files("jobs.reporting") / "templates" / name).read_text("utf-8")


@cache
def environment() -> Environment:
    made = Environment(
        loader=PackagedTemplates(), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        finalize=safe,
    )  # fmt: skip
    made.filters["command"] = sql_command
    made.filters |= {
        "cut": shorten,
        "name": group_name,
        "moment": moment,
        "clock": clock,
        "whole": whole,
        "lines": lines,
        "with_code": with_code,
    }
    made.filters["counted"] = counted
    return made


def safe(value: Any) -> Any:
    """Every value that a template writes goes through here: control and bidi characters become escapes. Markup is our
    own, and has been through it."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def whole(text: str) -> str:
    return shorten(text, MOST_IN_ROWS)


def lines(text: str) -> Markup:
    """A text of ours whose line breaks are to stay, such as SQL; the names in it are as hostile as elsewhere."""
    return Markup("\n").join(escape(visible(line)) for line in text.split("\n"))


def with_code(text: str) -> Markup:
    """Text between two backticks becomes code. All of it is escaped first, so no other markup comes from it."""
    return Markup(IN_BACKTICKS.sub(r"<code>\1</code>", str(escape(visible(text)))))


def sql_command(statement: str, warehouse: str) -> str:
    """As a shell takes it, without more quotes than it needs: SQL is full of single ones."""
    is_plain = not any(mark in statement for mark in IN_DOUBLE_QUOTES)
    return f"groupscope sql --warehouse {quote(warehouse)} " + (f'"{statement}"' if is_plain else quote(statement))


def part_of_page(template: str, values: Mapping[str, Any]) -> Markup:
    """Markup, since its template has escaped what it was given."""
    return Markup(environment().get_template(template).render(**values))


def page(template: str, values: Mapping[str, Any]) -> str:
    ours = {"style": Markup(resource(STYLE)), "script": Markup(resource(SCRIPT)), "policy": policy()}
    return environment().get_template(template).render(**values, **ours)


@cache
def policy() -> str:
    scripts, styles = digest(resource(SCRIPT)), digest(resource(STYLE))
    return f"default-src 'none'; style-src '{styles}'; script-src '{scripts}'; base-uri 'none'; form-action 'none'"


def digest(text: str) -> str:
    """As a policy names what may run: no other script and no other style sheet has it."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
