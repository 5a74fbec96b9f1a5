"""The report in a browser: it opens without a network, runs nothing of others', and fits each screen and paper."""

import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.pictures import PICTURES, texts_of

pytestmark = pytest.mark.browser

NARROW, PAPER = 390, 700
DOCS = Path(__file__).parents[2] / "docs"
# More than the links and labels that every report has.
FEWEST_TEXTS = 20
STORY = "document.querySelector('.panel .plain').click()"
# Of the report of few groups: a fragment, and what is done there.
VIEWS = {
    "overview": ("", "document.querySelector('.finding > summary').click()"),
    "findings": ("#findings", "document.querySelectorAll('details').forEach(each => each.open = true)"),
    "cluster": ("#cluster", "0"),
    "group": ("#group/ledger", "document.querySelector('.opener').click()"),
    "story": ("#group/classic-killed?at=2026-11-21T17:36:46Z", STORY),
    "unknown": ("#group/nobody%20knows%20it", "0"),
}
UNKNOWN_GROUP = "#group/%3Cimg%20src=x%20onerror=alert(1)%3E"
# A fold is filled after it is open, not in the same instant.
NOT_FILLED = "main details[open]:not(:has(> :nth-child(2)))"
# Without what cannot be seen in colours.
ONLY_CONTRAST = {"runOnly": ["color-contrast"]}


class Watched:
    """What a tab asked for, and what it complained about."""

    def __init__(self, tab):
        self.requests: list[str] = []
        self.complaints: list[str] = []
        tab.on("request", lambda request: self.requests.append(request.url.partition("#")[0]))
        tab.on("console", self.said)
        tab.on("pageerror", lambda error: self.complaints.append(str(error)))

    def said(self, message):
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)


def show(tab, report, view):
    fragment, script = VIEWS[view]
    tab.goto("about:blank")
    tab.goto(f"{report}{fragment}")
    tab.wait_for_selector("main h1:not(:empty)")
    if view in ("group", "story"):
        tab.wait_for_selector(".lane.states svg")
    tab.evaluate(script)
    expect(tab.locator(NOT_FILLED)).to_have_count(0)


def test_every_view_opens_without_a_complaint_and_asks_for_nothing_else(tab, short_report):
    watched = Watched(tab)
    for view in VIEWS:
        show(tab, short_report, view)
    assert ({*watched.requests} - {"about:blank"}, watched.complaints) == ({short_report}, [])


def test_hostile_names_run_nothing_and_send_nothing(tab, hostile_report):
    watched = Watched(tab)
    tab.goto(hostile_report)
    groups = tab.locator("#side li a").evaluate_all("all => all.map(each => each.getAttribute('href'))")
    assert len(groups) > 5
    for group in groups:
        tab.evaluate("address => { location.hash = address }", group)
        expect(tab.locator("#side a[aria-current]")).to_have_attribute("href", group)
        expect(tab.locator("main")).not_to_have_text(re.compile("…$"))
        tab.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        tab.evaluate("document.querySelectorAll('.opener').forEach(each => each.click())")
        expect(tab.locator(NOT_FILLED)).to_have_count(0)
    heads = {"#findings": "Findings", "#cluster": "Cluster", UNKNOWN_GROUP: "No such group", "": "critical"}
    for view, head in heads.items():
        tab.evaluate("address => { location.hash = address }", view)
        expect(tab.locator("main h1")).to_contain_text(head)
        tab.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        expect(tab.locator(NOT_FILLED)).to_have_count(0)
    assert tab.evaluate("window.pwned") is None
    assert tab.locator("main img, main script, main iframe, main b b").count() == 0
    assert watched.complaints == []
    assert {*watched.requests} == {hostile_report}


INJECTIONS = {
    "script": "const s = document.createElement('script'); s.textContent = 'window.pwned = 1'; document.body.append(s)",
    "handler": "document.body.insertAdjacentHTML('beforeend', '<p onclick=\"window.pwned = 1\">x</p>');"
    "document.body.lastElementChild.click()",
    "style": "const s = document.createElement('style'); s.textContent = 'h1 { display: none }';"
    "document.head.append(s)",
    "image": "const i = new Image(); i.src = 'http://127.0.0.1:9/pwned.png'; document.body.append(i)",
    "form": "const f = document.createElement('form'); f.action = 'http://127.0.0.1:9/'; document.body.append(f);"
    "f.submit()",
    "frame": "const f = document.createElement('iframe'); f.src = 'http://127.0.0.1:9/'; document.body.append(f)",
}


