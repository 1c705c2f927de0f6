"""Runs with noisy times. In: seeds and sizes. Out: runs as a machine would leave them, whose true times are known."""

import random
from math import exp

from compdiff.model import Run, Samples, Timing
from tests.builders import run, samples

EAGER_NS = 1_000_000
COMPILED_NS = 800_000


def noisy(
    rng: random.Random, slower: float = 1.0, *, process: float = 0.008, pairs: int = 24
) -> Run:
    """Return a run whose compiled side takes `slower` times the usual.

    The machine's clock differs by 5 % from run to run, each process's sides by `process` of their own, samples by 1.5 %;
    the run drifts by 1 %, and three samples in a hundred take up to half longer.
    """
    machine, drifting = rng.gauss(0, 0.05), rng.gauss(0, 0.01)
    eager, compiled = rng.gauss(0, process), rng.gauss(0, process)

    def sampled(base: float, own: float) -> Samples:
        values = []
        for index in range(pairs):
            spike = 1 + rng.random() / 2 if rng.random() < 0.03 else 1.0
            noise = machine + own + rng.gauss(0, 0.015) + drifting * index / pairs
            values.append(round(base * spike * exp(noise)))
        return samples(*values)

    return run(
        timing=Timing(
            left=sampled(EAGER_NS, eager),
            right=sampled(COMPILED_NS * slower, compiled),
            noise_a=sampled(EAGER_NS, eager),
            noise_b=sampled(EAGER_NS, eager),
        )
    )
