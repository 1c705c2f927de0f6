"""TORCH_TRACE logs, the structured logs of a compilation: `read_torch_trace` gives a CompilerLog. torch is not needed."""

from compdiff.importers.torch_trace.attach import attach
from compdiff.importers.torch_trace.read import CompilerLog, read_torch_trace

__all__ = ["CompilerLog", "attach", "read_torch_trace"]
