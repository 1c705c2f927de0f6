"""When compiling has paid back."""

from compdiff.ladder.payback import payback_of
from compdiff.ladder.records import Payback
from compdiff.model import Samples, Timing
from tests.ladder.examples import rung_run, timing, with_compilation

COMPILE_NS = 900_000_000


def test_it_pays_where_calls_are_faster() -> None:
    """Compile time over what a call saves, with the interval of the saving turned round."""
    found = payback_of(rung_run("default"))
    assert (found.state, found.compile_ns) == ("pays", COMPILE_NS)
    assert found.low is not None
    assert found.calls is not None
    assert found.high is not None
    assert found.low <= found.calls <= found.high
    assert abs(found.calls - COMPILE_NS / 200_000) < 0.03 * found.calls


def test_it_is_rounded_up() -> None:
    """A call that saves nearly enough is not enough."""
    exact = Samples(ns_per_call=(1_000,) * 12, calls=1)
    half = Samples(ns_per_call=(600,) * 12, calls=1)
    run = rung_run("default", timing=Timing(left=exact, right=half, noise_a=exact, noise_b=exact))
    run = with_compilation(run, phases_ns={"dynamo": 1_000, "backward": 1})
    assert payback_of(run) == Payback(state="pays", compile_ns=1_001, calls=3, low=3, high=3)


def test_never_where_nothing_is_saved() -> None:
    """Slower, or as fast within noise: no number of calls pays."""
    assert payback_of(rung_run("aot_eager")).state == "never"
    same = rung_run("default", timing=timing(500_000, 500_000))
    assert payback_of(same) == Payback(state="never", compile_ns=COMPILE_NS)


def test_unclear_where_noise_hides_it() -> None:
    """On a busy machine a faster call is no proof."""
    busy = timing(500_000, 300_000, others_cpu=0.5)
    assert payback_of(rung_run("default", timing=busy)).state == "unclear"


def test_unknown_without_times() -> None:
    """Neither an untimed run nor one whose compile time nobody told has an answer."""
    assert payback_of(rung_run("default", timing=None)).state == "unknown"
    assert payback_of(with_compilation(rung_run("default"), phases_ns={})).state == "unknown"
