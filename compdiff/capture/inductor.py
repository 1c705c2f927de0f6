"""All of torch's private names. In: a compile that runs under `recorded()`. Out: what the compiler said about it.

Each patch is one context manager that puts back what it found. A private name that this torch does not have costs the
fact that it would have given, and a warning; it never stops a run. Sources: torch 2.13 and 2.14, files as named.
"""

import contextlib
import copy
import logging
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any
from unittest import mock

import torch
from torch.fx import GraphModule, Node

from compdiff.capture.attributor import Attributor
from compdiff.capture.fusion_log import fusion_log
from compdiff.capture.graphs import dynamo_names, graph_record, node_record
from compdiff.capture.pass_log import OpenPass, merged_duplicates, pattern_identity
from compdiff.capture.pre_grad_log import pre_grad_changes
from compdiff.capture.recorder import Lowering, Recorder
from compdiff.model import CaptureWarning, CompileOptions, PassEvent

_ACCUMULATE_GRAD = 2**64 - 1  # AccumulateGrad's sequence number: it belongs to no forward call


def next_sequence_number() -> int:
    """Return the number that the next autograd function made on this thread will get; -1 where torch does not tell."""
    get = getattr(torch._C._autograd, "_get_sequence_nr", None)
    return -1 if get is None else int(get())


def running_autograd_node() -> tuple[str, int] | None:
    """Return (name, sequence number) of the autograd function that runs now, -1 for AccumulateGrad, or None."""
    current = getattr(torch._C, "_current_autograd_node", None)
    node = None if current is None else current()
    if node is None:
        return None
    number = node._sequence_nr()
    return node.name(), -1 if number == _ACCUMULATE_GRAD else int(number)


def calling_frame() -> FrameType | None:
    """Return the Python frame that called the caller."""
    return sys._getframe(2)


def compile_id() -> str:
    """Return Dynamo's id of the compilation that runs now (`0/0`, without the attempt), or ""."""
    current = torch._guards.CompileContext.current_compile_id()
    return "" if current is None else str(current)


def mode_options(mode: str) -> dict[str, Any]:
    """Return the options of Inductor that a mode of torch.compile stands for."""
    return dict(torch._inductor.list_mode_options(mode))


def option_value(name: str, options: CompileOptions) -> object:
    """Return the value that an option of Inductor has under what torch.compile is given.

    Raises:
        KeyError: this torch has no such option.
    """
    import torch._inductor.config as inductor_config

    there = inductor_config.get_config_copy()
    of_mode = mode_options(options.mode) if options.mode else {}
    given = {key.replace("-", "_"): value for key, value in {**of_mode, **options.options}.items()}
    default = there[name]
    return given.get(name, default)


def is_compiled(fn: object) -> bool:
    """Return whether torch.compile made `fn`, or compiled the module in place."""
    if getattr(fn, "_torchdynamo_disable", False):  # it is wrapped so that it is never compiled
        return False
    marks = ("_torchdynamo_orig_callable", "_compiled_call_impl")
    return any(getattr(fn, mark, None) is not None for mark in marks)


# ---------------------------------------------------------------- the patches


@contextlib.contextmanager
def recorded(
    recorder: Recorder, *, use_cache: bool, options: Mapping[str, object]
) -> Iterator[None]:
    """Record every compilation inside the block; all that is patched or set is put back at its end.

    `options` are torch.compile's: they are set as Inductor's configuration too, since some (`freezing`) must be set
    before Dynamo traces, when torch.compile itself has not applied them yet.
    """
    with contextlib.ExitStack() as stack:
        for patch in PATCHES:
            _apply(patch, recorder, stack)
        stack.enter_context(configured(use_cache=use_cache, options=options))
        yield


def _apply(
    patch: Callable[[Recorder], contextlib.AbstractContextManager[None]],
    recorder: Recorder,
    stack: contextlib.ExitStack,
) -> None:
    """Enter a patch, or say which private name this torch does not have for it."""
    try:
        stack.enter_context(patch(recorder))
    except (ImportError, AttributeError) as error:
        what = patch.__name__.strip("_").replace("_", " ")
        text = f"torch {torch.__version__} lacks a private name ({error}): no {what}"
        recorder.warnings.append(CaptureWarning(id="private-name-gone", text=text))


