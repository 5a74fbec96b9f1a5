"""Inputs that atheris chooses by what the code did with those before: one at a time, in plain Python.

Coverage is counted in modules of schemas/, udfs/ and jobs/. Compiled loops would not be seen, so this process runs them
as plain Python (NUMBA_DISABLE_JIT), and `volume` runs them compiled.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random


def run(name: str, seconds: int, seed: int, folder: Path) -> None:
    """Does not return: libFuzzer ends the process, with the exit code 0 if nothing was found. Inputs that reached new
    code are kept in `folder`, and the next run starts from them."""
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    import atheris

    with atheris.instrument_imports(include=["schemas", "udfs", "jobs"], enable_loader_override=False):
        from tests.fuzz.logs import broker_logs, captured_logs
        from tests.fuzz.targets import targets
    target = targets([*broker_logs(), *captured_logs()])[name]
    pool = target.seeds()
    corpus = folder / name.replace(" ", "_")
    write_seeds(corpus, pool, Random(seed))

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        return target.mutate(data, pool, Random(seed))[:most]

    options = [
        *(f"-max_total_time={seconds}", f"-seed={seed}", f"-max_len={target.longest}", "-timeout=30"),
        *("-rss_limit_mb=3000", "-print_final_stats=1", f"-artifact_prefix={corpus.parent}/found-"),
    ]
    atheris.Setup([sys.argv[0], *options, str(corpus)], lambda data: target.check([data]), custom_mutator=mutate)
    atheris.Fuzz()


def write_seeds(corpus: Path, pool: Sequence[bytes], chance: Random, most: int = 400) -> None:
    corpus.mkdir(parents=True, exist_ok=True)
    for number, raw in enumerate(chance.sample(pool, min(most, len(pool)))):
        (corpus / f"seed-{number}").write_bytes(raw)
