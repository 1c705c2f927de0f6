"""Imported by the fork server alone, so that all cases share one import of torch. In, out: nothing.

Importing starts no thread and initialises no device: either would break the forked children.
"""

import contextlib
import importlib

from compdiff.capture.child import hush_torch

# Private modules that the first compile would import (1.2 s). A name that is gone costs time only.
_MODULES = ("compdiff.capture.measure", "torch._inductor.compile_fx")

hush_torch()
for _module in _MODULES:
    # The child imports them again, and reports in its own words what is wrong with torch here.
    with contextlib.suppress(Exception):
        importlib.import_module(_module)
