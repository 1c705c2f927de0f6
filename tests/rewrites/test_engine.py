"""Fates and origins as the engine gives them."""

import msgspec

from compdiff.analysis import analyse
from compdiff.model import Run
from tests.builders import capture, compiler, kernel, op, run


def eager_twice() -> Run:
    """Return a run whose compiled side does as the eager one, with a library kernel for its op call."""
    left = capture(op_calls=(op(0, "aten::mm"),))
    right = capture(
        op_calls=(op(0, "aten::mm"),), kernels=(kernel(0, kind="library", op_call=0, graph=None),)
    )
    return msgspec.structs.replace(run(), left=left, right=right)


def test_a_kernel_has_the_origin_of_the_call_that_launched_it() -> None:
    """Outside Inductor's graphs nothing else says where a kernel came from."""
    diff = analyse(eager_twice())
    assert diff.origins["c0"].op_calls == ("e0",)
    assert diff.origins["k0"].op_calls == ("e0",)


def test_a_kernel_of_an_introduced_call_is_introduced() -> None:
    """The copy that an introduced call launches was asked for by nobody."""
    whole = eager_twice()
    copying = capture(
        op_calls=(op(0, "aten::mm"), op(1, "aten::clone", inputs=((8,),))),
        kernels=(kernel(0, kind="memcpy", op_call=1, graph=None),),
        compiler=compiler(()),
    )
    diff = analyse(msgspec.structs.replace(whole, right=copying))
    assert diff.origins["c1"].introduced
    assert diff.origins["k0"].introduced == "launched by c1, which was introduced"
