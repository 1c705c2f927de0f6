"""How many bytes a generated kernel moves. In: a kernel of Inductor as it is written. Out: bytes read, bytes written.

By the index of each load and store: of a tensor that is sliced, only the part that is loaded counts, and no tensor counts
more than once as a whole. What a kernel stores and loads again itself stays in registers. Private names of torch; sources
(torch 2.14) as named.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple


class Traffic(NamedTuple):
    """The bytes that one launch of a kernel reads and writes; `written` is None where only the sum is known, in `read`."""

    read: int
    written: int | None = None


def traffic_of(kernel: Any) -> Traffic:
    """Return what a Triton kernel moves; call it while its graph is lowered.

    Source: SIMDKernel.estimate_kernel_num_bytes, torch/_inductor/codegen/simd.py; ComboKernel, triton_combo_kernel.py.
    """
    parts = getattr(kernel, "sub_kernels", None)
    if parts is not None:
        moved = [_by_index(part) for part in parts]
        return Traffic(sum(it.read for it in moved), sum(it.written or 0 for it in moved))
    if hasattr(kernel, "template_mask") or not hasattr(kernel, "features"):
        return Traffic(int(kernel.estimate_kernel_num_bytes()))
    return _by_index(kernel)


def _by_index(kernel: Any) -> Traffic:
    read, written = _arguments(kernel.args)
    nodes = kernel.features.scheduler_nodes()
    return Traffic(
        _bytes(read, (dep for node in nodes for dep in node.read_writes.reads)),
        _bytes(written, (dep for node in nodes for dep in node.read_writes.writes)),
    )


def _arguments(args: Any) -> tuple[set[str], set[str]]:
    """Return the names of the tensors that come from outside, and of those that go there.

    A tensor written in place has several names: the last one is what it is afterwards.
    """
    in_place = [it for it in args.inplace_buffers.values() if hasattr(it, "other_names")]
    read = set(args.input_buffers) | {name for it in in_place for name in it.other_names}
    written = {name for name, value in args.output_buffers.items() if isinstance(value, str)}
    made = {it.other_names[-1] for it in in_place if len(it.other_names) > 1}
    return read - made, written | {it.other_names[-1] for it in in_place}


def _bytes(names: set[str], deps: Iterable[Any]) -> int:
    from torch._inductor.dependencies import MemoryDep
    from torch._inductor.utils import get_dtype_size
    from torch._inductor.virtualized import V

    by_index: dict[str, dict[Any, int]] = defaultdict(dict)
    for dep in deps:
        if dep.name in names:
            index = dep.index if isinstance(dep, MemoryDep) else dep
            by_index[dep.name][index] = _elements(dep)
    return sum(
        min(_hint(V.graph.get_numel(name)), sum(elements.values()))
        * int(get_dtype_size(V.graph.get_dtype(name)))
        for name, elements in by_index.items()
    )


def _elements(dep: Any) -> int:
    """Return how many elements a load or store touches at most: all of them where its index is not known."""
    from torch._inductor.dependencies import MemoryDep
    from torch._inductor.virtualized import V

    if not isinstance(dep, MemoryDep):
        return _hint(V.graph.get_numel(dep.name))
    known = not dep.is_indirect()
    count = 1
    for name, size in zip(dep.var_names, dep.size, strict=True):
        # A dimension that the index does not name loads the same element again.
        count *= _hint(size) if not known or name in dep.index.free_symbols else 1
    return count


def _hint(size: Any) -> int:
    from torch._inductor.virtualized import V

    sizes: Any = V.graph.sizevars
    hint = getattr(sizes, "optimization_hint", None) or sizes.size_hint
    return int(hint(size))
