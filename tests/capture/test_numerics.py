"""Tests of compdiff.capture.numerics: plain functions stand for the compiled side."""

import math
from collections.abc import Callable

import msgspec
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from compdiff.capture.case_settings import Tolerance
from compdiff.capture.numerics import LARGEST, compare, differences, in_float64
from compdiff.capture.workload import Workload
from compdiff.model import Numerics, OutputError


def work(
    fn: Callable[..., object],
    *args: object,
    backward: bool = False,
    tolerance: Tolerance | None = None,
    modules: tuple[torch.nn.Module, ...] = (),
) -> Workload:
    """Return a workload of `fn` on `args`."""
    return Workload(
        fn=fn, args=args, kwargs={}, backward=backward, tolerance=tolerance, modules=modules
    )


def identity(x: torch.Tensor) -> torch.Tensor:
    """Return a new tensor with the same values."""
    return x.clone()


def errors(numerics: Numerics) -> tuple[OutputError, OutputError, OutputError]:
    """Return all three errors, which must be there."""
    assert numerics.left is not None
    assert numerics.right is not None
    assert numerics.between is not None
    return numerics.left, numerics.right, numerics.between


def test_equal_functions_agree() -> None:
    """Two sides that do the same have no difference and lie within the tolerance."""
    numerics = compare(work(torch.sin, torch.randn(8)), torch.sin)

    assert numerics.comparable
    assert numerics.within
    left, right, between = errors(numerics)
    assert between.max_abs == 0.0
    assert left == right


def test_left_error_is_that_of_float32_rounding() -> None:
    """The reference is float64, so eager's own rounding is an error above zero and below 1e-6."""
    numerics = compare(work(torch.exp, torch.randn(64)), torch.exp)

    assert 0 < errors(numerics)[0].max_rel < 1e-6


def test_a_wrong_side_is_found() -> None:
    """A side that is off by one thousandth is out of tolerance, and its error is the larger one."""
    numerics = compare(work(torch.exp, torch.randn(64)), lambda x: torch.exp(x) * 1.001)

    assert numerics.within is False
    left, right, _ = errors(numerics)
    assert right.max_rel > 100 * left.max_rel


def test_as_near_to_the_reference_as_eager_is_near_enough() -> None:
    """A result as far from float64 as eager's, on the other side, passes with a note."""

    def rounded(share: float) -> Callable[[torch.Tensor], torch.Tensor]:
        return lambda x: x if x.dtype == torch.float64 else x * (1 + share)

    numerics = compare(work(rounded(1e-4), torch.ones(4)), rounded(-1e-4))
    too_far = compare(work(rounded(1e-4), torch.ones(4)), rounded(-3e-4))

    assert numerics.within
    assert "twice as far" in numerics.note
    assert too_far.within is False


def test_the_cases_own_tolerance_is_the_only_rule() -> None:
    """With TOLERANCE set, a result nearer to the reference than eager still has to be within it."""
    tight = Tolerance(rtol=0.0, atol=0.0)
    numerics = compare(
        work(lambda x: x.exp(), torch.randn(64), tolerance=tight),
        lambda x: x.double().exp().float() * (1 + 1e-7),
    )

    assert numerics.within is False
    assert (numerics.rtol, numerics.atol) == (0.0, 0.0)


def test_random_outputs_are_not_compared() -> None:
    """Outputs that follow the seed are no ground for a comparison."""
    numerics = compare(work(lambda x: x + torch.rand_like(x), torch.zeros(8)), torch.sin)

    assert not numerics.comparable
    assert numerics.within is None
    assert "random seed" in numerics.note


def test_results_that_vary_from_call_to_call_are_compared_with_a_note() -> None:
    """A side that counts its calls is not random: it is compared, and the reader is told."""
    calls: list[int] = []

    def counting(x: torch.Tensor) -> torch.Tensor:
        calls.append(0)
        return x + len(calls)

    numerics = compare(work(counting, torch.zeros(4)), lambda x: x + 1)

    assert numerics.comparable
    assert "from call to call" in numerics.note


