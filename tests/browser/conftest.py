"""One browser for all tests of this folder, a new context for each, and the reports that they open."""

import pytest
from playwright.sync_api import sync_playwright

from jobs import cli
from tests.audited_sample import audited_sample
from tests.browser.chromium import arguments, chromium
from tests.builders.warehouses.hostile_names import NAMES
from tests.builders.warehouses.hostile_report import hostile_warehouse
from tests.docs.built_site import site

__all__ = ["audited_sample", "site"]


@pytest.fixture(scope="session")
def browser():
    path = chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=arguments())
        yield browser
        browser.close()


@pytest.fixture
def context(browser):
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    yield context
    context.close()


@pytest.fixture
def tab(context):
    return context.new_page()


@pytest.fixture(scope="session")
def sample_report(audited_sample, tmp_path_factory):
    """Where it is, as a browser opens it."""
    return written(audited_sample, tmp_path_factory.mktemp("report"))


@pytest.fixture(scope="session")
def short_report(audited_sample, tmp_path_factory):
    """Of few groups: what looks at every element of a page takes long."""
    return written(
        audited_sample, tmp_path_factory.mktemp("report"), "--group", "^(ledger|classic-killed|classic-upgraded)$"
    )


@pytest.fixture(scope="session")
def hostile_report(tmp_path_factory):
    warehouse = tmp_path_factory.mktemp("hostile") / "w"
    hostile_warehouse(warehouse, NAMES)
    return written(warehouse, tmp_path_factory.mktemp("report"))


def written(warehouse, folder, *flags):
    assert cli.main(["report", "--warehouse", str(warehouse), "--report", str(folder), *flags]) == 0
    return (folder / "index.html").as_uri()
