"""Backward passes walked in Python give what torch's engine gives, here on the CPU."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils._python_dispatch import TorchDispatchMode

from compdiff.capture.plan.backward import RunningNode, run_backward

Function = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def shared(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """Use a value twice."""
    y = x @ w
    return y * y + y


def broadcast(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """Add a row to a matrix."""
    return x + w[0]


def mixed(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """Compute in two dtypes."""
    return (x.double() * w).float().softmax(-1)


def several(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """Use one of several outputs."""
    first, _ = torch.chunk(torch.cat([x, w]), 2)
    return torch.sort(first)[0]


FUNCTIONS: tuple[Function, ...] = (shared, broadcast, mixed, several)


def leaves() -> tuple[torch.Tensor, torch.Tensor]:
    """Return two matrices that ask for gradients."""
    generator = torch.Generator().manual_seed(0)
    x, w = (torch.randn(4, 4, generator=generator) for _ in range(2))
    return x.requires_grad_(), w.requires_grad_()


@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
def test_fills_gradients_as_the_engine_does(fn: Function) -> None:
    """Leaves get the same `.grad`."""
    x, w = leaves()
    torch.autograd.backward([fn(x, w)], [torch.ones(4, 4)])
    y, v = leaves()
    root = fn(y, v)
    run_backward(
        RunningNode(), [root], [torch.ones(4, 4)], create_graph=False, inputs=(), accumulate=True
    )
    torch.testing.assert_close((y.grad, v.grad), (x.grad, w.grad))


@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
def test_returns_gradients_as_the_engine_does(fn: Function) -> None:
    """Wanted inputs get the same gradients, and `.grad` stays empty."""
    x, w = leaves()
    expected = torch.autograd.grad(fn(x, w), [w, x], torch.ones(4, 4))
    x, w = leaves()
    root = fn(x, w)
    found = run_backward(
        RunningNode(),
        [root],
        [torch.ones(4, 4)],
        create_graph=False,
        inputs=[w, x],
        accumulate=False,
    )
    torch.testing.assert_close(found, expected)
    assert x.grad is None


def test_an_input_behind_which_more_lies() -> None:
    """The gradient of an inner value is returned, and nothing behind it runs."""
    x, w = leaves()
    inner = x @ w
    root = inner.exp().sum()
    expected = torch.autograd.grad(root, [inner], retain_graph=True)
    found = run_backward(
        RunningNode(),
        [root],
        [torch.ones(())],
        create_graph=False,
        inputs=[inner],
        accumulate=False,
    )
    torch.testing.assert_close(found, expected)


def test_an_unused_input_has_no_gradient() -> None:
    """As with allow_unused."""
    x, w = leaves()
    found = run_backward(
        RunningNode(),
        [x.sum()],
        [torch.ones(())],
        create_graph=False,
        inputs=[x, w],
        accumulate=False,
    )
    assert found[1] is None


def test_a_network_with_a_loss() -> None:
    """A model's parameters get the engine's gradients, twice in a row added up."""
    grads = []
    for walked in (False, True):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 3))
        x, target = torch.randn(5, 8), torch.tensor([0, 1, 2, 0, 1])
        for _ in range(2):
            loss = cross_entropy(model(x), target)
            if walked:
                ones = torch.ones_like(loss)
                run_backward(
                    RunningNode(), [loss], [ones], create_graph=False, inputs=(), accumulate=True
                )
            else:
                torch.autograd.backward([loss])
        grads.append([parameter.grad for parameter in model.parameters()])
    torch.testing.assert_close(grads[0], grads[1])


def test_says_which_node_runs() -> None:
    """The recorder of op calls asks for the running node, and none is left at the end."""
    running = RunningNode()
    seen = []

    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @staticmethod
        def setup_context(ctx: object, inputs: object, output: object) -> None:
            del ctx, inputs, output

        @staticmethod
        def backward(ctx: object, *grads: torch.Tensor) -> torch.Tensor:
            del ctx
            seen.append(running.identity())
            return grads[0] * 2

    x, _ = leaves()
    doubled = Doubled.apply(x)  # type: ignore[no-untyped-call, unused-ignore]
    assert isinstance(doubled, torch.Tensor)
    run_backward(
        running, [doubled], [torch.ones(4, 4)], create_graph=False, inputs=(), accumulate=True
    )
    assert [one[0] for one in seen if one] == ["DoubledBackward"]
    assert running.identity() is None


class CountingCopies(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts allocations for copies of gradients."""

    copies = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401 - torch's signature
        """Count `empty_strided`, and go on."""
        del types
        self.copies += func is torch.ops.aten.empty_strided.default
        return func(*args, **(kwargs or {}))


def test_no_gradient_is_taken_for_another_that_is_gone() -> None:
    """Tensors come and go by the hundred: a new one at the place of an old one is nobody else's."""
    x = torch.randn(4, 8)
    for layer in [torch.nn.Linear(8, 8) for _ in range(60)]:
        x = x + layer(x).tanh()
    out = x.sum()
    with CountingCopies() as counting:  # type: ignore[no-untyped-call]
        run_backward(
            RunningNode(),
            [out],
            [torch.ones(())],
            create_graph=False,
            inputs=(),
            accumulate=True,
        )
    assert counting.copies == 0


def test_all_nodes_of_a_pass_know_its_number() -> None:
    """A checkpoint is computed again once in each pass, and it asks for the number."""
    running = RunningNode()
    seen: list[int] = []

    class Asks(torch.autograd.Function):
        @staticmethod
        def forward(_: Any, x: torch.Tensor) -> torch.Tensor:  # noqa: ANN401 - torch's signature
            return x.clone()

        @staticmethod
        def backward(_: Any, gradient: torch.Tensor) -> torch.Tensor:  # noqa: ANN401 - torch's signature
            seen.append(running.current_pass())
            return gradient

    x, _ = leaves()
    for _ in "ab":
        root = Asks.apply(Asks.apply(x))
        run_backward(
            running, [root], [torch.ones(4, 4)], create_graph=False, inputs=(), accumulate=True
        )
    assert seen[0] == seen[1] != seen[2] == seen[3]
    assert -1 not in seen
    assert running.current_pass() == -1