@contextlib.contextmanager
def configured(*, use_cache: bool, options: Mapping[str, object]) -> Iterator[None]:
    """Turn on provenance and names of C++ kernels in profiles, and the caches off unless asked for.

    Source: torch/_inductor/config.py. The caches are turned off one by one: `force_disable_caches` would also give
    each graph its own folder, and so compile the C++ headers anew for each.
    """
    import torch._functorch.config as functorch_config
    import torch._inductor.config as inductor_config

    settings: dict[str, Any] = {
        "trace.provenance_tracking_level": 1,
        "cpp.enable_kernel_profile": True,
    }
    if not use_cache:
        settings |= {
            "fx_graph_cache": False,
            "fx_graph_remote_cache": False,
            "autotune_local_cache": False,
        }
    settings |= {name.replace("-", "_"): value for name, value in options.items()}
    there = inductor_config.get_config_copy()
    known = {name: value for name, value in settings.items() if name in there}
    with contextlib.ExitStack() as stack:
        stack.enter_context(inductor_config.patch(known))
        if not use_cache and "enable_autograd_cache" in functorch_config.get_config_copy():
            stack.enter_context(functorch_config.patch(enable_autograd_cache=False))
        yield


@contextlib.contextmanager
def _autograd_numbers(_: Recorder) -> Iterator[None]:
    """Look whether torch numbers autograd functions: the accessors above do without, in silence."""
    getattr(torch._C._autograd, "_get_sequence_nr")  # noqa: B009 - that it is there is the question
    getattr(torch._C, "_current_autograd_node")  # noqa: B009
    yield


@contextlib.contextmanager
def _structured_log(recorder: Recorder) -> Iterator[None]:
    """Listen to the structured trace (what TORCH_TRACE writes). Source: torch/_logging/_internal.py."""

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            recorder.log.add(getattr(record, "metadata", {}), getattr(record, "payload", None))

    logger = torch._logging._internal.trace_log
    listener = Listener()
    logger.addHandler(listener)
    try:
        yield
    finally:
        logger.removeHandler(listener)


@contextlib.contextmanager
def _dynamo_graphs(recorder: Recorder) -> Iterator[None]:
    """Keep each Dynamo graph, and put a switch before its compiled function.

    Source: OutputGraph.call_user_compiler, torch/_dynamo/output_graph.py.
    """
    from torch._dynamo.output_graph import OutputGraph

    original = OutputGraph.call_user_compiler

    def call_user_compiler(self: Any, module: GraphModule, inputs: list[Any]) -> Callable[..., Any]:
        identity = compile_id()
        recorder.dynamo_names[identity] = dynamo_names(module)
        recorder.dynamo[identity] = graph_record("dynamo", module)
        # Inductor changes the module in place, so that the one to run node by node must be a copy of the graph.
        kept = GraphModule(module, copy.deepcopy(module.graph))
        return _switch(recorder, identity, kept, original(self, module, inputs))

    with mock.patch.object(OutputGraph, "call_user_compiler", call_user_compiler):
        yield


def _switch(
    recorder: Recorder, identity: str, module: GraphModule, compiled: Callable[..., Any]
) -> Callable[..., Any]:
    """Return `compiled`, or the Dynamo graph run node by node while the recorder is attributing."""

    def run(*args: Any) -> Any:
        if not recorder.attributing:
            return compiled(*args)
        attributor = Attributor(module, recorder.place, identity)
        return attributor.run_in_place_of(compiled, *args)

    return run


