"""How far two processes differ where nothing does. In: times of eager mode in several processes. Out: a noise floor.

Rungs run in processes of their own, so two of them are not timed in turns. What one process has otherwise (addresses, clock
rate, neighbours) shows in eager mode, which runs beside each rung.
"""

from collections.abc import Sequence
from math import expm1, inf, log

# Two processes differ by more than so many times the range of the medians of n processes in 1 of 100 cases, where what a
# process adds is normally distributed. Source: simulation, 200,000 draws for each n.
_RANGES = {2: 64.0, 3: 7.3, 4: 3.7, 5: 2.7}
_FEWEST, _MOST = min(_RANGES), max(_RANGES)
# Beyond this nothing is told apart anyway; the exponential of more may overflow.
_LARGEST = 50.0


def between_processes(medians_ns: Sequence[float]) -> float:
    """Return the relative difference that two processes may show where there is none; infinite for fewer than two.

    Args:
        medians_ns: the median time of the same code in each process.
    """
    known = [log(median) for median in medians_ns if median > 0]
    if len(known) < _FEWEST:
        return inf
    band = _RANGES[min(len(known), _MOST)] * (max(known) - min(known))
    return expm1(min(band, _LARGEST))
