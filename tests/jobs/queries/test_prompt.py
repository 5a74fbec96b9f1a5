"""`groupscope sql` on a terminal, typed into as people do."""

import os
import pty
import select
import signal
import stat
import sys
import time
from pathlib import Path

import pytest

from tests.make.tables import make

ROOT = Path(__file__).parents[3]
PROMPT, MORE = "groupscope> ", "...> "


class Terminal:
    def __init__(self, warehouse, cache):
        self.process, self.end = pty.fork()
        if self.process == 0:
            os.chdir(ROOT)
            environment = {**os.environ, "GROUPSCOPE_CACHE": str(cache), "TERM": "dumb", "PYTHONWARNINGS": "ignore"}
            command = [sys.executable, "-m", "jobs.cli", "sql", "--warehouse", str(warehouse), "--format", "csv"]
            os.execve(sys.executable, command, environment)

    def until(self, mark, seconds=120):
        said, begin = b"", time.monotonic()
        while not said.endswith(mark.encode()):
            assert time.monotonic() - begin < seconds, said
            if select.select([self.end], [], [], 1)[0]:
                said += os.read(self.end, 65536)
        return said.decode().replace("\r\n", "\n")

    def wait_until_it_computes(self):
        """For longer than it takes to read a line."""
        before, begin = self.processor_seconds(), time.monotonic()
        while self.processor_seconds() < before + 1:
            assert time.monotonic() - begin < 120
            time.sleep(0.05)

    def wait_until_it_waits(self):
        """Python does not see an interrupt between the prompt and its wait for a key (people press it once more)."""
        begin = time.monotonic()
        while self.state()[0] != "S":
            assert time.monotonic() - begin < 120
            time.sleep(0.05)

    def processor_seconds(self):
        user, system = self.state()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def state(self):
        return Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()

    def type(self, text, mark=PROMPT):
        """What is shown after the typed line itself."""
        os.write(self.end, text.encode())
        return self.until(mark).partition("\n")[2].removesuffix(mark).removesuffix("        ")


@pytest.fixture
def terminal(tmp_path):
    warehouse = make(tmp_path / "warehouse", {"offset_commits": [{"group_id": "a;b"}]})
    opened = Terminal(warehouse.root.path, tmp_path / "cache")
    opened.until(PROMPT)
    yield opened
    try:
        os.kill(opened.process, signal.SIGKILL)
        os.waitpid(opened.process, 0)
    except (ProcessLookupError, ChildProcessError):
        pass
    os.close(opened.end)


# A fork among threads may meet a lock that nobody frees: this one only becomes another program.
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_prompt_takes_lines_commands_and_interrupts_until_it_is_left(terminal, tmp_path):
    assert terminal.type("SELECT group_id,\n", MORE) == ""
    assert terminal.type("';' AS b FROM offset_commits; -- ours\n") == "group_id,b\na;b,;\n"
    assert terminal.type("selec;\n") == 'groupscope: Parser Error: syntax error at or near "selec"\n'
    assert terminal.type("DROP VIEW runs;\n").startswith("groupscope: DROP: only reads")
    listed = terminal.type("\\d\n").splitlines()
    assert listed[0] == "name,kind,comment"
    assert {line.split(",")[1] for line in listed if line.startswith(("runs,", "v_rebalances,"))} == {"table", "view"}
    assert any(line.startswith('"owner_at(topic, partition, time[, cluster])",function,') for line in listed)
    assert terminal.type("\\d OFFSET_COMMITS\n").splitlines()[1].startswith("cluster,STRING,")
    assert terminal.type("\\d nothing\n").startswith("groupscope: nothing: no such table, view or function")
    assert terminal.type("SELECT\n", MORE) == ""
    terminal.wait_until_it_waits()
    terminal.type("\x03")
    os.write(terminal.end, b"SELECT count(*) FROM range(1000000000) a, range(1000000000) b WHERE hash(a, b) = 7;\n")
    terminal.wait_until_it_computes()
    assert "groupscope: interrupted\n" in terminal.type("\x03")
    assert terminal.type("SELECT 2 AS two;\n") == "two\n2\n"
    os.write(terminal.end, b"\\q\n")
    assert os.waitstatus_to_exitcode(os.waitpid(terminal.process, 0)[1]) == 0
    kept = tmp_path / "cache" / "sql_history"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert "SELECT 2 AS two;" in kept.read_text().splitlines()