@contextlib.contextmanager
def _tensors_for_numbers(_: Recorder) -> Iterator[None]:
    """Let the nodes that stand for ops on a dynamic number keep where they came from: torch makes them anew, without.

    Source: _apply_tensorify_python_scalars, torch/_functorch/_aot_autograd/graph_compile.py.
    """
    from torch._functorch._aot_autograd import graph_compile

    original = graph_compile._apply_tensorify_python_scalars

    def keep_origin(old: Node, new: str, user: Node) -> None:  # noqa: ARG001 - torch names it
        made = next(node for node in old.graph.nodes if node.name == new)
        made.meta.setdefault("from_node", old.meta.get("from_node", []))

    def apply(module: GraphModule) -> None:
        module._register_replace_node_hook(keep_origin)
        try:
            original(module)
        finally:
            module._unregister_replace_node_hook(keep_origin)

    with mock.patch.object(graph_compile, "_apply_tensorify_python_scalars", apply):
        yield


@contextlib.contextmanager
def _joint_graphs(recorder: Recorder) -> Iterator[None]:
    """Keep the graph that AOTAutograd made, before the joint passes. Source: torch/_inductor/compile_fx.py."""
    from torch._inductor import compile_fx

    original = compile_fx._recursive_joint_graph_passes

    def joint_graph_passes(module: GraphModule, *args: Any, **kwargs: Any) -> GraphModule:
        identity = compile_id()
        if identity not in recorder.joint:
            recorder.joint[identity] = graph_record("joint", module, recorder.known_names())
        return original(module, *args, **kwargs)

    with mock.patch.object(compile_fx, "_recursive_joint_graph_passes", joint_graph_passes):
        yield


@contextlib.contextmanager
def _inductor_graphs(recorder: Recorder) -> Iterator[None]:
    """Know which graph Inductor works on. Source: fx_codegen_and_compile, torch/_inductor/compile_fx.py."""
    from torch._inductor import compile_fx

    original = compile_fx.fx_codegen_and_compile

    def fx_codegen_and_compile(*args: Any, **kwargs: Any) -> Any:
        backward, inference = kwargs.get("is_backward"), kwargs.get("is_inference")
        direction = "backward" if backward else "inference" if inference else "forward"
        before, recorder.current = recorder.current, Lowering(compile_id(), direction)
        recorder.lowerings.append(recorder.current)
        try:
            return original(*args, **kwargs)
        finally:
            recorder.current = before

    with mock.patch.object(compile_fx, "fx_codegen_and_compile", fx_codegen_and_compile):
        yield


@contextlib.contextmanager
def _post_grad_graphs(recorder: Recorder) -> Iterator[None]:
    """Keep the graph after the post-grad passes. Source: torch/_inductor/compile_fx.py."""
    from torch._inductor import compile_fx

    original = compile_fx._recursive_post_grad_passes

    def post_grad_passes(module: GraphModule, *args: Any, **kwargs: Any) -> Any:
        result = original(module, *args, **kwargs)
        if recorder.current is not None:
            recorder.current.post_grad = graph_record("post_grad", module, recorder.known_names())
        return result

    with mock.patch.object(compile_fx, "_recursive_post_grad_passes", post_grad_passes):
        yield


@contextlib.contextmanager
def _generated_code(recorder: Recorder) -> Iterator[None]:
    """Keep the wrapper and the post-grad nodes of each of its calls.

    Source: GraphLowering.compile_to_module, torch/_inductor/graph.py, and the provenance maps of torch/_inductor/debug.py.
    """
    import torch._inductor.debug as inductor_debug
    from torch._inductor.graph import GraphLowering

    original = GraphLowering.compile_to_module
    # Read at each compile, since torch replaces it; a torch without it is found out here and not there.
    _ = inductor_debug._inductor_triton_kernel_to_post_grad_node_info

    def compile_to_module(self: Any) -> Any:
        module = original(self)
        if recorder.current is not None:
            kernels = inductor_debug._inductor_triton_kernel_to_post_grad_node_info
            recorder.current.kernels = {name: tuple(nodes) for name, nodes in kernels.items()}
            recorder.current.wrapper_code = Path(module.__file__ or "").read_text(encoding="utf-8")
            recorder.current.lowering_id = self.graph_id
        return module

    with mock.patch.object(GraphLowering, "compile_to_module", compile_to_module):
        yield


