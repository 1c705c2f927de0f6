"""The rungs above eager mode. In: the options of the user. Out: what torch.compile is given on each rung."""

from dataclasses import dataclass

import msgspec

from compdiff.model import CompileOptions

EAGER = "eager"
AUTOTUNE = "max-autotune"
EAGER_WHAT = "each op on its own, as Python reaches it"


@dataclass(frozen=True, slots=True, kw_only=True)
class RungKind:
    """A way to compile: what torch.compile is given, and what that adds to the rung before."""

    name: str
    what: str
    backend: str = "inductor"
    mode: str = "default"


DEFAULT = RungKind(
    name="default", what="Inductor generates fused kernels and a wrapper that calls them"
)
RUNGS = (
    RungKind(
        name="aot_eager",
        what="traced by Dynamo and AOTAutograd, run by the ops of eager mode: what tracing and guards cost",
        backend="aot_eager",
    ),
    DEFAULT,
    RungKind(
        name="reduce-overhead",
        what="the same, and Inductor is asked to replay each graph as a CUDA graph: one launch for all its kernels",
        mode="reduce-overhead",
    ),
    RungKind(
        name=AUTOTUNE,
        what="the same, and kernels of products and convolutions are chosen by timing candidates",
        mode=AUTOTUNE,
    ),
)


def options_of(kind: RungKind, asked: CompileOptions) -> CompileOptions:
    """Return the options of a rung: the user's, with its backend and mode."""
    return msgspec.structs.replace(asked, backend=kind.backend, mode=kind.mode)
