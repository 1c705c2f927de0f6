"""Takes out of a plan what no two processes share. In: a Compiler. Out: the same without folders and addresses."""

import os
import re

import msgspec

from compdiff.model import Compilation, CompiledGraph, Compiler

_OBJECT_ID = re.compile(r"(___check_(?:obj|type)_id\(.*?, )\d+(?=\))")
_FROZEN = re.compile(r"^(_frozen_param\d+ = None  # .*\) )[0-9a-f]+$", re.MULTILINE)
_FOLDERS = ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR")


def stable(compiler: Compiler) -> Compiler:
    """Return what the compiler said, with the compile cache's folder and what comes of addresses put as words."""
    return msgspec.structs.replace(
        compiler,
        compilations=tuple(_compilation(one) for one in compiler.compilations),
        graphs=tuple(_graph(one) for one in compiler.graphs),
    )


def _compilation(compilation: Compilation) -> Compilation:
    guards = tuple(_OBJECT_ID.sub(r"\1<id>", guard) for guard in compilation.guards)
    return msgspec.structs.replace(compilation, guards=guards)


def _graph(graph: CompiledGraph) -> CompiledGraph:
    calls = tuple(
        msgspec.structs.replace(call, code=_without_folders(call.code)) for call in graph.calls
    )
    code = _FROZEN.sub(r"\1<address>", _without_folders(graph.wrapper_code))
    return msgspec.structs.replace(graph, calls=calls, wrapper_code=code)


def _without_folders(text: str) -> str:
    for variable in _FOLDERS:
        folder = os.environ.get(variable)
        text = text.replace(folder, "<cache>") if folder else text
    return text
