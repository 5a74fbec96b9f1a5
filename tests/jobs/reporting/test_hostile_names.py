"""Whatever a name holds, the page shows it and does nothing else with it."""

import base64
import hashlib
import json
import re
from html import unescape

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
from tests.oracles.pages.documents import detail_of, document_of, rows_of
from tests.oracles.pages.parsed_pages import parsed

# Nothing else may run, be loaded or be sent.
KNOWN = """
    html head meta title style body a div noscript h1 h2 p table thead tbody tr th td span code script
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("hostile")
    hostile_warehouse(folder / "w", NAMES)
    assert cli.main(["report", "--warehouse", str(folder / "w"), "--report", str(folder / "out")]) == 0
    return (folder / "out" / "index.html").read_text()


def groups_of(page: str) -> list[str]:
    return [row["id"] for row in rows_of(document_of(page)["groups"])]


def test_no_name_becomes_an_element_or_an_attribute(page: str) -> None:
    elements = list(parsed(page).walk())[1:]
    assert {each.name for each in elements} <= {*KNOWN.split()}
    attributes = {name for each in elements for name in each.attributes}
    assert not [name for name in attributes if name.startswith("on") or name in ("style", "src", "srcdoc", "action")]
    links = [each.attributes["href"] or "" for each in elements if "href" in each.attributes]
    assert [link for link in links if not re.fullmatch(r"#[a-z0-9-]+|(groups/)?part-[0-9]+\.html", link)] == []
    assert page.count("</script") == page.count("<script") == 2


def test_markup_and_templates_are_shown_as_they_are(page: str) -> None:
    assert {MARKUP, IMAGE, SPELLED, TEMPLATE} <= {*groups_of(page)}
    assert MARKUP in unescape(page.split("<noscript>")[1])


def test_what_moves_text_around_is_an_escape_everywhere(page: str) -> None:
    details = [json.dumps(detail_of(document_of(page), group), ensure_ascii=False) for group in groups_of(page)]
    for text in (page, *details):
        assert re.findall("[\x00-\x09\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069\u200b-\u200f]", text) == []
    names = groups_of(page)
    assert TURNED.replace("\u202e", "\\u202e") in names
    assert "bell\\x07\\x1b]0;x\\x07\\x00end" in names and CONTROL not in names
    assert EMOJI.replace("\u200d", "\\u200d") in names


def test_a_long_name_is_cut_where_no_script_cuts_it(page: str) -> None:
    assert LONG in groups_of(page)
    assert LONG not in page.split("<noscript>")[1].split("</noscript>", maxsplit=1)[0]


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
        "script-src": f"'sha256-{hashed(root.all('script')[-1].text)}'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }


def hashed(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_each_has_its_lanes_and_its_story(page: str) -> None:
    document = document_of(page)
    assert len(document["details"]) == len(NAMES)
    for name in document["details"]:
        detail = detail_of(document, name)
        assert detail["group"] == name and len(detail["owners"]["from"]) == 2
        (lines,) = detail["rebalances"]["lines"]
        assert any("9.0 s" in text for _, text in lines)
