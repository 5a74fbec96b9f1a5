"""Random rows of the gate, of commits beside it, and of lag: few groups, topics and offsets, so that many rows meet."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from schemas.tables import TABLES
from tests.make.tables import NOW, filled
from tests.oracles.lag.days import with_days

Rows = dict[str, list[dict[str, Any]]]


def random_gate(rng: np.random.Generator, number: int) -> Rows:
    rows: Rows = {
        "gate_spans": [random_span(rng) for _ in range(number)],
        "offset_history": [random_commit(rng, record) for record in range(number)],
        "ownership_intervals": [random_stay(rng) for _ in range(number // 10)],
        "offset_resets": [random_reset(rng, number) for _ in range(number // 20)],
        "lag_points": [random_point(rng) for _ in range(number)],
        **random_results(rng, number),
    }
    whole = {name: filled(TABLES[name], some).to_pylist() for name, some in rows.items()}
    return {name: filled(TABLES[name], some).to_pylist() for name, some in with_days(whole).items()}


def one_of(rng: np.random.Generator, *choices: Any) -> Any:
    return choices[rng.integers(len(choices))]


def some_time(rng: np.random.Generator, days: float = 0.1) -> datetime:
    """Few of them, so that several things happen at once."""
    return NOW + timedelta(seconds=60 * int(rng.integers(-days * 1_440, days * 1_440)))


def subject(rng: np.random.Generator) -> Mapping[str, Any]:
    about = {"cluster": one_of(rng, "a", "b"), "group_id": one_of(rng, "g", "h", "größe")}
    return {**about, "topic": one_of(rng, "orders", "clicks"), "partition": int(rng.integers(2))}


def random_span(rng: np.random.Generator) -> dict[str, Any]:
    first = 10 * int(rng.integers(20))
    return {
        **subject(rng),
        "from_offset": first,
        "to_offset": first + 10 * int(rng.integers(1, 5)),
        "num_rows_written": one_of(rng, None, int(rng.integers(40))),
        "verdict": one_of(rng, "passed", "passed", "failed", "overridden"),
        "until_time": one_of(rng, None, some_time(rng)),
        "recorded_time": some_time(rng),
        "result_hash": str(rng.integers(10**9)),
    }


def random_commit(rng: np.random.Generator, record: int) -> dict[str, Any]:
    before, after = one_of(rng, None, 5 * int(rng.integers(40))), 5 * int(rng.integers(40))
    return {
        **subject(rng),
        "from_record_offset": record,
        "to_record_offset": one_of(rng, None, record + int(rng.integers(1, 9))),
        "committed_offset": after,
        "previous_offset": before,
        "delta": None if before is None else after - before,
        "commit_time": one_of(rng, None, some_time(rng)),
        "from_time": one_of(rng, None, some_time(rng)),
        "evidence_first_offset": record,
        "evidence_last_offset": record,
    }


def random_stay(rng: np.random.Generator) -> dict[str, Any]:
    first, is_provisional = int(rng.integers(100)), one_of(rng, True, False)
    return {
        **subject(rng),
        "from_offset": first,
        "to_record_offset": None if is_provisional else first + int(rng.integers(1, 99)),
        "is_provisional": is_provisional,
        "member_id": one_of(rng, "m0", "m1"),
        "client_id": one_of(rng, None, "c"),
        "client_host": one_of(rng, None, "/h"),
        "role": one_of(rng, None, "active", "standby"),
    }


def random_reset(rng: np.random.Generator, number: int) -> dict[str, Any]:
    first = int(rng.integers(number))
    lists = {name: [] for name in ("partitions", "from_offsets", "to_offsets")}
    evidence = {"evidence_first_offset": first, "evidence_last_offset": first + int(rng.integers(30))}
    return {**subject(rng), **lists, **evidence, "at_time": one_of(rng, None, some_time(rng))}


def random_point(rng: np.random.Generator) -> dict[str, Any]:
    time_lag = one_of(rng, None, int(rng.integers(10**9)))
    return {
        **subject(rng),
        "topic": one_of(rng, None, "orders", "clicks"),
        "topic_id": one_of(rng, None, "id"),
        "group_type": one_of(rng, "classic", "consumer"),
        "snapshot_time": some_time(rng, days=2),
        "log_start_offset": one_of(rng, None, int(rng.integers(200))),
        "is_provisional": one_of(rng, True, False, False),
        "evidence_partition": 3,
        "lag": one_of(rng, None, int(rng.integers(2**40))),
        "time_lag_ms": time_lag,
        "time_lag_method": "none" if time_lag is None else one_of(rng, "interpolated", "extrapolated"),
    }


def random_results(rng: np.random.Generator, number: int) -> Rows:
    runs: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    for run in range(number):
        about = {"cluster": one_of(rng, "a", "b"), "run_id": f"{run:04}", "suite": one_of(rng, "s", "t")}
        runs.append({**about, "started_time": some_time(rng, days=60)})
        results += [
            {**about, "expectation": name, "column_name": "", "success": one_of(rng, None, True, True, False)}
            for name in ("e", "f")
        ]
    return {"gate_runs": runs, "gate_results": results}
