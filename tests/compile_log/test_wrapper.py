"""Tests of compdiff.compile_log.wrapper."""

import pytest

from compdiff.compile_log.wrapper import same_op, wrapper_calls
from compdiff.model import WrapperCall

_SOURCE = """\
cpp_fused_add_0 = async_compile.cpp_pybinding(['const float*', 'float*'], r'''
#include <x.h>
void kernel() {}
''')


triton_poi_fused_mul_1 = async_compile.triton('triton_poi_fused_mul_1', '''
import triton
''', device_str='cuda')

def call(args):
    # [Provenance debug handles] extern_kernels.mm:2
    extern_kernels.mm(a, b, out=c)
    # [Provenance debug handles] cpp_fused_add_0:1
    cpp_fused_add_0(c, d)
    # [Provenance debug handles] triton_poi_fused_mul_1:3
    triton_poi_fused_mul_1.run(d)
"""
_KERNELS = {
    "cpp_fused_add_0:1": ("add",),
    "extern_kernels.mm:2": ("mm",),
    "triton_poi_fused_mul_1:3": ("mul",),
}


def test_calls_stand_in_the_order_of_the_source() -> None:
    """The order of the handles in the code is the order of the calls, not that of code generation."""
    calls, _ = wrapper_calls(_SOURCE, _KERNELS)
    assert [(call.index, call.name, call.kind, call.nodes) for call in calls] == [
        (0, "extern_kernels.mm", "extern", ("mm",)),
        (1, "cpp_fused_add_0", "cpp", ("add",)),
        (2, "triton_poi_fused_mul_1", "triton", ("mul",)),
    ]


def test_kernel_sources_go_to_their_calls() -> None:
    """A generated kernel's source stands with its call and no longer in the wrapper."""
    calls, code = wrapper_calls(_SOURCE, _KERNELS)
    assert [call.code for call in calls] == [
        "",
        "#include <x.h>\nvoid kernel() {}",
        "import triton",
    ]
    assert "#include" not in code
    assert "extern_kernels.mm(a, b, out=c)" in code


def test_without_handles_the_order_of_code_generation_stands() -> None:
    """A wrapper without handle comments still gives its calls."""
    calls, _ = wrapper_calls("def call(args): pass", _KERNELS)
    assert [call.name for call in calls] == [
        "cpp_fused_add_0",
        "extern_kernels.mm",
        "triton_poi_fused_mul_1",
    ]


def test_one_kernel_called_twice_is_two_calls() -> None:
    """Two handles of one kernel name are two calls, each with its own nodes."""
    source = "# [Provenance debug handles] k:1\n# [Provenance debug handles] k:10\n"
    calls, _ = wrapper_calls(source, {"k:1": ("a",), "k:10": ("b",)})
    assert [(call.name, call.nodes) for call in calls] == [("k", ("a",)), ("k", ("b",))]


def test_a_kernel_of_the_case_is_called_as_it_is_launched() -> None:
    """In the wrapper it is a numbered variable; a trace and a plan know the function's name."""
    source = "add_0 = async_compile.triton('add', '''\nimport triton\n''', device_str='cuda')\n"
    calls, code = wrapper_calls(source, {"add_0:1": ("triton_kernel_wrapper_mutation",)})
    assert [(call.name, call.kind, call.code) for call in calls] == [
        ("add", "triton", "import triton")
    ]
    assert code == "# add_0: 2 lines, shown with its kernel\n"


@pytest.mark.parametrize(
    ("call", "op_name", "same"),
    [
        ("extern_kernels.mm", "aten::mm", True),
        ("extern_kernels.bias_addmm", "aten::addmm", True),
        ("extern_kernels._mm_plus_mm", "aten::mm", True),
        ("extern_kernels._mm_plus_mm", "inductor::_mm_plus_mm", True),
        ("extern_kernels.mm", "aten::bmm", False),
        ("torch.ops.aten.sort.default", "aten::sort", True),
    ],
)
def test_a_wrapper_call_is_found_by_its_op(call: str, op_name: str, *, same: bool) -> None:
    """Whoever watches may see the op that a helper of Inductor calls, or the helper's own op."""
    assert same_op(WrapperCall(index=0, name=call, kind="extern"), op_name) == same
