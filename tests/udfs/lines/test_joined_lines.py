"""Lines beside those that Python joins."""

import numpy as np
import pyarrow as pa
import pytest

from udfs.lines.joined_lines import lines_in_order
from udfs.lines.json_text import Pieces

# Around how much is copied at once.
SIZES = (0, 1, 7, 8, 31, 32, 33, 39, 40, 41, 64, 100)


def drawn_part(rng: np.random.Generator, num_lines: int) -> list[list[str]]:
    """Pieces, each with its text in every line: the same one, or its own."""
    pieces = []
    for _ in range(int(rng.integers(1, 6))):
        texts = ["é" * (size // 2) + "x" * (size % 2) for size in rng.choice(SIZES, num_lines).tolist()]
        pieces.append(texts if rng.random() < 0.5 else [texts[0]] * num_lines)
    return [*pieces, ["\n"] * num_lines]


def as_pieces(texts: list[list[str]]) -> Pieces:
    """Some arrays begin within others."""
    return [
        each[0] if len(set(each)) == 1 and place % 2 else pa.array(["before", *each], pa.string()).slice(1)
        for place, each in enumerate(texts)
    ]


@pytest.mark.parametrize("num_parts", [1, 2, 5])
def test_lines_are_those_of_their_pieces_in_the_order_of_rows(num_parts: int, rng: np.random.Generator) -> None:
    for _ in range(50):
        rows = np.array_split(rng.permutation(40), num_parts)
        rows = [np.sort(mine) for mine in rows]
        parts = [drawn_part(rng, len(mine)) for mine in rows]
        wanted = {
            row: "".join(texts)
            for mine, part in zip(rows, parts, strict=True)
            for row, texts in zip(mine.tolist(), zip(*part, strict=True), strict=True)
        }
        lines = lines_in_order([as_pieces(part) for part in parts], rows)
        assert lines.to_pybytes().decode() == "".join(wanted[row] for row in sorted(wanted))


def test_without_parts_there_are_no_lines() -> None:
    assert lines_in_order([], []).to_pybytes() == b""
