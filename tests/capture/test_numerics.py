"""What the comparison says of two functions that stand for eager and compiled code."""

import math

import msgspec
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from compdiff.capture.case_settings import Tolerance
from compdiff.capture.numerics import LARGEST, compare, differences, in_float64
from compdiff.capture.workload import Workload
from compdiff.model import Numerics


def work(fn, *args, **settings):
    """Return a workload of `fn` on `args`."""
    return Workload(fn=fn, args=args, kwargs={}, **settings)


def values(*numbers, **settings):
    """Return a one-dimensional tensor."""
    return torch.tensor(numbers, **settings)


def test_equal_functions_agree():
    """Two sides that do the same have no difference and lie within the tolerance."""
    numerics = compare(work(torch.sin, torch.randn(8)), torch.sin)

    assert numerics.comparable
    assert numerics.within
    assert numerics.between.max_abs == 0.0
    assert numerics.left == numerics.right


def test_left_error_is_that_of_float32_rounding():
    """The reference is float64, so eager's own rounding is an error above zero and below 1e-6."""
    numerics = compare(work(torch.exp, torch.randn(64)), torch.exp)

    assert 0 < numerics.left.max_rel < 1e-6


def test_a_wrong_side_is_found():
    """A side that is off by one thousandth is out of tolerance, and its error is the larger one."""
    numerics = compare(work(torch.exp, torch.randn(64)), lambda x: torch.exp(x) * 1.001)

    assert numerics.within is False
    assert numerics.right.max_rel > 100 * numerics.left.max_rel


def test_as_near_to_the_reference_as_eager_is_near_enough():
    """A sum in another order passes where eager's own error is as large, and the note says so."""
    x = torch.randn(100_000, generator=torch.Generator().manual_seed(3)) * 1000
    eager = work(lambda x: x.flip(0).cumsum(0)[-1], x)
    numerics = compare(eager, lambda x: x.double().sum().float())

    assert numerics.between.max_abs > 0.01
    assert numerics.within
    assert "twice as far" in numerics.note


def test_the_cases_own_tolerance_is_the_only_rule():
    """With TOLERANCE set, a result nearer to the reference than eager still has to be within it."""
    tight = Tolerance(rtol=0.0, atol=0.0)
    numerics = compare(
        work(lambda x: x.exp(), torch.randn(64), tolerance=tight),
        lambda x: x.double().exp().float() * (1 + 1e-7),
    )

    assert numerics.within is False
    assert (numerics.rtol, numerics.atol) == (0.0, 0.0)


def test_random_outputs_are_not_compared():
    """Outputs that follow the seed are no ground for a comparison."""
    numerics = compare(work(lambda x: x + torch.rand_like(x), torch.zeros(8)), torch.sin)

    assert not numerics.comparable
    assert numerics.within is None
    assert "random seed" in numerics.note


def test_results_that_vary_from_call_to_call_are_compared_with_a_note():
    """A side that counts its calls is not random: it is compared, and the reader is told."""
    calls = []

    def counting(x):
        calls.append(0)
        return x + len(calls)

    numerics = compare(work(counting, torch.zeros(4)), lambda x: x + 1)

    assert numerics.comparable
    assert "from call to call" in numerics.note


def test_nan_and_infinity_on_both_sides_are_equal():
    """NaN at the same place and infinities of one sign differ by nothing."""
    odd = values(math.nan, math.inf, -math.inf, 1.0)
    numerics = compare(work(lambda x: x * 1, odd), lambda x: x * 1)

    assert numerics.within
    assert numerics.between.max_abs == 0.0


@pytest.mark.parametrize("odd", [math.nan, math.inf])
def test_nan_or_infinity_on_one_side_is_the_largest_difference(odd):
    """A value that only one side lost is out of tolerance, and the numbers survive JSON."""
    numerics = compare(work(lambda x: x + 1, torch.zeros(3)), lambda x: x + odd)

    assert numerics.within is False
    assert numerics.between.max_abs == LARGEST
    assert "one side only" in numerics.note
    assert msgspec.json.decode(msgspec.json.encode(numerics), type=Numerics) == numerics


def test_integers_must_be_equal():
    """An index that is off by one is out of tolerance, however large it is."""
    numerics = compare(work(lambda x: x, values(2**60)), lambda x: x + 1)

    assert numerics.within is False


def test_booleans_complex_numbers_and_empty_tensors_are_compared():
    """Every kind of tensor counts, and equal ones agree."""

    def fn(x):
        return {"bool": x > 0, "complex": torch.complex(x, -x).exp(), "empty": x[:0]}

    numerics = compare(work(fn, torch.randn(5)), fn)

    assert numerics.tensors == 3
    assert numerics.within


