"""Kernel names read by a grammar. In: a name as a profiler gives it. Out: family, what it computes, tile, types, functor."""

from compdiff.kernels.launches import replays_a_graph, runs_kernels
from compdiff.kernels.name import KernelName
from compdiff.kernels.read import read_kernel_name

__all__ = ["KernelName", "read_kernel_name", "replays_a_graph", "runs_kernels"]
