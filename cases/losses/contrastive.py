"""A contrastive loss over a batch: the normalisation joins the kernels before the product, both losses those after it."""

import torch
import torch.nn.functional as F

EXPECT = {
    "rules": ["reduction-fusion", "loss-fused"],
    "graph_breaks": 0,
    "max_op_calls": 1,
    "cpu": {"numerics": True},
}


def inputs(device, dtype, batch=64, width=128):
    return tuple(torch.randn(batch, width, device=device, dtype=dtype) for _ in range(2))


def fn(images, texts):
    images, texts = F.normalize(images, dim=-1), F.normalize(texts, dim=-1)
    scores = images @ texts.T * 14.0
    labels = torch.arange(scores.shape[0], device=scores.device)
    return (F.cross_entropy(scores, labels) + F.cross_entropy(scores.T, labels)) / 2
