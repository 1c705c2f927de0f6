"""torch.optim's own AdamW step, compiled: it breaks the graph at both ends; between, state is read and written in place."""

import torch
from torch import nn

EXPECT = {"graph_breaks": 2}  # Optimizer.step calls torch._dynamo.graph_break() at both ends


def inputs(device, dtype, width=32):
    model = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width)).to(device)
    capturable = torch.device(device).type == "cuda"  # else the count of steps is read on the host
    optimizer = torch.optim.AdamW(model.parameters(), capturable=capturable, foreach=True)
    for parameter in model.parameters():
        parameter.grad = torch.randn_like(parameter)
    optimizer.step()
    return (optimizer,)


def fn(optimizer):
    optimizer.step()
