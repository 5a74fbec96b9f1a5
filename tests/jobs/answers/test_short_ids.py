"""Member ids in narrow tables are short, and never mistaken for each other."""

import random
import uuid

from jobs.answers.short_ids import short_ids, shorten, with_short_ids

ONE = "billing-1-2d413c87-7dbb-4702-a17f-549346ac21d5"
# Alike in their first four characters, and in their first eight.
NEAR = "billing-1-2d41ffff-7dbb-4702-a17f-549346ac21d5"
NEARER = "billing-1-2d413c87-ffff-4702-a17f-549346ac21d5"
RANDOM = "Zc9SPBJbSpek8VBskpLr2A"


def test_an_id_keeps_its_client_and_what_distinguishes_it() -> None:
    assert short_ids([ONE, RANDOM, "plain"]) == {ONE: "billing-1-2d41", RANDOM: "Zc9SPBJb", "plain": "plain"}
    assert short_ids([ONE, NEAR]) == {ONE: "billing-1-2d413c87", NEAR: "billing-1-2d41ffff"}
    assert short_ids([ONE, NEARER]) == {ONE: ONE, NEARER: NEARER}
    # Somebody's whole id may be what another one is cut to.
    assert short_ids([ONE, "billing-1-2d41"]) == {ONE: "billing-1-2d413c87", "billing-1-2d41": "billing-1-2d41"}


def test_no_two_ids_become_one() -> None:
    seed = random.randrange(2**32)
    chance = random.Random(seed)
    for _ in range(200):
        heads = [f"{chance.choice('ab')}-" for _ in range(40)]
        tails = [str(uuid.UUID(int=chance.getrandbits(6) << 90 | chance.getrandbits(100))) for _ in heads]
        ids = {head + tail for head, tail in zip(heads, tails, strict=True)}
        ids |= {shorten(each, 4) for each in ids if chance.random() < 0.2}
        assert len(set(short_ids(ids).values())) == len(ids), seed


def test_ids_are_cut_where_they_are_words_of_a_text() -> None:
    (row,) = with_short_ids([[f"members {ONE} (10.0.0.1), {RANDOM} joined; {ONE}x", 7, None, RANDOM]], [ONE, RANDOM])
    assert row == [f"members billing-1-2d41 (10.0.0.1), Zc9SPBJb joined; {ONE}x", 7, None, "Zc9SPBJb"]
