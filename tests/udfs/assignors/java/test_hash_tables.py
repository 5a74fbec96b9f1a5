"""Hash tables against Java's own: crowded buckets, which become trees and chains again."""

import subprocess
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tests.kafka.java_programs import compile_java, java_command
from tests.oracles.assignors.kafka_assignors import JAVA, newer_java
from udfs.assignors.java.maps import NUMBERS, JavaMap, Keys, string_hash, string_hashes, utf_16, walked

TEXTS = Keys[str](string_hash, utf_16)
CASES = 1_500


def random_key(random: Random, kind: str, crowd: int) -> str:
    """Few buckets for many keys. "Aa" and "BB" have one hash code."""
    if kind == "n":
        return str(random.randrange(12) + 64 * crowd * random.randrange(40 if random.random() < 0.9 else 1 << 20))
    if random.random() < 0.2:
        return f"k{random.randrange(200)}"
    return "".join(random.choices(["Aa", "BB"], k=random.choice([4, 5, 5, 5, 6])))


def random_steps(random: Random) -> list[str]:
    kind = random.choice(["n", "t"])
    steps = [f"{kind}{random.choice([0, 1, 16, 64, 64, 64, 256, 1024])}"]
    crowd, letters = random.choice([1, 1, 2, 16]), random.choice(["p", "ppppr", "ppc", "ccccr", "pcrprc"])
    for _ in range(random.choice([12, 30, 60, 120, 250])):
        steps.append(random.choice(letters) + random_key(random, kind, crowd))
        if random.random() < 0.01:
            steps.append(f"s{random.choice([0, 16, 64, 128])}")
    return steps


def walked_after(steps: list[str]) -> str:
    table: JavaMap[str | int, None] = made(steps[0][0], int(steps[0][1:]))
    for step in steps[1:]:
        key = int(step[1:]) if steps[0][0] == "n" else step[1:]
        if step[0] == "p":
            table.put(key, None)
        elif step[0] == "c":
            table.compute_if_absent(key, lambda: None)
        elif step[0] == "s":
            copy = made(steps[0][0], int(step[1:]))
            for each in table.walk():
                copy.put(each, None)
            table = copy
        else:
            table.remove(key)
    return " ".join(map(str, table.walk()))


def made(kind: str, asked: int) -> JavaMap[str | int, None]:
    return JavaMap(NUMBERS if kind == "n" else TEXTS, 1 << max(asked - 1, 0).bit_length())  # type: ignore[arg-type]


def java_walks(lines: list[list[str]], java: Path | None = None) -> list[str]:
    classes = compile_java([JAVA / "tables" / "HashTables.java"])
    command = java_command("HashTables", [classes])
    command[0] = str(java or command[0])
    text = "".join(" ".join(line) + "\n" for line in lines)
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.broker
@pytest.mark.parametrize("cases", [CASES, pytest.param(20 * CASES, marks=pytest.mark.soak)])
def test_crowded_tables_are_walked_as_java_walks_them(cases: int, rng: np.random.Generator) -> None:
    random = Random(int(rng.integers(2**62)))
    lines = [random_steps(random) for _ in range(cases)]
    for line, theirs in zip(lines, java_walks(lines), strict=True):
        assert walked_after(line) == theirs, " ".join(line)
    newer = newer_java()
    if newer is not None:
        assert java_walks(lines, newer) == java_walks(lines)


@pytest.mark.broker
def test_crowded_keys_that_are_put_at_once_are_walked_as_java_walks_them(rng: np.random.Generator) -> None:
    random = Random(int(rng.integers(2**62)))
    lines = []
    for _ in range(800):
        kind, size = random.choice(["n", "t"]), random.choice([8, 14, 40, 100, 300])
        keys = dict.fromkeys(random_key(random, kind, random.choice([1, 4])) for _ in range(size))
        lines.append([f"{kind}{random.choice([16, 16, 64])}", *("p" + key for key in keys)])
    for line, theirs in zip(lines, java_walks(lines), strict=True):
        keys = [step[1:] for step in line[1:]]
        codes = string_hashes(keys).tolist() if line[0][0] == "t" else list(map(int, keys))
        order = walked(codes, lambda at, keys=keys: utf_16(keys[at]), int(line[0][1:]))  # type: ignore[misc]
        assert " ".join(keys[at] for at in order) == theirs, " ".join(line)


@pytest.mark.parametrize("others", [[], ["é", "\U0001d11e"], ["a\0b"]], ids=["ASCII", "other characters", "NUL"])
def test_hash_codes_of_texts_are_those_of_java(others: list[str]) -> None:
    """By the formula that String.hashCode documents: units of UTF-16, each times a power of 31."""
    codes = {"": 0, "Aa": 2112, "BB": 2112, "hello": 99162322, "polygenelubricants": -(2**31)}
    codes |= {"é": 0xE9, "\U0001d11e": 31 * 0xD834 + 0xDD1E, "a\0b": 97 * 31**2 + 98}
    texts = ["", "Aa", "BB", "hello", "polygenelubricants", *others]
    assert string_hashes(texts).astype(np.int32).tolist() == [codes[text] for text in texts]