def test_nan_and_infinity_on_both_sides_are_equal() -> None:
    """NaN at the same place and infinities of one sign differ by nothing."""
    odd = torch.tensor([math.nan, math.inf, -math.inf, 1.0])
    numerics = compare(work(identity, odd), identity)

    assert numerics.within
    assert errors(numerics)[2].max_abs == 0.0


@pytest.mark.parametrize("odd", [math.nan, math.inf])
def test_nan_or_infinity_on_one_side_is_the_largest_difference(odd: float) -> None:
    """A value that only one side lost is out of tolerance, and the numbers survive JSON."""
    numerics = compare(work(lambda x: x + 1, torch.zeros(3)), lambda x: x + odd)

    assert numerics.within is False
    assert errors(numerics)[2].max_abs == LARGEST
    assert "one side only" in numerics.note
    assert msgspec.json.decode(msgspec.json.encode(numerics), type=Numerics) == numerics


def test_integers_must_be_equal() -> None:
    """An index that is off by one is out of tolerance, however large it is."""
    numerics = compare(work(identity, torch.tensor([2**60])), lambda x: x + 1)

    assert numerics.within is False


def test_booleans_complex_numbers_and_empty_tensors_are_compared() -> None:
    """Every kind of tensor counts, and equal ones agree."""

    def fn(x: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"bool": x > 0, "complex": torch.complex(x, -x).exp(), "empty": x[:0]}

    numerics = compare(work(fn, torch.randn(5)), fn)

    assert numerics.tensors == 3
    assert numerics.within


def test_a_view_of_an_input_is_compared_by_its_values() -> None:
    """An output that shares memory with an input is as good as a copy."""
    numerics = compare(work(lambda x: x.t(), torch.randn(2, 3)), lambda x: x.t().contiguous())

    assert numerics.within


def test_other_outputs_must_be_equal() -> None:
    """A number, a string or None among the outputs counts as well."""
    same = compare(
        work(lambda x: (x, 3, None, math.nan), torch.ones(1)), lambda x: (x, 3, None, math.nan)
    )
    other = compare(work(lambda x: (x, 3), torch.ones(1)), lambda x: (x, 4))

    assert same.within
    assert other.within is False


@pytest.mark.parametrize("other", [lambda x: x[:1], lambda x: (x, x), lambda x: x.double()])
def test_another_form_of_the_outputs_is_a_difference(
    other: Callable[..., object],
) -> None:
    """Other shapes, structures or dtypes are out of tolerance, with a note that says so."""
    numerics = compare(work(lambda x: x, torch.ones(2)), other)

    assert numerics.within is False
    assert "shapes or dtypes" in numerics.note


