"""The kernel names of the test data. In: tests/data. Out: names with counts by trace, pairs of mangled names.

kernel_names.json.gz is made by tests/make_kernel_names.py from public traces. mangled_names.json.gz holds kernels of
torch 2.14.1's libtorch_cuda.so and of the same traces, each with what `c++filt` of binutils prints for it.
"""

import gzip
import json
from functools import cache
from pathlib import Path

DATA = Path(__file__).parents[1] / "data"


@cache
def traces() -> dict[str, dict[str, int]]:
    """Return the count of each device activity's name by trace."""
    found: dict[str, dict[str, int]] = json.loads(
        gzip.decompress((DATA / "kernel_names.json.gz").read_bytes())
    )
    return found


@cache
def real_names() -> tuple[str, ...]:
    """Return all names, each once, sorted."""
    return tuple(sorted({name for names in traces().values() for name in names}))


@cache
def mangled_pairs() -> dict[str, str]:
    """Return mangled names with what a demangler prints for them."""
    found: dict[str, str] = json.loads(
        gzip.decompress((DATA / "mangled_names.json.gz").read_bytes())
    )
    return found
