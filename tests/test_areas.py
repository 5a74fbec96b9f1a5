"""Each test belongs to one area of the Makefile (`make test-replay` and so on)."""

import subprocess
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]


def variables(*names):
    """As make reads them, wildcards of the shell included."""
    lines = "".join(f"$(info {name}=$({name}))" for name in names)
    command = ["make", "--no-print-directory", "--file", "-", "nothing"]
    text = f"include Makefile\n{lines}\nnothing: ;@:\n"
    done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=ROOT, check=True)
    return [line.partition("=")[2] for line in done.stdout.splitlines()]


def test_each_test_file_is_in_one_area():
    (areas,) = variables("AREAS")
    places = [ROOT / place for words in variables(*areas.split()) for place in words.split()]
    counts = Counter(
        file for place in places for file in ([*place.rglob("test_*.py")] or [*place.parent.glob(place.name)])
    )
    assert counts == Counter((ROOT / "tests").rglob("test_*.py"))


def test_every_folder_that_is_named_exists():
    (areas,) = variables("AREAS")
    for place in (place for words in variables(*areas.split()) for place in words.split()):
        assert list(ROOT.glob(place)), place
