"""Whatever a name holds, the page shows it and does nothing else with it."""

import base64
import hashlib
import re

import pytest

from jobs import cli
from tests.builders.warehouses.hostile_names import (
    CONTROL,
    EMOJI,
    IMAGE,
    LONG,
    MARKUP,
    NAMES,
    SPELLED,
    TEMPLATE,
    TURNED,
)
from tests.builders.warehouses.hostile_report import hostile_warehouse
from tests.oracles.pages.parsed_pages import Element, parsed

# Nothing else may run, be loaded or be sent.
KNOWN = """
    html head meta title style body a header p b h1 h2 h3 h4 span dl div dt dd form label input select option output
    nav main section ol ul li code details summary pre table thead tbody tr th td caption meter footer script
    svg desc g rect line circle text polyline pattern defs path figure figcaption
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("hostile")
    hostile_warehouse(folder / "w", NAMES)
    assert cli.main(["report", "--warehouse", str(folder / "w"), "--report", str(folder / "out")]) == 0
    return (folder / "out" / "index.html").read_text()


def groups_of(page: Element) -> list[str]:
    table = page.one("table", class_="groups")
    return [row.one("th").text for row in table.one("tbody").all("tr")]


def test_no_name_becomes_an_element_or_an_attribute(page: str) -> None:
    elements = list(parsed(page).walk())[1:]
    assert {each.name for each in elements} <= {*KNOWN.split()}
    attributes = {name for each in elements for name in each.attributes}
    assert not [name for name in attributes if name.startswith("on") or name in ("style", "src", "srcdoc", "action")]
    links = [each.attributes["href"] or "" for each in elements if "href" in each.attributes]
    assert [link for link in links if not re.fullmatch(r"#[a-z0-9-]+|(groups/)?group-[a-z0-9-]+\.html", link)] == []


def test_every_link_leads_to_a_place_of_the_page(page: str) -> None:
    elements = list(parsed(page).walk())
    ids = [each.attributes["id"] for each in elements if "id" in each.attributes]
    assert len(ids) == len(set(ids))
    links = {each.attributes.get("href") or "" for each in elements if each.name == "a"}
    assert {link[1:] for link in links if link.startswith("#")} <= {*ids}


def test_markup_and_templates_are_shown_as_they_are(page: str) -> None:
    names = groups_of(parsed(page))
    assert {MARKUP, IMAGE, SPELLED, TEMPLATE} <= {*names}


def test_what_moves_text_around_is_an_escape_everywhere(page: str) -> None:
    assert re.findall("[\x00-\x09\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069\u200b-\u200f]", page) == []
    names = groups_of(parsed(page))
    assert TURNED.replace("\u202e", "\\u202e") in names
    assert "bell\\x07\\x1b]0;x\\x07\\x00end" in names and CONTROL not in names
    assert EMOJI.replace("\u200d", "\\u200d") in names


def test_a_long_name_is_cut_and_does_not_fill_the_page(page: str) -> None:
    (long,) = [name for name in groups_of(parsed(page)) if name.startswith("Loo")]
    assert len(long) < 150 and long.endswith("ng")
    # In full where the rows are: here in the SQL.
    assert LONG in page


def test_the_policy_lets_run_what_is_ours_and_nothing_else(page: str) -> None:
    root = parsed(page)
    (policy,) = (
        each.attributes["content"] or ""
        for each in root.all("meta")
        if each.attributes.get("http-equiv") == "Content-Security-Policy"
    )
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules == {
        "default-src": "'none'",
        "style-src": f"'sha256-{hashed(root.one('style').text)}'",
        "script-src": f"'sha256-{hashed(root.one('script').text)}'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }


def hashed(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_hostile_names_are_drawn_and_described_too(page: str) -> None:
    parts = parsed(page).all("section", class_="group")
    assert len(parts) == len(NAMES)
    for part in parts:
        assert len(part.all("svg", class_="drawing")) >= 4
        assert "9.0 s" in part.one("ol", class_="story").words
