"""Clocks that share counts, against dictionaries."""

from __future__ import annotations

import random

import pytest

from tf1sessions.testing.clocks import Clock


def joined(one: dict[int, int], other: dict[int, int]) -> dict[int, int]:
    return {number: max(one.get(number, 0), other.get(number, 0)) for number in one.keys() | other.keys()}


@pytest.mark.parametrize("seed", range(5))
def test_clocks_are_dictionaries(seed: int) -> None:
    chance = random.Random(seed)
    pairs: list[tuple[Clock, dict[int, int]]] = [(Clock(), {})]
    for _ in range(600):
        clock, known = chance.choice(pairs[-8:])
        if chance.random() < 0.5:
            newer = {chance.randrange(200): 0}
            newer = {number: known.get(number, 0) + chance.randrange(1, 3) for number in newer}
            made, expected = clock.extended(newer), {**known, **newer}
        elif chance.random() < 0.9:
            other, other_known = chance.choice(pairs[-20:])
            made, expected = clock.joined(other), joined(known, other_known)
        else:
            left = {number for number in known if number % 7}
            made = clock.only(lambda counts, left=left: {each: counts[each] for each in counts if each in left})
            expected = {number: count for number, count in known.items() if number in left}
            clock, known = made, expected
            # The threads that are gone matter to no clock any more.
            pairs = [(made, expected)]
        pairs.append((made, expected))
        assert dict(made) == expected and len(made) == len(expected)
        assert all(made.get(number) == count for number, count in expected.items()) and made.get(1000) == 0


def test_what_has_all_is_shared() -> None:
    """Thousands of threads that met at a barrier have one clock, and a few counts of their own."""
    met = Clock(dict.fromkeys(range(1000), 1))
    assert Clock({5: 1}).joined(met) is met and met.joined(Clock({5: 1})) is met
    own = [met.extended({number: 2}) for number in range(1000)]
    assert all(each._shared is met._shared and len(each._own) == 1 for each in own)
    known = met
    for each in own:
        known = known.joined(each)
    assert dict(known) == dict.fromkeys(range(1000), 2)
