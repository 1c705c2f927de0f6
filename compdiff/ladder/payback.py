"""When compiling has paid back. In: a run. Out: after how many calls, with the interval of what a call saves."""

from compdiff.ladder.facts import compile_ns
from compdiff.ladder.records import Payback, PaybackState
from compdiff.model import Run, Timing
from compdiff.timing import Verdict, median_interval, verdict

_STATES: dict[Verdict, PaybackState] = {"slower": "never", "same": "never", "unclear": "unclear"}


def payback_of(run: Run) -> Payback:
    """Return after how many calls the compile time of a run is saved, where the compiled side is surely faster.

    What a call saves is the median difference of neighbouring blocks; its 95 % interval gives that of the calls.
    """
    spent = compile_ns(run)
    if run.timing is None or not spent:
        return Payback(state="unknown", compile_ns=spent)
    state = _STATES.get(verdict(run.timing))
    if state is not None:
        return Payback(state=state, compile_ns=spent)
    return _paid(spent, run.timing)


def _paid(spent: int, timing: Timing) -> Payback:
    pairs = zip(timing.left.ns_per_call, timing.right.ns_per_call, strict=False)
    saved, least, most = median_interval([float(before - after) for before, after in pairs])
    if least <= 0:
        # The verdict is of ratios; where few pairs leave the difference open, so is when it pays.
        return Payback(state="unclear", compile_ns=spent)
    calls, low, high = (_calls(spent, ns) for ns in (saved, most, least))
    return Payback(state="pays", compile_ns=spent, calls=calls, low=low, high=high)


def _calls(spent: int, saved: float) -> int:
    return -int(-spent // saved)
