"""MLP with dropout and an embedding, MSE, training."""

import torch
from torch import nn

BACKWARD = True


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(50, 32)
        self.l1 = nn.Linear(32, 64)
        self.l2 = nn.Linear(64, 64)
        self.l3 = nn.Linear(64, 1)
        self.d = nn.Dropout(0.1)

    def forward(self, i, t):
        x = self.e(i).mean(1)
        x = self.d(torch.relu(self.l1(x)))
        x = torch.sigmoid(self.l2(x)) * x
        return torch.nn.functional.mse_loss(self.l3(x).squeeze(-1), t)


def get_init_inputs():
    return []


def get_inputs():
    return [torch.randint(0, 50, (16, 6)), torch.randn(16)]
