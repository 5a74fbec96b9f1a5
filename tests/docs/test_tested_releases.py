"""The table of tested releases names the releases that the tests use, and no others."""

from tests.docs.tested_releases import PAGES, TABLE, main, table
from tests.kafka import releases


def test_both_pages_have_the_table_of_what_tests_use():
    assert main(["--check"]) == 0


def test_the_table_names_every_broker_and_both_coordinators():
    (line,) = [line for line in table().splitlines() if line.startswith("| brokers")]
    assert all(name.partition("-")[0] in line for name in releases.RELEASES)
    assert "3.9.1 (old coordinator, new coordinator)" in line


def test_a_page_with_another_table_is_refused_and_rewritten(tmp_path, monkeypatch, capsys):
    page = tmp_path / "README.md"
    page.write_text(TABLE.sub("| part | tested releases |\n|---|---|\n| brokers | 0.8.2 |\n", PAGES[0].read_text()))
    monkeypatch.setattr("tests.docs.tested_releases.PAGES", (page,))
    assert main(["--check"]) == 1
    assert "run python -m tests.docs.tested_releases" in capsys.readouterr().err
    assert main([]) == 0
    assert main(["--check"]) == 0
