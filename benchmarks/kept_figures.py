"""The figures that docs/performance.md shows: benchmarks/figures.json keeps the newest ones of each measure."""

import json
import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jobs.processes.processors import cores

KEPT = Path(__file__).with_name("figures.json")


def conditions() -> dict[str, Any]:
    """Where and when a measure ran. `load`: how many programs wanted a processor in the minute before."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "processor": processor_name(),
        "cores": cores(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 1),
    }


def processor_name() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def kept(path: Path = KEPT) -> dict[str, Any]:
    """By measure."""
    figures: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return figures


def keep(
    measure: str, ran: dict[str, Any], figures: Sequence[dict[str, Any]], path: Path = KEPT, part: str | None = None
) -> None:
    """`part`: only these figures of the measure are new. Otherwise all are."""
    old = kept(path)
    others = {name: each for name, each in old.items() if part or name.partition(" ")[0] != measure}
    name = f"{measure} {part}" if part else measure
    kept_figures = others | {name: {**ran, "figures": list(figures)}}
    path.write_text(json.dumps(dict(sorted(kept_figures.items())), indent=1, ensure_ascii=False) + "\n")
