"""The site builds without a warning, its links lead somewhere, and it asks nobody for anything."""

import re
from pathlib import Path

import pytest

from tests.docs.site_links import broken_links, is_elsewhere, links_of

ROOT = Path(__file__).parents[2]
IN_CSS = re.compile(r"""(?:url\(\s*|@import\s+)['"]?((?:https?:)?//[^'")\s]+)""")


def test_each_page_of_docs_is_in_the_site(site):
    pages = [page.relative_to(ROOT / "docs") for page in (ROOT / "docs").rglob("*.md")]
    assert len(pages) > 8
    assert [page for page in pages if not (site / page.with_suffix(".html")).is_file()] == []


def test_each_link_inside_the_site_leads_to_a_file_and_an_anchor(site):
    assert broken_links(site) == []


def test_a_link_to_no_file_and_one_to_no_anchor_are_broken(tmp_path):
    (tmp_path / "a.html").write_text('<p id="here"><a href="b.html"></a><a href="#here"></a><a href="#there"></a></p>')
    assert broken_links(tmp_path) == ["a.html: b.html", "a.html: #there"]


def test_no_page_fetches_anything_from_elsewhere(site):
    fetched = {(page.name, each) for page in site.rglob("*.html") for each in links_of(page).resources}
    assert len(fetched) > 20
    assert [(page, each) for page, each in fetched if is_elsewhere(each)] == []
    sheets = list(site.rglob("*.css"))
    assert sheets
    assert [each for sheet in sheets for each in IN_CSS.findall(sheet.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("page", ["README.md", "data/sample/README.md"])
def test_the_links_of_pages_outside_the_site_lead_somewhere(page, site):
    text = (ROOT / page).read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if not is_elsewhere(link)]
    broken = []
    for link in links:
        path, _, anchor = link.partition("#")
        target = ((ROOT / page).parent / path).resolve() if path else ROOT / page
        known = anchors_of(target, site) if anchor else {anchor}
        if not target.exists() or anchor not in known:
            broken.append(link)
    assert broken == []


def anchors_of(page, site):
    """Of a page of docs/ those that the site gives it, else those of its headings as the same rule makes them."""
    if page.is_relative_to(ROOT / "docs"):
        return links_of(site / page.relative_to(ROOT / "docs").with_suffix(".html")).anchors
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
