"""Tests of compdiff.kernels: the tables, real names, and names that nobody should write."""

import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compdiff.kernels import KernelName, read_kernel_name
from compdiff.kernels.read import DETAILS, ROWS, first_row, parse
from compdiff.kernels.table import Row
from tests.kernels.expected import EXPECTED
from tests.kernels.names import real_names, traces

WORDS = (
    "at::native::", "_ZN", "I", "E", "S_", "<", ">", "(", ")", "::", "float", ", ", "{lambda(", "_", "1x", "gemm",
    "{", "#1}", " ", "void ", "operator()", "->", "'lambda'(", "triton_poi_fused_", "cutlass::Kernel2<",
)  # fmt: skip
FAR_TOO_LONG = 100_000
HOSTILE = {
    "one letter": "a" * FAR_TOO_LONG,
    "open templates": "a<" * (FAR_TOO_LONG // 2),
    "templates that parentheses close": "a<" * (FAR_TOO_LONG // 4) + ")" * (FAR_TOO_LONG // 2),
    "namespaces": "a::" * (FAR_TOO_LONG // 3) + "!",
    "spaces": "a " * (FAR_TOO_LONG // 2),
    "commas": "f<" + "," * FAR_TOO_LONG + ">",
    "tokens": "ampere_sgemm_" + "1x" * (FAR_TOO_LONG // 2),
    "ops": "triton_poi_fused_" + "add_" * (FAR_TOO_LONG // 4),
    "specialised arguments": "f_0d1" + "d1" * (FAR_TOO_LONG // 2) + "!",
    "tensile": "Cijk_Ailk_Bljk_" + "B" * FAR_TOO_LONG,
    "functors": "void at::native::vectorized_elementwise_kernel<4, "
    + "at::native::BinaryFunctor<float, " * (FAR_TOO_LONG // 33),
    "mangled names": "_ZN" + "1a" * (FAR_TOO_LONG // 2),
    "mangled templates": "_ZN1aI" * (FAR_TOO_LONG // 6),
    "mangled pointers": "_Z1aI" + "P" * FAR_TOO_LONG,
    "mangled references": "_Z1aI" + "S_" * (FAR_TOO_LONG // 2),
    "a mangled length": "_Z" + "9" * FAR_TOO_LONG,
}


def _parts(name: KernelName) -> KernelName:
    return replace(name, meaning="", function="")


def _the_name(start: str) -> str:
    """Return the real name that is `start`, else the only ones that begin with it, of which any will do."""
    names = [name for name in real_names() if name.startswith(start)]
    return start if start in names else names[0]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.pattern[:60])
def test_each_row_reads_its_example(row: Row) -> None:
    """A row's example is read by that row and by none before it, whose reader exists."""
    assert first_row(parse(row.example)) is row
    assert row.detail in {*DETAILS, ""}
    assert read_kernel_name(row.example).computes not in {"", "unknown"}


@pytest.mark.parametrize(("start", "expected"), EXPECTED, ids=[start[:60] for start, _ in EXPECTED])
def test_real_names_say_what_they_should(start: str, expected: KernelName) -> None:
    """The parts of a real name are those checked by eye."""
    assert _parts(read_kernel_name(_the_name(start))) == expected


def test_real_names_are_known() -> None:
    """At least 95 % of the names, and of the launches, in public traces are read by some row."""
    counts = [(name, count) for names in traces().values() for name, count in names.items()]
    known = [(name, count) for name, count in counts if read_kernel_name(name).known]
    assert len({name for name, _ in known}) >= 0.95 * len(real_names())
    assert sum(count for _, count in known) >= 0.95 * sum(count for _, count in counts)


def test_real_names_have_a_meaning() -> None:
    """No name of the public traces falls to a row that knows the library only."""
    assert [name for name in real_names() if read_kernel_name(name).computes == "other"] == []


def test_no_part_is_left_out_of_every_name() -> None:
    """Every field of the record is filled by some real name."""
    read = [read_kernel_name(name) for name in real_names()]
    empty = [part for part in KernelName.__slots__ if not any(getattr(one, part) for one in read)]
    assert empty == []


@pytest.mark.parametrize(
    "name", ["Kernel", "add_kernel", "_Z9vecAddGPUPfS_S_i", "", " ", "gemm_kernel", "copy_kernel"]
)
def test_names_of_nobody_are_unknown(name: str) -> None:
    """A name that no scheme explains is unknown, though a word in it may sound familiar."""
    assert read_kernel_name(name).family == "unknown"
    assert read_kernel_name(name).text() == ""


def test_text_for_a_reader() -> None:
    """A kernel in words names the library, what it computes and the details."""
    name = "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_nn_align8>(Params)"
    text = "CUTLASS GEMM, sm80, bf16 f32, tile 256x128x32, 3 stages, nn, with relu"
    assert read_kernel_name(name).text() == text


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_long_names_take_little_time(name: str) -> None:
    """A name of 100 kB is read in a time that does not explode."""
    start = time.perf_counter()
    read_kernel_name(name)
    assert time.perf_counter() - start < 5


@given(st.one_of(st.text(), st.lists(st.sampled_from(WORDS), max_size=60).map("".join)))
def test_any_text_has_an_answer(name: str) -> None:
    """Reading never fails, and reads the same text the same way."""
    assert read_kernel_name(name) == read_kernel_name.__wrapped__(name)


@given(st.data())
def test_mutated_names_have_an_answer(data: st.DataObject) -> None:
    """A real name with a part cut out or put in twice is read without failing."""
    name = data.draw(st.sampled_from(real_names()))
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(name))] * 2)))
    for changed in (name[:start] + name[end:], name[:end] + name[start:], name[start:end]):
        assert read_kernel_name(changed).text() is not None
