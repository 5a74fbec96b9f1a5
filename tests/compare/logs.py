"""Logs that two trees are asked about: the sample, captures of real brokers, generated ones, copies, damage, archives.

Each is written by a name of `NAMES` into a folder, the same bytes for the same seed. A log in pieces is the same log as
it grew: an audit a piece.
"""

import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import write_deltalake

from benchmarks.segments import SNAPSHOTS, Plan, write_segments
from benchmarks.shapes import FEW_KEYS, SHAPES
from benchmarks.skewed_logs import write_hot_partition
from tests.builders.logs.archives import archived, lines
from tests.kafka.capture import capture_of
from tests.kafka.outages import OUTAGE_RELEASES, outages_of
from tests.kafka.releases import NEWEST
from tests.runs.replayed_logs import batch_ends, growing, write_part

ROOT: Final = Path(__file__).parents[2]
SAMPLE: Final = ROOT / "data" / "sample"
# Enough that each kind of record is there, and an audit takes seconds.
RECORDS: Final = 100_000
HOT_SCALE: Final = 0.02
COPIES: Final = 3
# Of batches, how many a copy lacks, and bytes of a log that are damaged.
MISSING_SHARE, DAMAGES = 0.2, 40


@dataclass(frozen=True)
class Log:
    name: str
    # One after the other, into one warehouse.
    sources: tuple[str, ...]
    snapshots: Path | None = None
    settings: Path | None = None
    # Where its segments are, if it has any: what can be cut into pieces.
    segments: Path | None = None


def of_segments(name: str, folder: Path) -> Log:
    """A folder of a broker, or one with such a folder and snapshots in it. Settings are `settings.toml` in it."""
    inner = next((folder / each for each in ("log", "full") if (folder / each).is_dir()), folder)
    snapshots, settings = folder / SNAPSHOTS, folder / "settings.toml"
    return Log(
        name, (f"segments:{inner}",), snapshots if snapshots.exists() else None,
        settings if settings.exists() else None, inner,
    )  # fmt: skip


def sample(folder: Path, seed: int) -> Log:
    return replace(of_segments("sample", SAMPLE), settings=ROOT / "conf" / "sample.toml")


def newest_release(folder: Path, seed: int) -> Log:
    return of_segments("newest-release", capture_of(NEWEST).folder)


def outages(release: str) -> Callable[[Path, int], Log]:
    def made(folder: Path, seed: int) -> Log:
        capture = outages_of(OUTAGE_RELEASES[release])
        return Log(release, (f"segments:{capture.log_dir}",), capture.snapshots, segments=capture.log_dir)

    return made


def mix(folder: Path, seed: int) -> Log:
    write_segments(folder, Plan(RECORDS, seed, lives=RECORDS // 500))
    return of_segments("mix", folder)


def few_keys(folder: Path, seed: int) -> Log:
    write_segments(folder, Plan(RECORDS, seed, shape=SHAPES[FEW_KEYS]))
    return of_segments("few-keys", folder)


def hot_partition(folder: Path, seed: int) -> Log:
    write_hot_partition(folder, HOT_SCALE)
    return of_segments("hot-partition", folder)


def copies(folder: Path, seed: int) -> Log:
    """What three brokers have of the sample: each lacks some batches, as a cleaner leaves a log; none lacks all."""
    chance = random.Random(f"{seed} copies")
    for segment in sorted(SAMPLE.glob("__consumer_offsets-*/*.log")):
        content = segment.read_bytes()
        batches = [content[start:end] for start, end in bounds(content)]
        holders = [chance.sample(range(COPIES), chance.choice((COPIES, COPIES - 1))) for _ in batches]
        for number in range(COPIES):
            into = folder / f"broker-{number}" / segment.parent.name
            into.mkdir(parents=True, exist_ok=True)
            kept = (batch for batch, some in zip(batches, holders, strict=True) if number in some)
            (into / segment.name).write_bytes(b"".join(kept))
    return replace(sample(folder, seed), name="copies", sources=(f"segments:{folder}/broker-*",), segments=None)


def bounds(content: bytes) -> Iterator[tuple[int, int]]:
    ends = batch_ends(content)
    return zip([0, *ends[:-1]], ends, strict=True)


def damaged(folder: Path, seed: int) -> Log:
    """The sample with bytes that flipped, ranges that are zero, and a segment that ends early."""
    shutil.copytree(SAMPLE, folder, dirs_exist_ok=True)
    chance = random.Random(f"{seed} damage")
    segments = [path for path in sorted(folder.glob("__consumer_offsets-*/*.log")) if path.stat().st_size]
    for _ in range(DAMAGES):
        content = bytearray((path := chance.choice(segments)).read_bytes())
        place = chance.randrange(len(content))
        if chance.random() < 0.7:
            content[place] ^= 1 << chance.randrange(8)
        else:
            content[place : place + 30] = bytes(len(content[place : place + 30]))
        path.write_bytes(content)
    cut = chance.choice(segments)
    cut.write_bytes(cut.read_bytes()[:-7])
    return replace(of_segments("damaged", folder), settings=ROOT / "conf" / "sample.toml")


def archive(form: str) -> Callable[[Path, int], Log]:
    """The sample as another program saved it."""

    def made(folder: Path, seed: int) -> Log:
        rows, path = archived(SAMPLE), folder / f"archive-{form}"
        if form == "json":
            path.mkdir(parents=True)
            (path / "records.jsonl").write_text(lines(rows))
        else:
            table = pa.Table.from_pylist(rows)
            table = table.set_column(
                table.column_names.index("timestamp"), "timestamp",
                table.column("timestamp").cast(pa.timestamp("ms", "UTC")).cast(pa.timestamp("us", "UTC")),
            )  # fmt: skip
            if form == "delta":
                write_deltalake(path, table)
            else:
                path.mkdir(parents=True)
                pq.write_table(table, path / "records.parquet")
        return replace(sample(folder, seed), name=f"archive-{form}", sources=(f"records:{path}",), segments=None)

    return made


NAMES: Final[dict[str, Callable[[Path, int], Log]]] = {
    "sample": sample,
    "newest-release": newest_release,
    **{name: outages(name) for name in OUTAGE_RELEASES},
    "mix": mix,
    "few-keys": few_keys,
    "hot-partition": hot_partition,
    "copies": copies,
    "damaged": damaged,
    **{f"archive-{form}": archive(form) for form in ("parquet", "delta", "json")},
}


def in_pieces(log: Log, number: int, folder: Path, seed: int) -> Log:
    """Each offsets partition is cut at batches of its own; the last piece is the whole."""
    if log.segments is None or number == 1:
        return log
    rng = np.random.default_rng(seed)
    sources = []
    for place, share in enumerate(growing(log.segments, rng, number)[:-1]):
        write_part(
            log.segments, into := folder / f"piece-{place}", {name: max(1, some) for name, some in share.items()}
        )
        sources.append(f"segments:{into}")
    return replace(log, name=f"{log.name}, {number} pieces", sources=(*sources, *log.sources))
