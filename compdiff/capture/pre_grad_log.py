"""What Inductor does to a Dynamo graph before AOTAutograd. In: a Recorder. Out: its pass events of that stage."""

import contextlib
from collections.abc import Iterator
from typing import Any
from unittest import mock

from torch.fx import GraphModule

from compdiff.capture.recorder import Recorder


@contextlib.contextmanager
def pre_grad_changes(recorder: Recorder) -> Iterator[None]:
    """Note what changes a Dynamo graph before AOTAutograd traces it, by passes that torch itself watches and by others.

    Source: _recursive_pre_grad_passes, torch/_inductor/compile_fx.py; fuse_fx, torch/_inductor/fx_passes/pre_grad.py.
    """
    from torch._inductor import compile_fx
    from torch.fx.passes.graph_transform_observer import GraphTransformObserver as Observer

    original = compile_fx._recursive_pre_grad_passes

    def pre_grad_passes(module: GraphModule, *args: Any, **kwargs: Any) -> Any:
        before, recorder.before_autograd = recorder.before_autograd, True
        try:
            with Observer(module, "pre_grad_passes"):
                return original(module, *args, **kwargs)
        finally:
            recorder.before_autograd = before

    with mock.patch.object(compile_fx, "_recursive_pre_grad_passes", pre_grad_passes):
        yield
