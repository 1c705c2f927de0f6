"""Recurrent layers as cuDNN runs them. In: the arguments of aten::lstm, gru and rnn. Out: their outputs, by `_cudnn_rnn`.

torch's own dispatch keeps a dropout state on the device. Source: aten/src/ATen/native/RNN.cpp, cudnn/RNN.cpp (torch 2.14).
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch

_MODES = {"rnn_relu": 0, "rnn_tanh": 1, "lstm": 2, "gru": 3}
RECURRENT_OPS = tuple(f"{name}.input" for name in _MODES)
_WITH_BIAS, _WITHOUT_BIAS = 4, 2
_GRU_WORKSPACE = 5  # times the hidden size


def recurrent(name: str) -> Callable[..., tuple[torch.Tensor, ...]]:
    """Return what stands for the op `aten::<name>`, such as `lstm.input`."""
    mode = _MODES[name.partition(".")[0]]

    def run(  # noqa: PLR0913, PLR0917 - the op's own arguments
        data: torch.Tensor,
        state: Any,  # noqa: ANN401 - one tensor, or a list of two for LSTM
        weights: Sequence[torch.Tensor],
        has_biases: bool,  # noqa: FBT001
        layers: int,
        dropout: float,
        train: bool,  # noqa: FBT001
        bidirectional: bool,  # noqa: FBT001
        batch_first: bool,  # noqa: FBT001
    ) -> tuple[torch.Tensor, ...]:
        hidden, cell = (state[0], state[1]) if isinstance(state, (list, tuple)) else (state, None)
        width = int((hidden if cell is None else cell).shape[-1])
        projected = int(hidden.shape[-1]) if int(hidden.shape[-1]) != width else 0
        op = torch.ops.aten._cudnn_rnn.default  # noqa: SLF001 - the op's name
        output, hidden_out, cell_out, _, _ = op(
            data,
            list(weights),
            (_WITH_BIAS if has_biases else _WITHOUT_BIAS) + bool(projected),
            None,
            hidden,
            cell,
            mode,
            width,
            projected,
            layers,
            batch_first,
            dropout,
            train,
            bidirectional,
            [],
            None,
        )
        return (output, hidden_out) if cell is None else (output, hidden_out, cell_out)

    return run


def gru_cell(
    input_gates: torch.Tensor,  # noqa: ARG001 - the op's own arguments
    hidden_gates: torch.Tensor,  # noqa: ARG001
    hidden: torch.Tensor,
    input_bias: torch.Tensor | None = None,  # noqa: ARG001
    hidden_bias: torch.Tensor | None = None,  # noqa: ARG001
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return tensors of the shapes that `aten::_thnn_fused_gru_cell` returns, which has no rule for them.

    Source: aten/src/ATen/native/cuda/RNN.cu: _thnn_fused_gru_cell_cuda.
    """
    workspace = hidden.new_empty(hidden.shape[0], hidden.shape[1] * _GRU_WORKSPACE)
    return torch.empty_like(hidden), workspace
