"""Tables of kernels and op calls."""

import pytest

from compdiff.model import Kernel
from compdiff.report.lookup import Lookup
from compdiff.report.tables import bar_width, make_kernel_tables, make_op_tables, name_text
from tests.report.examples import Example, geglu, training
from tests.variants import planned_golden


def test_every_kernel_has_a_row() -> None:
    """Right side first, each with its origin."""
    right, left = make_kernel_tables(Lookup(*training()))
    assert [row.id for row in right.rows] == ["k0", "k1", "k2"]
    assert [row.id for row in left.rows] == ["ek0", "ek1", "ek2", "ek3"]
    assert [row.origin for row in right.rows] == ["from op calls", "introduced", "from op calls"]


def test_shares_add_up() -> None:
    """The bars of one table are parts of one whole."""
    for table in make_kernel_tables(Lookup(*training())):
        assert sum(float(row.fraction) for row in table.rows) == pytest.approx(100, abs=0.5)


def test_no_kernels_no_table() -> None:
    """A side without kernels is left out, not shown empty."""
    (only,) = make_kernel_tables(Lookup(*geglu()))
    assert only.label == "compiled"


def test_every_op_call_has_a_row() -> None:
    """Both sides, in order, with what they became."""
    left, right = make_op_tables(Lookup(*geglu()))
    assert [row.id for row in left.rows] == [f"e{number}" for number in range(8)]
    assert [row.id for row in right.rows] == ["c0", "c1", "c2"]
    assert [ref.id for ref in left.rows[2].became] == ["k0"]


def test_a_plan_has_no_profiled_times() -> None:
    """Columns without a number in them are not shown."""
    lookup = Lookup(*Example(*planned_golden("mlp_geglu")))
    assert [table.timed for table in make_op_tables(lookup)] == [False, False]
    assert {table.times for table in make_kernel_tables(lookup)} == {"estimated"}


def test_a_bar_of_nothing_is_empty() -> None:
    """No division by zero."""
    assert bar_width(0, 0) == "0.0"


@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        ("volta_sgemm_128x64_tn", "library", "cuBLAS GEMM, sm70, f32, tile 128x64, tn"),
        ("Memcpy DtoD (Device -> Device)", "memcpy", "CUDA runtime copy on the device"),
        ("triton_poi_fused_add_0", "triton", ""),
        ("aten::mm", "library", ""),
    ],
)
def test_a_kernels_name_in_words(name: str, kind: str, text: str) -> None:
    """A library's kernel is told in words; a generated or unknown one is left with its name."""
    assert name_text(Kernel(id=0, name=name, kind=kind)) == text
