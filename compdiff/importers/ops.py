"""What an event of the host is. In: the event. Out: op call, composite op, frame of autograd, launcher of a kernel.

An op call is the outermost op that is not composite: what a backend was asked for. Composite ops stand in its chain, what it
calls in turn is its inner work. Whatever launches kernels itself is an op call too.
"""

import re
from functools import lru_cache
from importlib.resources import files

from compdiff.kernels import replays_a_graph
from compdiff.kineto import LAUNCH_CATEGORIES, Event

_OP = re.compile(r"[A-Za-z_]\w*(::\w+)+(\.\w+)?")
_NOT_OPS = ("torch::autograd::", "autograd::", "torch::jit::")
_GENERATED = re.compile(r"triton_(poi|per|red|tem|for|mix|fused|mm|bmm|convolution|flex|_|\d)\w*")
# On a CPU, with torch._inductor.config.cpp.enable_kernel_profile: the call is the kernel.
# Templates (attention, products) have no name yet when their code is written.
_FUNCTION = re.compile(r"(?:graph_\d+_)?(?P<name>cpp_\w+)|graph_\d+_kernel")
# Composite in the overload that models call; others of the name are not, and have no op inside.
_COMPOSITE_WITH_CHILDREN = frozenset(
    {
        "_convolution",
        "adaptive_avg_pool1d",
        "adaptive_avg_pool2d",
        "adaptive_avg_pool3d",
        "avg_pool1d",
        "linear",
        "log_softmax",
        "softmax",
        "split",
        "where",
    }
)
_BACKWARD = re.compile(
    r"(?:struct )?(?:autograd::engine::evaluate_function: )?(?:torch::autograd::)?(\w+Backward\w*|AccumulateGrad)"
)

_TIMED = " (dynamo_timed)"
_RECORDS_A_GRAPH = ("CUDAGraphNode.record", "cudagraphify")
_NAMES = 4096


@lru_cache(maxsize=1)
def composite_ops() -> frozenset[str]:
    """Return the names of ATen ops that are composite in every overload, without namespace."""
    text = files("compdiff.importers").joinpath("composite_ops.txt").read_text(encoding="utf-8")
    return frozenset(line for line in text.splitlines() if line and not line.startswith("#"))


def is_op(event: Event) -> bool:
    """Return whether an event of the host is an op of the dispatcher, composite or not."""
    return event.category == "cpu_op" and _named_as_op(event.name)


# A trace has few names and many events.
@lru_cache(maxsize=_NAMES)
def _named_as_op(name: str) -> bool:
    return _OP.fullmatch(name) is not None and not name.startswith(_NOT_OPS)


def writes_in_place(name: str) -> bool:
    """Return whether an op writes into its first argument, by its name: `aten::add_`, but not `aten::__and__`."""
    return name.endswith("_") and not name.endswith("__")


def is_op_call(event: Event) -> bool:
    """Return whether an event is what a backend was asked for, if no op call is around it."""
    if event.category != "cpu_op" or is_launcher(event):
        return False
    if is_op(event):
        return not is_composite(event)
    # A frame that launches something and calls ops as well, such as a compiled function, is a frame all the same.
    return _launches(event) and not any(is_op(inner) for inner in event.descendants())


def launches_beside_others(event: Event) -> bool:
    """Return whether a composite op or a frame launches something itself, beside what the ops that it calls launch."""
    calls_others = event.category == "cpu_op" and not is_launcher(event) and not is_op_call(event)
    return calls_others and _launches(event)


def _launches(event: Event) -> bool:
    """Return whether an event launches kernels itself, other than by replaying a graph."""
    return any(
        child.category in LAUNCH_CATEGORIES and not replays_a_graph(child.name)
        for child in event.children
    )


def is_composite(event: Event) -> bool:
    """Return whether an op only calls others."""
    namespace, _, name = event.name.rpartition("::")
    if namespace != "aten":
        return False
    if name in composite_ops():
        return True
    return name in _COMPOSITE_WITH_CHILDREN and any(is_op(child) for child in event.children)


def is_launcher(event: Event) -> bool:
    """Return whether an event is the host's call of a kernel that Inductor generated."""
    return event.category == "cpu_op" and _named_as_launcher(event.name)


@lru_cache(maxsize=_NAMES)
def _named_as_launcher(name: str) -> bool:
    return _GENERATED.fullmatch(name) is not None


def generated_function(event: Event) -> str:
    """Return the name of the C++ function of Inductor that an event is a call of, or ""."""
    return _function_in(event.name) if event.category == "cpu_op" else ""


@lru_cache(maxsize=_NAMES)
def _function_in(name: str) -> str:
    found = _FUNCTION.fullmatch(name)
    return (found["name"] or found[0]) if found else ""


def is_compile_phase(event: Event) -> bool:
    """Return whether an event is a phase of a compile: what runs inside is work of the compiler, not of the step.

    Source: torch/_dynamo/utils.py: dynamo_timed (2.14). Recording a CUDA graph is timed so too, and runs the step.
    """
    return event.name.endswith(_TIMED) and not event.name.startswith(_RECORDS_A_GRAPH)


def autograd_node(event: Event) -> str:
    """Return the name of the autograd node that an event runs, or ""."""
    return _node_in(event.name) if event.category in {"cpu_op", ""} else ""


@lru_cache(maxsize=_NAMES)
def _node_in(name: str) -> str:
    found = _BACKWARD.fullmatch(name)
    return found[1] if found else ""
