"""How far processes differ where nothing does."""

from math import inf

import pytest

from compdiff.ladder.noise import between_processes


def test_one_process_tells_nothing() -> None:
    """With nothing to compare, any difference may be noise."""
    assert between_processes([100.0]) == inf
    assert between_processes([]) == inf


def test_more_processes_tell_more() -> None:
    """The same range over more processes means less noise."""
    bands = [between_processes([100.0, 101.0, *[100.5] * more]) for more in range(4)]
    assert bands == sorted(bands, reverse=True)
    assert bands[0] == pytest.approx(1.01**64 - 1)
    assert bands[3] == pytest.approx(1.01**2.7 - 1)


def test_alike_processes_have_no_noise() -> None:
    """Where eager mode takes the same time everywhere, the floor is that of the samples alone."""
    assert between_processes([5.0, 5.0, 5.0]) == 0


def test_the_largest_noise_is_a_number() -> None:
    """Times that differ by orders of magnitude do not overflow."""
    assert 1e9 < between_processes([1.0, 1e30]) < inf
