"""Two recurrent layers of different kinds, one bidirectional, with dropout between layers."""

import torch


class Model(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.lstm = torch.nn.LSTM(size, 24, 2, batch_first=True, dropout=0.1)
        self.gru = torch.nn.GRU(24, 16, bidirectional=True)
        self.out = torch.nn.Linear(32, 5)

    def forward(self, x):
        hidden, _ = self.lstm(x)
        hidden, _ = self.gru(hidden)
        return self.out(hidden[:, -1])


def get_init_inputs():
    return [20]


def get_inputs():
    return [torch.rand(3, 7, 20)]
