"""Names of launches. In: the name of a call of the runtime or the driver. Out: whether it runs kernels, or replays a graph.

Names are not listed: cudaLaunchKernelExC, cuLaunchKernelEx and hipExtModuleLaunchKernel came one after another.
"""

_GRAPH_LAUNCH = "GraphLaunch"
_PARTS = ("LaunchKernel", _GRAPH_LAUNCH, "Memcpy", "Memset", "LaunchCooperative")


def replays_a_graph(launch: str) -> bool:
    """Return whether a call launches all kernels of a CUDA or HIP graph: `cudaGraphLaunch`."""
    return _GRAPH_LAUNCH in launch


def runs_kernels(launch: str) -> bool:
    """Return whether a call asks the device to run something: a kernel, a graph, a copy or a memset."""
    return any(part in launch for part in _PARTS)
