"""Why Inductor replays no CUDA graph. In: its log while compiled code runs. Out: warnings, one for each reason.

Some reasons, such as inputs that the function changes, show only when the code runs: the compilation's metrics lack them.
"""

import contextlib
import logging
from collections.abc import Iterator

from compdiff.model import GRAPH_SKIPPED, CaptureWarning

# Source: log_cudagraph_skip_and_bump_counter, torch/_inductor/cudagraph_utils.py (2.14): its warnings are reasons.
_LOGGER = "torch._inductor.cudagraph_utils"


@contextlib.contextmanager
def heard(warnings: list[CaptureWarning]) -> Iterator[None]:
    """Add a warning for each reason that is logged inside the block."""

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found = CaptureWarning(id=GRAPH_SKIPPED, text=record.getMessage())
            if found not in warnings:
                warnings.append(found)

    logger, listener = logging.getLogger(_LOGGER), Listener(logging.WARNING)
    logger.addHandler(listener)
    try:
        yield
    finally:
        logger.removeHandler(listener)
