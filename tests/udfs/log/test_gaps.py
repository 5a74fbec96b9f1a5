"""Whether offsets between two known ones are missing, beside the set of all missing ones."""

import numpy as np

from udfs.log.gaps import Gaps


def test_a_gap_is_felt_only_by_what_has_it_within() -> None:
    gaps = Gaps([5], [7])
    assert gaps.is_complete(7, 20)
    assert gaps.is_complete(0, 5)
    assert not gaps.is_complete(0, 8)
    assert not gaps.is_complete(4, 8)
    assert Gaps().is_complete(-1, 100)


def test_one_by_one_and_all_at_once_they_say_what_the_missing_offsets_say(rng: np.random.Generator) -> None:
    for _ in range(50):
        missing = {int(offset) for offset in rng.integers(0, 30, rng.integers(0, 20))}
        firsts = sorted(offset for offset in missing if offset - 1 not in missing)
        lasts = sorted(offset for offset in missing if offset + 1 not in missing)
        gaps = Gaps(firsts, lasts)
        known = sorted({*range(-1, 32)} - missing)
        pairs = [(after, upto) for after in known for upto in known if after < upto]
        expected = [not missing & {*range(after + 1, upto)} for after, upto in pairs]
        assert [gaps.is_complete(after, upto) for after, upto in pairs] == expected
        after, upto = np.array(pairs, np.int64).T
        assert gaps.are_complete(after, upto).tolist() == expected