@contextlib.contextmanager
def _pass_log(recorder: Recorder) -> Iterator[None]:
    """Note the nodes that each compiler pass makes, removes and replaces.

    Source: GraphTransformObserver, torch/fx/passes/graph_transform_observer.py; the hooks of torch/fx/graph_module.py.
    """
    from torch.fx.passes.graph_transform_observer import GraphTransformObserver as Observer

    enter, leave = Observer.__enter__, Observer.__exit__
    opened: dict[int, tuple[OpenPass, Callable[[Node, str, Node], None]]] = {}

    def observer_enter(self: Any) -> Any:
        result = enter(self)
        if self.active:
            now = OpenPass(self.passname, dict(self.name_to_node), self.name_to_node)
            self.created_nodes, self.erased_nodes = now.created, now.removed

            def note_replacement(old: Node, new: str, user: Node) -> None:  # noqa: ARG001 - torch names it
                now.replaced[old.name] = new

            self.gm._register_replace_node_hook(note_replacement)
            opened[id(self)] = now, note_replacement
            recorder.passes.open.append(now)
        return result

    def observer_exit(self: Any, *details: Any) -> None:
        leave(self, *details)
        if id(self) in opened:
            now, hook = opened.pop(id(self))
            self.gm._unregister_replace_node_hook(hook)
            recorder.passes.finish(now)

    with (
        mock.patch.object(Observer, "__enter__", observer_enter),
        mock.patch.object(Observer, "__exit__", observer_exit),
    ):
        yield


@contextlib.contextmanager
def _pattern_log(recorder: Recorder) -> Iterator[None]:
    """Note each pattern that fires, with its handler. Source: torch/_inductor/pattern_matcher.py."""
    from torch._inductor import pattern_matcher

    kinds = ("GraphPatternEntry", "ReplacementPatternEntry", "LoweringPatternEntry")
    with contextlib.ExitStack() as stack:
        for kind in (getattr(pattern_matcher, name) for name in kinds):
            stack.enter_context(
                mock.patch.object(kind, "apply", _noting_apply(recorder, kind.apply))
            )
        yield


def _noting_apply(recorder: Recorder, original: Callable[..., None]) -> Callable[..., None]:
    def apply(self: Any, match: Any, graph: Any, node: Node) -> None:
        now = recorder.passes.open[-1] if recorder.passes.open else None
        if now is None:
            original(self, match, graph, node)
            return
        mark = now.mark()
        before = {item.name: node_record(item, recorder.known_names()) for item in match.nodes}
        original(self, match, graph, node)
        name, location = pattern_identity(self)
        recorder.passes.report(now, mark, pattern=name, location=location, before=before)

    return apply


@contextlib.contextmanager
def _common_subexpressions(recorder: Recorder) -> Iterator[None]:
    """Note the nodes that the partitioner merges. Source: fx_graph_cse, called by torch/_functorch/partitioners.py."""
    from torch._functorch import partitioners

    original = partitioners.fx_graph_cse  # type: ignore[attr-defined]

    def fx_graph_cse(graph: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(graph, *args, **kwargs)
        nodes = {node.name: node for node in graph.nodes}
        for name, twin in merged_duplicates(graph, result).items():
            recorder.add_event(
                PassEvent(
                    stage="joint",
                    pass_name="fx_graph_cse",  # noqa: S106 - a compiler pass
                    location="torch/_functorch/compile_utils.py",
                    removed=(node_record(nodes[name], recorder.known_names()),),
                    replacements={name: twin},
                )
            )
        return result

    with mock.patch.object(partitioners, "fx_graph_cse", fx_graph_cse):
        yield


# In this order they are entered; each may be missing without harm to the others.
PATCHES: tuple[Callable[[Recorder], contextlib.AbstractContextManager[None]], ...] = (
    _autograd_numbers,
    _structured_log,
    _dynamo_graphs,
    _tensors_for_numbers,
    pre_grad_changes,
    _joint_graphs,
    _inductor_graphs,
    _post_grad_graphs,
    _generated_code,
    _pass_log,
    _pattern_log,
    _common_subexpressions,
    fusion_log,
)
