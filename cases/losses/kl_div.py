"""A distillation loss: two softmaxes and their divergence, summed in fused kernels."""

import torch
import torch.nn.functional as F

EXPECT = {"graph_breaks": 0, "max_op_calls": 0, "cpu": {"numerics": True}}


def inputs(device, dtype, batch=128, classes=200):
    return tuple(torch.randn(batch, classes, device=device, dtype=dtype) for _ in range(2))


def fn(student, teacher):
    of_student = F.log_softmax(student / 2, dim=-1)
    of_teacher = F.log_softmax(teacher / 2, dim=-1)
    return F.kl_div(of_student, of_teacher, reduction="batchmean", log_target=True)
