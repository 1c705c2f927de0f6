"""The case's own Triton kernel, known to the compiler by triton_op: it stays, and the ops after it are one kernel more.

Where there is no GPU the case runs the same sum with torch's ops.
"""

import torch

try:
    import triton
    import triton.language as tl
except ImportError:  # torch's CPU build
    triton = None

EXPECT = {
    "graph_breaks": 0,
    "cpu": {"numerics": True},
    "cuda": {"max_op_calls": 0, "max_kernels": 2},
}
BLOCK = 256

if triton is not None:

    @triton.jit
    def _scaled_sum(x, y, out, size, block: tl.constexpr):
        at = tl.program_id(0) * block + tl.arange(0, block)
        inside = at < size
        total = tl.load(x + at, inside) * 2 + tl.load(y + at, inside)
        tl.store(out + at, total, inside)

    @torch.library.triton_op("compdiff_cases::scaled_sum", mutates_args=())
    def scaled_sum(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        grid = (triton.cdiv(x.numel(), BLOCK),)
        torch.library.wrap_triton(_scaled_sum)[grid](x, y, out, x.numel(), BLOCK)
        return out


def inputs(device, dtype, size=4096):
    return tuple(torch.randn(size, device=device, dtype=dtype) for _ in range(2))


def fn(x, y):
    total = scaled_sum(x, y) if x.is_cuda else x * 2 + y
    return torch.relu(total) - 1
