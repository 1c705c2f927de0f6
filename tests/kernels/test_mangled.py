"""Tests of compdiff.kernels.mangled."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compdiff.kernels.cpp import CppName, read_cpp
from compdiff.kernels.mangled import demangle
from tests.kernels.names import mangled_pairs


def _same_spacing(name: CppName) -> tuple[str, list[str]]:
    return name.path, [argument.replace(" >", ">") for argument in name.arguments]


def test_real_names_as_binutils_reads_them() -> None:
    """Path and template arguments of mangled kernels are those that c++filt prints."""
    different = [
        mangled
        for mangled, printed in mangled_pairs().items()
        if _same_spacing(read_cpp(demangle(mangled))) != _same_spacing(read_cpp(printed))
    ]
    assert len(mangled_pairs()) > 200
    assert different == []


@pytest.mark.parametrize(
    ("mangled", "printed"),
    [
        ("_Z9vecAddGPUPfS_S_i", "vecAddGPU"),
        ("_ZN1a1bIiLi4ELb1ELm8EEEvv", "a::b<int, 4, true, 8ul>"),
        ("_ZN12_GLOBAL__N_11fE", "(anonymous namespace)::f"),
        ("_Z1fIPKfRN1n1sEEvv", "f<float const*, n::s&>"),
        ("_Z1fIN1n1tEN1n1uIS1_EEEvv", "f<n::t, n::u<n::t>>"),
        ("_Z1fIZ1gvEUlfE_EvT_", "f<g()::{lambda(float)#1}>"),
        ("_Z1fIFviEEvv", "f<void (int)>"),
        ("_Z1fIPFviEEvv", "f<void (*)(int)>"),
        ("_Z1fIJifEEvv", "f<int, float>"),
        ("plain", ""),
    ],
)
def test_small_names(mangled: str, printed: str) -> None:
    """Each construct of the ABI that kernels use is read."""
    assert demangle(mangled) == printed


@pytest.mark.parametrize(
    ("mangled", "begin"),
    [
        ("_ZN2at6native1fIXsrT_E", "at::native::f"),
        ("_ZN2at6native", "at::native"),
        ("_Z5hello!", "hello"),
        ("_Z99x", ""),
    ],
)
def test_what_cannot_be_read_gives_its_beginning(mangled: str, begin: str) -> None:
    """A name with an expression, or cut off, gives the plain names that it begins with."""
    assert demangle(mangled) == begin


def test_types_that_double_do_not_fill_the_memory() -> None:
    """A short name whose types each hold the one before it twice is given up."""
    steps = "".join(f"1BIS{index:X}_S{index:X}_E" for index in range(15))
    assert len(demangle(f"_Z1fI1AI{steps}")) < 5_000_000


@given(st.text(alphabet="NIEJLSTZK_0123456789abcPRXDFvifU"))
def test_any_text_has_an_answer(text: str) -> None:
    """Nothing that looks mangled makes the reader fail."""
    assert isinstance(demangle(f"_Z{text}"), str)