def test_a_missing_write_to_an_input_is_found() -> None:
    """A side that does not write to the input differs, though its output is equal."""

    def writes(x: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        return x.sum() * 0

    numerics = compare(work(writes, torch.ones(3)), lambda x: x.sum() * 0)

    assert numerics.within is False
    assert numerics.tensors == 2


def test_inputs_that_nobody_writes_to_do_not_count() -> None:
    """Only what a call made or changed is compared."""
    assert compare(work(torch.sin, torch.ones(3)), torch.sin).tensors == 1


def test_gradients_are_compared() -> None:
    """A side whose backward is wrong is found, though its forward is right."""

    def wrong(x: torch.Tensor) -> torch.Tensor:
        return x * 3 - x.detach()  # the value of x * 2, the gradient of x * 3

    x = torch.ones(3, requires_grad=True)
    workload = work(lambda x: x * 2, x, backward=True)
    same = compare(workload, lambda x: x + x)

    assert (same.tensors, same.within) == (2, True)
    assert compare(workload, wrong).within is False


def test_a_missing_gradient_is_a_difference() -> None:
    """A side that gives one input no gradient has not the same form."""
    x, y = (torch.ones(2, requires_grad=True) for _ in range(2))
    numerics = compare(work(lambda x, y: x + y, x, y, backward=True), lambda x, y: x + y.detach())

    assert numerics.within is False


def test_buffers_start_alike_and_are_put_back() -> None:
    """Each side sees a module's state as it was; what it wrote is compared and then undone."""
    norm = torch.nn.BatchNorm1d(4)
    state = norm.state_dict()["running_mean"]
    workload = work(norm, torch.randn(8, 4), modules=(norm,))
    numerics = compare(
        workload, lambda x: torch.nn.functional.batch_norm(x, None, None, training=True)
    )

    assert state.tolist() == [0.0] * 4
    assert numerics.within is False
    assert compare(workload, norm).within


def test_without_float64_there_is_no_reference() -> None:
    """Where float64 lacks an op, the errors against the reference are missing, not the rest."""

    def fn(x: torch.Tensor) -> torch.Tensor:
        if x.dtype == torch.float64:
            raise NotImplementedError("no kernel for Double\nsecond line")
        return x + 1

    numerics = compare(work(fn, torch.ones(2)), fn)

    assert numerics.left is None
    assert numerics.within
    assert numerics.note == "No float64 reference: NotImplementedError: no kernel for Double"


def test_a_module_reached_as_a_global_is_float64_in_the_reference() -> None:
    """Modules are converted where they stand, and are float32 again afterwards."""
    linear = torch.nn.Linear(3, 3)
    workload = work(lambda x: torch.relu(linear(x)), torch.randn(2, 3), modules=(linear,))
    weight = linear.weight.detach().clone()
    with in_float64(workload) as precise:
        output = precise.fn(*precise.args)
        assert isinstance(output, torch.Tensor)
        assert output.dtype == torch.float64

    assert linear.weight.dtype == torch.float32
    assert torch.equal(linear.weight, weight)
    assert compare(workload, workload.fn).left is not None


def test_a_difference_from_zeros_has_the_largest_ratio() -> None:
    """Whatever its size: there is nothing to compare it with."""
    zeros = torch.zeros(2, dtype=torch.float64)
    assert differences(zeros + 0.5, zeros) == (0.5, LARGEST)
    assert differences(zeros, zeros) == (0.0, 0.0)


@example(numbers=[-0.5], scale=0.5)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=6), st.floats(0.125, 8))
def test_the_relative_difference_does_not_depend_on_the_unit(
    numbers: list[float], scale: float
) -> None:
    """Scaling both sides scales the absolute difference and leaves the relative one."""
    a = torch.tensor(numbers, dtype=torch.float64)
    b = a + torch.linspace(0.5, 1.5, len(numbers), dtype=torch.float64)
    absolute, relative = differences(a, b)
    scaled_absolute, scaled_relative = differences(a * scale, b * scale)

    assert scaled_absolute == pytest.approx(absolute * scale, rel=1e-6)
    assert scaled_relative == pytest.approx(relative, rel=1e-6)


def test_strict_takes_no_account_of_the_reference() -> None:
    """A side that is nearer to float64 than eager mode differs nevertheless."""
    x = torch.rand(64, dtype=torch.bfloat16)

    def rounded(x: torch.Tensor) -> torch.Tensor:
        return (x + 100) - 100

    def exact(x: torch.Tensor) -> torch.Tensor:
        return x.clone()

    assert compare(work(rounded, x), exact).within
    assert not compare(work(rounded, x), exact, strict=True).within


def test_strict_compares_what_is_drawn() -> None:
    """With one seed both sides may draw the same numbers, or others."""
    x = torch.ones(64)

    def drawn(x: torch.Tensor) -> torch.Tensor:
        return x * torch.rand(64)

    def later(x: torch.Tensor) -> torch.Tensor:
        torch.rand(1)
        return x * torch.rand(64)

    assert compare(work(drawn, x), drawn, strict=True).within
    assert compare(work(drawn, x), later, strict=True).within is False
