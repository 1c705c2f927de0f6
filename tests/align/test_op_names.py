"""The tables of names: spelled as torch spells them, and without rows that can never be reached."""

import pytest

from compdiff.align.op_names import (
    AUTOGRAD_NODES,
    COMPOSITES,
    FALLBACKS,
    FOLDED_INTO,
    LIBRARY_CALLS,
    SAME_OP,
    SPLIT_PRODUCTS,
    TAKEN_APART,
    LibraryCall,
    composite_of,
    traced_name,
)
from compdiff.kernels import read_kernel_name
from compdiff.kernels.aten_names import MULTI_WORD

# What the tables say that a kernel can be named after.
IN_KERNELS = sorted(
    {
        *(name for name in SAME_OP if name.startswith("_native_batch_norm")),
        *(name for both in COMPOSITES.values() for name in both),
        *AUTOGRAD_NODES.values(),
        *TAKEN_APART.values(),
    }
)


@pytest.mark.parametrize("name", IN_KERNELS)
def test_names_are_read_from_kernels(name: str) -> None:
    """A kernel named after such an op and others is read as such."""
    assert name in read_kernel_name(f"triton_poi_fused_{name}_mul_0").fused
    assert name in MULTI_WORD


@pytest.mark.parametrize("name", sorted(SAME_OP))
def test_one_name_stands_for_all(name: str) -> None:
    """The name that others are read as is read as itself."""
    assert traced_name(f"aten::{name}") == SAME_OP[name] == traced_name(f"aten::{SAME_OP[name]}")


@pytest.mark.parametrize("row", LIBRARY_CALLS, ids=lambda row: f"{row.name}:{'+'.join(row.needs)}")
def test_a_library_call_needs_ops_as_they_are_traced(row: LibraryCall) -> None:
    """Names of another backend would never be met; nor would an op that is both needed and let pass."""
    assert row.needs
    assert all(SAME_OP.get(op, op) == op for op in (*row.needs, *row.between, *row.after))
    assert row.needs[0] not in row.between
    assert "::" in row.name


@pytest.mark.parametrize("name", [*FOLDED_INTO, *(op for ops in FALLBACKS.values() for op in ops)])
def test_parts_are_named_as_traced(name: str) -> None:
    """The same of ops that run in parts, or fold into others."""
    assert SAME_OP.get(name, name) == name


def test_split_products_are_rows_too() -> None:
    """The product that is called and the op that is split stand in the table of library calls."""
    rows = {(row.needs[0], row.name) for row in LIBRARY_CALLS}
    assert rows >= SPLIT_PRODUCTS


def test_composite_ops_are_found_in_the_chain() -> None:
    """The first that the compiler traces as one op."""
    assert composite_of(("aten::dropout",)) == "dropout"
    assert composite_of(("aten::linear",)) == composite_of(()) == ""
