"""Inductor's generated wrapper. In: its source and the provenance of its kernels. Out: WrapperCall records in order.

Inductor writes `# [Provenance debug handles] name:N` before each call (provenance level 1), where N is the handle, unique
in a graph. Source: torch/_inductor/codegen/wrapper.py, torch/_inductor/debug.py (torch 2.13, 2.14).
"""

import re
from collections.abc import Mapping

from compdiff.model import WrapperCall

_HANDLE = re.compile(r"\[Provenance debug handles\] (?P<handles>\S.*)$", re.MULTILINE)
_KERNEL_SOURCE = re.compile(
    r"^(?P<name>\w+) = async_compile\.\w+\((?:'(?P<launched>\w+)')?[^\n]*?r?'''(?P<code>.*?)'''[^\n]*\)\n?",
    re.MULTILINE | re.DOTALL,
)
# Extern kernels of Inductor that call a dispatcher op of another name: torch/_inductor/select_algorithm.py, kernel/mm.py.
_EXTERN_OPS = {"bias_addmm": "addmm", "_mm_plus_mm": "mm", "mm_plus_mm": "mm"}
_GENERATED = (("triton_", "triton"), ("cpp_", "cpp"))


def wrapper_calls(
    source: str, kernels: Mapping[str, tuple[str, ...]]
) -> tuple[tuple[WrapperCall, ...], str]:
    """Return the wrapper's calls in order, and its source without the kernels' own sources.

    `kernels` maps `name:handle` to post-grad node names, in the order of code generation. The order of the handles in
    the source is that of the calls; where the source has none, the order of code generation stands.
    """
    sources = {
        match["name"]: (match["launched"] or match["name"], match["code"].strip("\n"))
        for match in _KERNEL_SOURCE.finditer(source)
    }
    calls = tuple(
        _call(index, handle, kernels[handle], sources)
        for index, handle in enumerate(call_handles(source, kernels))
    )
    return calls, _KERNEL_SOURCE.sub(_placeholder, source)


def call_handles(source: str, kernels: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Return the handles (`name:3`) of the wrapper's calls, in their order; `kernels` as in `wrapper_calls`."""
    handles = [
        name.strip() for match in _HANDLE.finditer(source) for name in match["handles"].split(",")
    ]
    written = [handle for handle in dict.fromkeys(handles) if handle in kernels]
    return written + [handle for handle in kernels if handle not in set(written)]


def call_kind(name: str) -> str:
    """Return the kind of a wrapper call by its name: `triton`, `cpp`, or `extern`."""
    return next((kind for prefix, kind in _GENERATED if name.startswith(prefix)), "extern")


def same_op(call: WrapperCall, op_name: str) -> bool:
    """Return whether an extern wrapper call is one of the op `op_name`."""
    if call.kind != "extern":
        return False
    parts = call.name.split(".")
    base = op_name.rpartition("::")[2]
    # Under a mode that sees only the outermost op, a plan's, the call goes by its own name.
    known = {*parts, *(_EXTERN_OPS.get(part, part) for part in parts)}
    return base in known or base.rstrip("_") in known


def _call(
    index: int, handle: str, nodes: tuple[str, ...], sources: dict[str, tuple[str, str]]
) -> WrapperCall:
    """Return a call under the name it is launched by: a kernel of the case has another one in the wrapper (`add_0`)."""
    variable = handle.rpartition(":")[0] or handle
    name, code = sources.get(variable, (variable, ""))
    kind = "triton" if name != variable else call_kind(name)
    return WrapperCall(index=index, name=name, kind=kind, nodes=nodes, code=code)


def _placeholder(match: re.Match[str]) -> str:
    lines = match["code"].count("\n")
    return f"# {match['name']}: {lines} lines, shown with its kernel\n"
