"""The most recently used values stay, and their sizes never exceed the limit."""

from jobs.replaying.log.most_recent import MostRecent


def made(kept: MostRecent[str, bytes], key: str, size: int) -> bool:
    calls: list[str] = []

    def make() -> bytes:
        calls.append(key)
        return key.encode() * size

    assert kept.get(key, make) == key.encode() * size
    return bool(calls)


def test_the_longest_unused_value_goes_first() -> None:
    kept: MostRecent[str, bytes] = MostRecent(len, 20)
    assert [made(kept, key, 5) for key in "abcd"] == [True] * 4
    assert not made(kept, "a", 5)
    assert made(kept, "e", 5) and kept.num_bytes == 20
    assert not made(kept, "a", 5) and made(kept, "b", 5)


def test_a_value_of_more_than_a_quarter_pushes_nothing_out() -> None:
    kept: MostRecent[str, bytes] = MostRecent(len, 20)
    assert made(kept, "a", 5)
    assert made(kept, "b", 6) and made(kept, "b", 6)
    assert not made(kept, "a", 5) and kept.num_bytes == 5
