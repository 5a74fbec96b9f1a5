"""Libraries that a process does without, tried in processes of their own."""

import subprocess
import sys

from tests.runs.ingested import ROOT


def printed(program):
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


def test_pandas_is_absent_until_it_is_let_in():
    program = """
from jobs.processes.no_pandas import keep_pandas_out, let_pandas_in
keep_pandas_out()
try:
    import pandas
except ModuleNotFoundError as error:
    print(error)
let_pandas_in()
import pandas
print(pandas.Series([1, 2]).sum())
"""
    assert printed(program) == "pandas\n3\n"


def test_a_module_that_is_put_off_runs_when_it_is_used(tmp_path):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "late.py").write_text('print("runs")\nnumber = 7\n')
    program = f"""
import sys
from jobs.processes.no_pandas import put_off
sys.path.insert(0, {str(tmp_path)!r})
put_off("package.late")
from package import late
print("imported")
print(late.number)
"""
    assert printed(program).split() == ["imported", "runs", "7"]


def test_libraries_are_kept_out_or_left_empty_only_within_a_block():
    program = """
import sys
from jobs.processes.no_pandas import kept_out, left_empty
with kept_out("wave"):
    try:
        import wave
    except ModuleNotFoundError as error:
        print(error)
import wave
print(bool(wave.open))
with left_empty("colorsys"):
    import colorsys
    print(hasattr(colorsys, "rgb_to_hsv"))
import colorsys
print(hasattr(colorsys, "rgb_to_hsv"))
"""
    assert printed(program).splitlines() == ["wave", "True", "False", "True"]
