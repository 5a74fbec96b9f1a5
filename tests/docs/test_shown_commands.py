"""What the pages say to type can be typed, and gives what they show."""

import argparse
import re
import shlex

import pytest

from jobs.command_line.flags import COMMANDS, add_arguments
from schemas.words.exit_codes import ExitCode
from tests.docs.pages import PAGES, ROOT, all_blocks, calls, lines_of, shown_answers
from tests.docs.workplace import typed

# Others of `shell` blocks: what they do, the Makefile's own tests and users see.
MAKE = re.compile(r"^make ([a-z]+)$")
TARGETS = frozenset(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
SHOWN = [shown for page in PAGES for shown in shown_answers(page)]
SAMPLE = "data/sample"


class Strict(argparse.ArgumentParser):
    def error(self, message):
        raise ValueError(message)


# What several pages show is typed once.
@pytest.mark.in_order
@pytest.mark.parametrize("command", list(dict.fromkeys(f"groupscope {call}" for _, call in calls("shell"))))
def test_a_command_of_a_page_runs(command, workplace):
    done = typed(command, workplace)
    # The sample's story has findings; an old copy of a log is no source that has stopped.
    has_findings = command.split()[1] == "audit" and SAMPLE in command
    expected = ExitCode.FINDINGS if has_findings else ExitCode.CLEAN
    assert (done.returncode, "Error" in done.stderr) == (expected, False), done.stderr


@pytest.mark.parametrize("shown", SHOWN, ids=[shown.command for shown in SHOWN])
def test_a_command_answers_what_the_page_shows(shown, untouched_workplace):
    """Where that has changed: python -m tests.docs.rewrite_answers"""
    done = typed(shown.command, untouched_workplace)
    assert done.returncode == 0, done.stderr
    # An ellipsis stands for lines left out, or for the rest of one.
    lines = ("(?s:.*)" if line == "…" else re.escape(line).replace("…", ".*") for line in shown.answer.splitlines())
    assert re.fullmatch("\n".join(lines) + "\n", done.stdout), done.stdout


def test_the_pages_show_commands_of_each_kind():
    assert min(len(calls("shell")), len(calls("sh")), len(SHOWN)) > 5


@pytest.mark.parametrize("call", [call for _, call in calls("sh")])
def test_a_command_that_needs_a_cluster_has_flags_that_there_are(call):
    assert_parses(shlex.split(call.partition(" > ")[0]))


def assert_parses(words):
    parser = Strict(allow_abbrev=False)
    add_arguments(parser, words[0])
    parser.parse_args(words[1:])


def test_a_flag_that_is_not_there_is_noticed():
    with pytest.raises(ValueError, match="--sauce"):
        assert_parses(["audit", "--sauce", "segments:/var/kafka-logs"])


def test_blocks_of_shell_hold_nothing_that_no_test_runs():
    other = [line for _, line in lines_of("shell") if not re.match(r"(\.venv/bin/)?groupscope ", line)]
    assert [line for line in other if not ((made := MAKE.match(line)) and made[1] in TARGETS)] == []


def test_no_command_hides_in_a_block_that_no_test_reads():
    # The command's own name in other languages is not typed.
    read = {"shell", "sh", "console", "python"}
    usage = r".*\[flags\]|[A-Z]+$"
    command = re.compile(rf"^(?:\$ )?(?:\.venv/bin/)?groupscope (?:{'|'.join(COMMANDS)}) (?!{usage})", re.MULTILINE)
    hidden = [(block.page.name, result[0]) for block in all_blocks() if (result := command.search(block.text))
              and block.language not in read]  # fmt: skip
    assert hidden == []
