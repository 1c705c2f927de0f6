"""compdiff.compare: functions of this process, measured for real, and everything as it was afterwards."""

import functools
import random
from collections.abc import Callable

import pytest
import torch

import compdiff
from compdiff.capture.in_process import Call, measure_call
from compdiff.capture.workload import name_of, of_call
from compdiff.errors import CaseError
from compdiff.model import CompileOptions, SamplingPlan


def quick(fn: object, *args: object, **options: object) -> compdiff.Report:
    """Return a report with few samples."""
    assert callable(fn)
    options = {"budget_s": 0.02, **options}
    return compdiff.compare(fn, *args, **options)  # type: ignore[arg-type]


def stages(fn: object, *args: object, backend: str = "aot_eager") -> list[str]:
    """Measure with a backend that compiles no kernels, and return the stages."""
    heard: list[str] = []
    quick(fn, *args, backend=backend, progress=heard.append)
    return heard


@pytest.mark.measured
def test_a_closure_is_measured() -> None:
    """A function that no file can name has its rewrites, its source lines and nothing unexplained."""
    weight = torch.randn(8, 8)

    def fn(x: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.add(torch.matmul(x, weight), b)

    report = quick(fn, torch.randn(8, 8), torch.randn(8, 8))
    assert report.rules == ("mm-add-to-addmm",)
    assert report.unexplained == 0
    source = report.eager.op_calls[0].source
    assert source is not None
    assert source.text.strip() == "return torch.add(torch.matmul(x, weight), b)"
    assert report.run.numerics is not None
    assert report.run.numerics.within
    assert report.speedup is not None


@pytest.mark.measured
def test_a_backward_pass_is_measured() -> None:
    """Gradients are taken where asked, and those that were there stay."""
    model = torch.nn.Linear(8, 8)
    before = torch.ones(8, 8)
    model.weight.grad = before
    report = quick(model, torch.randn(4, 8), backward=True)
    assert {call.phase for call in report.eager.op_calls} == {"forward", "backward"}
    assert model.weight.grad is before
    assert bool((before == 1).all())


def test_state_is_put_back() -> None:
    """Arguments, buffers, tensors that are written to, and random states are as they were."""
    norm = torch.nn.BatchNorm1d(4)
    count = torch.zeros(1)
    argument = torch.randn(3, 4)

    def fn(x: torch.Tensor) -> torch.Tensor:
        count.add_(1)
        x.mul_(2)
        return norm(x) + torch.rand_like(x)  # type: ignore[no-any-return]

    given = argument.clone()
    torch.manual_seed(7)
    random.seed(7)
    states = torch.get_rng_state(), random.getstate()
    stages(fn, argument)
    assert torch.equal(argument, given)
    assert norm.num_batches_tracked is not None
    assert norm.num_batches_tracked.item() == 0
    assert norm.running_mean is not None
    assert not norm.running_mean.any()
    assert count.item() == 0
    assert torch.equal(torch.get_rng_state(), states[0])
    assert random.getstate() == states[1]


def test_a_failure_leaves_the_state_too() -> None:
    """The function's own error goes through, and what was changed is put back."""
    count = torch.zeros(1)

    def fn(x: torch.Tensor) -> torch.Tensor:
        count.add_(1)
        raise ZeroDivisionError(str(x.shape))

    with pytest.raises(ZeroDivisionError):
        quick(fn, torch.ones(1))
    assert count.item() == 0


def test_compiled_code_of_others_is_not_observed() -> None:
    """What the user compiles afterwards is compiled anew."""
    seen: list[int] = []

    def backend(graph: torch.fx.GraphModule, _: list[torch.Tensor]) -> object:
        seen.append(len(graph.graph.nodes))
        return graph.forward

    def fn(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    compiled = torch.compile(fn, backend=backend)
    compiled(torch.ones(2))
    stages(fn, torch.ones(2))
    compiled(torch.ones(2))
    assert len(seen) == 2


def test_stages_are_those_of_a_case() -> None:
    """It is the code that measures a case file."""
    heard = stages(torch.nn.Linear(2, 2), torch.ones(1, 2))
    assert heard[0] == "eager: warm-up"
    assert heard[-1] == "compare outputs"


def test_the_run_says_that_it_was_measured_here() -> None:
    """A reader of the report knows that the process was warm."""
    report = quick(torch.nn.Linear(2, 2), torch.ones(1, 2), backend="aot_eager")
    assert "in-process" in {warning.id for warning in report.run.warnings}
    assert report.run.case.name == "Linear"
    assert report.run.case.form == "call"


@pytest.mark.parametrize("made", ["function", "module", "in place"])
def test_a_compiled_function_is_refused(made: str) -> None:
    """There would be no eager side."""
    module = torch.nn.Linear(2, 2)
    if made == "in place":
        module.compile()
    fn = {"function": torch.compile(_double), "module": torch.compile(module), "in place": module}
    with pytest.raises(CaseError, match="compiled already"):
        quick(fn[made], torch.ones(1, 2))


def test_an_argument_that_cannot_be_copied_is_refused() -> None:
    """The error says what to do instead."""
    with pytest.raises(CaseError, match="cannot be copied") as caught:
        quick(_first, torch.ones(1), (item for item in range(1)))
    assert "global" in caught.value.hint


def test_another_device_is_refused() -> None:
    """A tensor on a device that compdiff does not measure is named."""
    with pytest.raises(CaseError, match="a tensor is on meta"):
        quick(_double, torch.ones(1, device="meta"))


def _double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def _first(x: torch.Tensor, *_: object) -> torch.Tensor:
    return x.clone()


class _Holder:
    """An object with a module, whose method is measured."""

    def __init__(self) -> None:
        self.layer = torch.nn.Linear(2, 2)

    def method(self, x: torch.Tensor) -> torch.Tensor:
        """Call the module."""
        return self.layer(x)  # type: ignore[no-any-return]

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return self.method(x)


@pytest.mark.parametrize("kind", ["method", "object", "partial"])
def test_modules_are_found_wherever_the_function_holds_them(kind: str) -> None:
    """Behind a method, in an object that can be called, and in a partial."""
    holder = _Holder()
    fn: dict[str, Callable[..., object]] = {
        "method": holder.method,
        "object": holder,
        "partial": functools.partial(holder.method),
    }
    load = of_call(fn[kind], (torch.ones(1, 2),), {}, backward=True, tolerance=None)
    assert load.modules == (holder.layer,)


def test_names() -> None:
    """A function is called by its name, a lambda without brackets, a module by its class."""
    assert name_of(_double) == "_double"
    assert name_of(lambda x: x) == "lambda"
    assert name_of(functools.partial(_double)) == "_double"
    assert name_of(torch.nn.Linear(1, 1)) == "Linear"


def test_arguments_that_come_from_other_ops_become_leaves() -> None:
    """A backward pass stops at them."""
    made = torch.ones(2, requires_grad=True) * 2
    load = of_call(_double, (made,), {}, backward=True, tolerance=None)
    (copied,) = load.args
    assert isinstance(copied, torch.Tensor)
    assert copied.is_leaf
    assert copied.requires_grad


def test_tolerance_reaches_the_comparison() -> None:
    """A tolerance that nothing fulfils makes the sides differ only where they do."""
    run = measure_call(
        Call(fn=_double, args=(torch.ones(2),), tolerance=(0.5, 0.25)),
        options=CompileOptions(backend="aot_eager"),
        sampling=SamplingPlan(budget_ns=10_000_000),
        seed=0,
        progress=lambda _: None,
    )
    assert run.numerics is not None
    assert (run.numerics.rtol, run.numerics.atol) == (0.5, 0.25)
