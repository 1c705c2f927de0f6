"""Lays one sequence over another. In: places of both sides, what a pair costs. Out: the cheapest pairs in order.

Each right place must have a partner if one can be had at all; a left place has one where that costs little. Several left
places may share a right one (ops of one name in one kernel), and one left place may have several right ones (an op in two
kernels), in order. Only cells near the expected place are looked at, so that the time is linear in the places.
"""

from collections.abc import Callable, Sequence
from itertools import accumulate

_BAND = 8
# What it costs to leave a left place, or a right one, without a partner, and to give one left place one more partner:
# that is dear where there are as many left places as right ones.
LEAVE_LEFT = 0.9
LEAVE_RIGHT = 4.0
SPREAD = 1.0
SPREAD_THOUGH_ENOUGH = 4.0

Pair = tuple[int, int]
_FAR = float("inf")
# Of a state the cost, and the state that it was reached from: row, column, whether the last step paired them.
_State = tuple[float, tuple[int, int, bool] | None]
_NONE: _State = (_FAR, None)


def lay_over(centers: Sequence[int], width: int, cost: Callable[[int, int], float]) -> list[Pair]:
    """Return the cheapest pairs of left and right indices, in order.

    `centers` says for each left index near which of the `width` right ones its partner is, and `cost` what a pair costs.
    """
    if len(centers) == width and not any(cost(row, row) for row in range(width)):
        return [(row, row) for row in range(width)]
    # Open states: all before (row, column) is settled. Paired states: row and column are partners, and may have more.
    opened: dict[Pair, _State] = {(0, 0): (0.0, None)}
    paired: dict[Pair, _State] = {}
    bands = _bands(centers, width)
    spread = SPREAD if len(centers) < width else SPREAD_THOUGH_ENOUGH
    for row, (low, high) in enumerate(bands):
        for column in range(low, high + 1):
            _reach(opened, paired, (row, column))
            if row < len(centers) and column < width:
                _pair_up(paired, opened[row, column][0], (row, column), cost(row, column), spread)
    return _walk_back(opened, paired, (len(centers), width))


def _bands(centers: Sequence[int], width: int) -> list[Pair]:
    """Return for each row the columns to look at: they rise, and touch those of the row before."""
    rising = list(accumulate(centers, max))
    bands = []
    reached = 0
    for center in rising:
        low = min(max(0, center - _BAND), reached)
        reached = max(reached, min(width, center + _BAND))
        bands.append((low, reached))
    return [*bands, (min(bands[-1][0] if bands else 0, width), width)]


def _reach(opened: dict[Pair, _State], paired: dict[Pair, _State], at: Pair) -> None:
    """Settle the cheapest way to a state: what is before it are partners, or a left or right place that stays alone."""
    row, column = at
    ways = [
        opened.get(at, _NONE),
        _step(paired, (row - 1, column - 1), 0.0, pairing=True),
        _step(opened, (row - 1, column), LEAVE_LEFT, pairing=False),
        _step(opened, (row, column - 1), LEAVE_RIGHT, pairing=False),
    ]
    opened[at] = min(ways, key=_cost)


def _pair_up(
    paired: dict[Pair, _State], fresh: float, at: Pair, cost: float, spread: float
) -> None:
    """Settle the cheapest way to make partners of a row and a column: both new, or one of them with one more partner."""
    row, column = at
    ways = [
        (fresh + cost, (row, column, False)),
        _step(paired, (row - 1, column), cost, pairing=True),
        _step(paired, (row, column - 1), cost + spread, pairing=True),
    ]
    paired[at] = min(ways, key=_cost)


def _step(states: dict[Pair, _State], source: Pair, cost: float, *, pairing: bool) -> _State:
    before = states.get(source, _NONE)[0]
    return before + cost, (*source, pairing)


def _cost(state: _State) -> float:
    return state[0]


def _walk_back(opened: dict[Pair, _State], paired: dict[Pair, _State], end: Pair) -> list[Pair]:
    found = []
    at, pairing = end, False
    while True:
        _, source = (paired if pairing else opened)[at]
        if pairing:
            found.append(at)
        if source is None:
            return found[::-1]
        at, pairing = source[:2], source[2]