def test_a_view_of_an_input_is_compared_by_its_values():
    """An output that shares memory with an input is as good as a copy."""
    numerics = compare(work(lambda x: x.t(), torch.randn(2, 3)), lambda x: x.t().contiguous())

    assert numerics.within


def test_other_outputs_must_be_equal():
    """A number, a string or None among the outputs counts as well."""
    same = compare(
        work(lambda x: (x, 3, None, math.nan), torch.ones(1)), lambda x: (x, 3, None, math.nan)
    )
    other = compare(work(lambda x: (x, 3), torch.ones(1)), lambda x: (x, 4))

    assert same.within
    assert other.within is False


@pytest.mark.parametrize("other", [lambda x: x[:1], lambda x: (x, x), lambda x: x.double()])
def test_another_form_of_the_outputs_is_a_difference(other):
    """Other shapes, structures or dtypes are out of tolerance, with a note that says so."""
    numerics = compare(work(lambda x: x, torch.ones(2)), other)

    assert numerics.within is False
    assert "shapes or dtypes" in numerics.note


def test_a_missing_write_to_an_input_is_found():
    """An in-place op counts: a side that does not write to the input differs, though its output is equal."""

    def writes(x):
        x.add_(1)
        return x.sum() * 0

    numerics = compare(work(writes, torch.ones(3)), lambda x: x.sum() * 0)

    assert numerics.within is False
    assert numerics.tensors == 2


def test_inputs_that_nobody_writes_to_do_not_count():
    """Only what a call made or changed is compared."""
    assert compare(work(torch.sin, torch.ones(3)), torch.sin).tensors == 1


def test_gradients_are_compared():
    """A side whose backward is wrong is found, though its forward is right."""

    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 3

    x = torch.ones(3, requires_grad=True)
    right = compare(work(lambda x: x * 2, x, backward=True), lambda x: x * 2)
    wrong = compare(work(lambda x: x * 2, x, backward=True), Wrong.apply)

    assert (right.tensors, right.within) == (2, True)
    assert wrong.within is False


def test_a_missing_gradient_is_a_difference():
    """A side that gives one input no gradient has not the same form."""
    x, y = (torch.ones(2, requires_grad=True) for _ in range(2))
    numerics = compare(work(lambda x, y: x + y, x, y, backward=True), lambda x, y: x + y.detach())

    assert numerics.within is False


def test_buffers_start_alike_and_are_put_back():
    """Each side sees a module's state as it was, what it wrote is compared, and nothing of it stays."""
    norm = torch.nn.BatchNorm1d(4)
    workload = work(norm, torch.randn(8, 4), modules=(norm,))
    numerics = compare(
        workload, lambda x: torch.nn.functional.batch_norm(x, None, None, training=True)
    )

    assert norm.running_mean.tolist() == [0.0] * 4
    assert numerics.within is False
    assert compare(workload, norm).within


def test_without_float64_there_is_no_reference():
    """An op that float64 does not have leaves the errors against the reference out, not the rest."""

    def fn(x):
        if x.dtype == torch.float64:
            raise NotImplementedError("no kernel for Double\nsecond line")
        return x + 1

    numerics = compare(work(fn, torch.ones(2)), fn)

    assert numerics.left is None
    assert numerics.within
    assert numerics.note == "No float64 reference: NotImplementedError: no kernel for Double"


def test_a_module_reached_as_a_global_is_float64_in_the_reference():
    """Modules are converted where they stand, and are float32 again afterwards."""
    linear = torch.nn.Linear(3, 3)
    workload = work(lambda x: linear(x), torch.randn(2, 3), modules=(linear,))
    weight = linear.weight.detach().clone()
    with in_float64(workload) as precise:
        assert precise.fn(*precise.args).dtype == torch.float64

    assert linear.weight.dtype == torch.float32
    assert torch.equal(linear.weight, weight)
    assert compare(workload, workload.fn).left is not None


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=6), st.floats(0.125, 8))
def test_the_relative_difference_does_not_depend_on_the_unit(numbers, scale):
    """Scaling both sides scales the absolute difference and leaves the relative one."""
    a = torch.tensor(numbers, dtype=torch.float64)
    b = a + torch.linspace(0.5, 1.5, len(numbers), dtype=torch.float64)
    absolute, relative = differences(a, b)
    scaled_absolute, scaled_relative = differences(a * scale, b * scale)

    assert scaled_absolute == pytest.approx(absolute * scale, rel=1e-6)
    assert scaled_relative == pytest.approx(relative, rel=1e-6)
