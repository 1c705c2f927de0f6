"""Convolutions with batch norms. In: left op calls. Out: those not folded, and what torch asks for it."""

from collections.abc import Iterator
from dataclasses import dataclass

from compdiff.missed.place import CallsPlace, Need, Opportunity, Site
from compdiff.model import OpCall
from compdiff.rewrites.facts import base_name
from compdiff.rewrites.rules import BATCH_NORMS

_FOLDING = "torch/_inductor/fx_passes/binary_folding.py"
_FREEZING = "torch/_inductor/freezing.py"
_CONVOLUTION = "convolution"
# The place of `training` among the arguments. Source: native_functions.yaml (torch 2.14).
_TRAINING = 5
_WITHOUT_TRAINING = "no_training"


@dataclass(frozen=True)
class ConvBatchNorm(CallsPlace):
    """A convolution, and a batch norm of its result that was not folded."""

    @property
    def convolution(self) -> OpCall:
        """The convolution."""
        return self.calls[0]

    @property
    def norm(self) -> OpCall:
        """The batch norm."""
        return self.calls[1]

    @property
    def readers(self) -> int:
        """How many op calls read the convolution's result, once more if the function returns it."""
        value = self.convolution.outputs[0].value
        left = self.site.run.left
        reading = sum(value in {meta.value for meta in call.inputs} for call in left.op_calls)
        return reading + (value in left.output_values)


def unfolded_batch_norms(site: Site) -> Iterator[ConvBatchNorm]:
    """Yield each batch norm of a convolution's result that stayed."""
    calls = site.run.left.op_calls
    makers = {meta.value: call for call in calls for meta in call.outputs if meta.value >= 0}
    folded = {op for it in site.rewrites if it.rule == CONV_BN.rule for op in it.left}
    for call in calls:
        if call.name not in BATCH_NORMS or f"e{call.id}" in folded or not call.inputs:
            continue
        maker = makers.get(call.inputs[0].value)
        if maker is not None and _CONVOLUTION in base_name(maker.name):
            yield ConvBatchNorm(site, (maker, call))


def norm_is_in_eval_mode(place: ConvBatchNorm) -> bool:
    """Return whether the batch norm uses its running statistics.

    Source: fuse_conv_bn, fx_passes/pre_grad.py (torch 2.14).
    """
    words = place.norm.arguments.split(", ")
    return _WITHOUT_TRAINING in place.norm.name or words[_TRAINING : _TRAINING + 1] != ["True"]


def convolution_has_one_reader(place: ConvBatchNorm) -> bool:
    """Return whether the batch norm alone reads the convolution.

    Source: `_users=1`, fx_passes/binary_folding.py (torch 2.14).
    """
    return place.readers == 1


def no_backward_follows(place: ConvBatchNorm) -> bool:
    """Return whether the graph is one for inference: only such are frozen.

    Source: compile_fx, torch/_inductor/compile_fx.py (torch 2.14).
    """
    facts = place.site.facts
    trace = facts.traces_by_id[place.left[1]]
    return trace.compile_id is None or trace.compile_id in facts.inference_graphs


def weights_are_frozen(place: ConvBatchNorm) -> bool:
    """Return whether the option freezing makes the weights constants. Source: torch/_inductor/freezing.py (torch 2.14)."""
    return bool(place.site.run.options.options.get("freezing"))


CONV_BN = Opportunity(
    rule="conv-bn-folded",
    kind="batch norm of a convolution's result",
    find=unfolded_batch_norms,
    of=tuple(sorted(BATCH_NORMS)),
    needs=(
        Need(
            holds=norm_is_in_eval_mode,
            otherwise="{it.norm.name} is in training mode: it takes mean and variance of the batch, which are not "
            "known while compiling.",
            location="torch/_inductor/fx_passes/pre_grad.py",
        ),
        Need(
            holds=convolution_has_one_reader,
            otherwise="{it.convolution.name} has {it.readers} users: it is folded only where the batch norm alone reads it.",
            location=_FOLDING,
        ),
        Need(
            holds=no_backward_follows,
            otherwise="Autograd records it, so that the weights may change: they are folded under torch.no_grad() alone.",
            location="torch/_inductor/compile_fx.py",
        ),
        Need(
            holds=weights_are_frozen,
            otherwise="The weights are inputs of the graph, not constants: the option freezing is off.",
            location=_FREEZING,
        ),
    ),
)
