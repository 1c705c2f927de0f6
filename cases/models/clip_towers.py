"""CLIP's last step: two projections, normalised, and their products with a learned temperature, as training runs it."""

import torch
import torch.nn.functional as F
from torch import nn

BACKWARD = True
EXPECT = {"rules": ["loss-fused", "reduction-fusion"], "graph_breaks": 0}


class Model(nn.Module):
    def __init__(self, width, shared):
        super().__init__()
        self.image, self.text = (nn.Linear(width, shared, bias=False) for _ in range(2))
        self.temperature = nn.Parameter(torch.tensor(2.6))

    def forward(self, images, texts):
        images = F.normalize(self.image(images), dim=-1)
        texts = F.normalize(self.text(texts), dim=-1)
        scores = images @ texts.T * self.temperature.exp()
        labels = torch.arange(scores.shape[0], device=scores.device)
        return (F.cross_entropy(scores, labels) + F.cross_entropy(scores.T, labels)) / 2


def get_init_inputs():
    return [64, 32]


def get_inputs():
    return [torch.randn(32, 64), torch.randn(32, 64)]