@pytest.mark.parametrize("kind", INJECTIONS)
def test_the_policy_stops_what_is_brought_in(kind, tab, short_report):
    tab.goto(short_report)
    with tab.expect_console_message(lambda message: "Content Security Policy" in message.text):
        tab.evaluate(f"() => {{ {INJECTIONS[kind]} }}")
    assert tab.evaluate("window.pwned") is None
    assert tab.locator("h1").is_visible()
    assert tab.url == short_report


def test_without_a_script_there_are_verdict_findings_and_groups(browser, sample_report):
    context = browser.new_context(java_script_enabled=False, viewport={"width": NARROW, "height": 844})
    tab = context.new_page()
    tab.goto(sample_report)
    assert re.match(r"\d+ critical: ", tab.locator("h1").inner_text())
    findings, groups = tab.locator("table").all()
    assert "ledger" in findings.inner_text() and "payments-3: no commit" in findings.inner_text()
    assert groups.locator("tbody tr").count() > 20
    context.close()


@pytest.mark.parametrize("view", VIEWS)
def test_axe_has_no_complaint(view, browser, short_report):
    for scheme, options in (("light", None), ("dark", ONLY_CONTRAST)):
        context = browser.new_context(color_scheme=scheme, viewport={"width": 1440, "height": 900})
        tab = context.new_page()
        show(tab, short_report, view)
        found = Axe().run(tab, options=options).response["violations"]
        context.close()
        assert [(each["id"], each["nodes"][0]["html"]) for each in found] == []


def test_the_dark_page_is_dark_and_the_light_one_light(tab, short_report):
    brightness = {}
    for scheme in ("light", "dark"):
        tab.emulate_media(color_scheme=scheme)
        tab.goto(short_report)
        colour = tab.evaluate("getComputedStyle(document.body).backgroundColor")
        brightness[scheme] = sum(map(int, re.findall(r"\d+", colour)[:3]))
    assert brightness["dark"] < 150
    assert brightness["light"] > 600


def test_nothing_scrolls_sideways_on_a_phone_and_the_list_is_a_drawer(browser, short_report, hostile_report):
    context = browser.new_context(viewport={"width": NARROW, "height": 844}, has_touch=True)
    tab = context.new_page()
    wide = "[...document.querySelectorAll('main *')].filter(each => each.scrollWidth > each.clientWidth + 1 &&"
    wide += "['auto', 'scroll'].includes(getComputedStyle(each).overflowX)).map(each => each.className)"
    for report in (short_report, hostile_report):
        for view in VIEWS:
            if view != "story" or report == short_report:
                fragment = VIEWS[view][0] if report == short_report or view != "group" else "#group/x"
                tab.goto("about:blank")
                tab.goto(f"{report}{fragment}")
                tab.wait_for_timeout(50)
                tab.evaluate("document.querySelectorAll('.opener, .finding > summary').forEach(each => each.click())")
                expect(tab.locator(NOT_FILLED)).to_have_count(0)
            assert tab.evaluate("document.documentElement.scrollWidth") <= NARROW, (report, view)
            assert tab.evaluate(wide) == [], (report, view)
    tab.goto(short_report)
    assert not tab.locator("#side").is_visible()
    tab.get_by_role("button", name="Groups").click()
    tab.locator("#side a", has_text="ledger").click()
    tab.wait_for_selector(".lane.owners svg")
    assert not tab.locator("#side").is_visible()
    context.close()


def test_print_leaves_out_what_paper_cannot_do_and_cuts_nothing_off(tab, short_report):
    for view in ("overview", "group", "cluster"):
        tab.emulate_media(media="screen")
        show(tab, short_report, view)
        tab.set_viewport_size({"width": PAPER, "height": 900})
        tab.emulate_media(media="print", color_scheme="dark")
        assert not tab.locator("#side").is_visible() and not tab.locator(".top").is_visible()
        assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        tab.wait_for_timeout(50)
        assert tab.evaluate("document.documentElement.scrollWidth") <= PAPER, view
        rights = "all => all.map(each => each.getBoundingClientRect().right)"
        assert max(tab.locator("main svg").evaluate_all(rights), default=0) <= PAPER
    assert tab.pdf().startswith(b"%PDF")


@pytest.mark.parametrize("name", PICTURES)
def test_the_pictures_of_the_docs_show_what_the_report_says(name, tab, sample_report):
    shown = texts_of((DOCS / name).read_bytes())
    tab.set_viewport_size({"width": 1440, "height": 900})
    tab.goto(f"{sample_report}{PICTURES[name][0]}")
    tab.wait_for_selector("main svg")
    said = tab.evaluate("document.documentElement.textContent")
    assert len(shown) > FEWEST_TEXTS
    assert [text for text in shown if text not in said] == [], "take them again: tests/browser/pictures.py"
