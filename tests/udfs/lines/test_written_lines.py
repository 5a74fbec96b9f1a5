"""Lines beside those that Python puts together."""

import json

import numpy as np
import pyarrow as pa
import pytest

from udfs.lines import written_lines
from udfs.lines.line_steps import Memory, Steps
from udfs.lines.written_lines import json_of, lines_in_order

# Around how much is copied at once.
SIZES = (0, 1, 7, 8, 31, 32, 33, 39, 40, 41, 64, 100)
RECORDS = 40


def drawn_part(steps: Steps, rng: np.random.Generator, num_lines: int) -> list[str]:
    """A program of constants, finished texts and values, and what it must write in each line."""
    lines = [""] * num_lines
    for _ in range(int(rng.integers(1, 6))):
        texts = ["é" * (size // 2) + "x" * (size % 2) for size in rng.choice(SIZES, num_lines).tolist()]
        match rng.integers(0, 3):
            case 0:
                texts = texts[:1] * num_lines
                steps.say(texts[0])
            case 1:
                # Some arrays begin within others.
                steps.text(pa.array(["before", *texts], pa.string()).slice(1))
            case 2:
                values = [None if rng.random() < 0.3 else [*map(int, rng.integers(-9, 99, 3))] for _ in texts]
                steps.value(pa.array(values, pa.list_(pa.int32())))
                texts = [json.dumps(value, separators=(",", ":")) for value in values]
        lines = [line + text for line, text in zip(lines, texts, strict=True)]
    steps.say("\n")
    steps.end()
    return [line + "\n" for line in lines]


@pytest.mark.parametrize("most", [1, 300, 1 << 20])
@pytest.mark.parametrize("num_parts", [1, 2, 5])
def test_lines_are_in_the_order_of_rows_however_many_fit(
    num_parts: int, most: int, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(written_lines, "MOST_AT_ONCE", most)
    for _ in range(20):
        # Some records have no line.
        rows = [np.sort(mine) for mine in np.array_split(rng.permutation(RECORDS)[:-5], num_parts)]
        memory = Memory()
        programs = [Steps(memory) for _ in rows]
        wanted = {}
        for steps, mine in zip(programs, rows, strict=True):
            wanted |= zip(mine.tolist(), drawn_part(steps, rng, len(mine)), strict=True)
        lines = b"".join(lines_in_order(programs, rows, RECORDS))
        assert lines.decode() == "".join(wanted[row] for row in sorted(wanted))


def test_without_parts_there_are_no_lines() -> None:
    assert list(lines_in_order([], [], 3)) == []


def test_texts_that_need_several_buffers_are_one_column(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(written_lines, "MOST_AT_ONCE", 100)
    values = ["\x01" * size for size in range(60)]
    assert json_of(pa.array(values)).to_pylist() == list(map(json.dumps, values))
