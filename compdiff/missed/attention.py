"""Written-out attention. In: left op calls. Out: a softmax between two products, and what torch's patterns ask."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from compdiff.align.liveness import is_view
from compdiff.missed.place import CallsPlace, Cost, Need, Opportunity, Site
from compdiff.model import OpCall, TensorMeta
from compdiff.rewrites.facts import base_name
from compdiff.tensor_text import shape_text, size_bytes

_FUSE_ATTENTION = "torch/_inductor/fx_passes/fuse_attention.py"
_PRODUCTS = frozenset({"aten::bmm", "aten::mm", "aten::baddbmm"})
_SOFTMAX = frozenset({"aten::_softmax", "aten::_safe_softmax"})
# Steps that the patterns see through, or have in some of their variants.
_PLAIN = frozenset({"_to_copy", "clone", "expand", "copy_"})
_DROPOUT = frozenset({"native_dropout", "dropout"})
_MOST_STEPS = 24
# What stands between the first product and the softmax in the patterns of torch 2.14, views and conversions left out.
# Source: _sfdp_pattern_1 to _sfdp_pattern_30, torch/_inductor/fx_passes/fuse_attention.py.
PATTERN_STEPS = frozenset(
    {
        (),
        ("add",),
        ("div",),
        ("div", "add"),
        ("div", "masked_fill"),
        ("div", "where"),
        ("div", "where", "add"),
        ("masked_fill",),
        ("mul",),
    }
)
_SOFTMAX_TO_PRODUCT = frozenset({(), ("dropout",)})


@dataclass(frozen=True)
class Attention(CallsPlace):
    """Op calls from a first product over a softmax to a second product: `softmax` is the place of it among them."""

    softmax: int
    readers: Mapping[int, Sequence[str]]

    @property
    def before(self) -> tuple[str, ...]:
        """The steps between the first product and the softmax."""
        return _steps(self.calls[1 : self.softmax])

    @property
    def after(self) -> tuple[str, ...]:
        """The steps between the softmax and the second product."""
        return _steps(self.calls[self.softmax + 1 : -1])

    @property
    def steps_text(self) -> str:
        """All steps, as one line."""
        return ", ".join(("product", *self.before, "softmax", *self.after, "product"))

    @cached_property
    def read_twice(self) -> str:
        """What else reads an intermediate result, with that result; "" where nothing does."""
        for call, after in zip(self.calls, self.calls[1:], strict=False):
            for meta in call.outputs[:1]:
                others = [name for name in self.readers.get(meta.value, ()) if name != _id(after)]
                if others:
                    return f"{call.name} {shape_text(meta)} is read by {others[0]} too"
        return ""

    @property
    def operands(self) -> tuple[TensorMeta, ...]:
        """Query, key and value, as the products take them."""
        value = [meta for meta in self.calls[-1].inputs[:2] if meta.value != self._weights]
        return (*self.calls[0].inputs[:2], *value)

    @property
    def _weights(self) -> int:
        return self.calls[-2].outputs[0].value if self.calls[-2].outputs else -1

    @property
    def operands_text(self) -> str:
        """Dtypes and shapes of query, key and value."""
        return ", ".join(shape_text(meta) for meta in self.operands)

    @property
    def mask(self) -> TensorMeta | None:
        """What is added to the scores, None where nothing is."""
        sums = [call for call in self.calls[1 : self.softmax] if base_name(call.name) == "add"]
        others = [meta for call in sums[:1] for meta in call.inputs[1:2]]
        return others[0] if others else None

    @property
    def mask_text(self) -> str:
        """Dtype and shape of the mask."""
        return shape_text(self.mask) if self.mask is not None else "a number"

    @property
    def cost(self) -> Cost:
        """The kernels but one, and the scores: written and read again."""
        items = len(self.right)
        scores = self.calls[0].outputs[:1]
        return Cost(max(items - 1, 0), sum(2 * size_bytes(meta) for meta in scores))


def _id(call: OpCall) -> str:
    return f"{call.name} (e{call.id})"


def _steps(calls: Sequence[OpCall]) -> tuple[str, ...]:
    names = (base_name(call.name).rstrip("_") for call in calls if not is_view(call))
    plain = (name for name in names if name not in _PLAIN and not name.startswith("_unsafe"))
    return tuple("dropout" if name in _DROPOUT else name for name in plain)


def written_out_attention(site: Site) -> Iterator[Attention]:
    """Yield each softmax of a product that a product takes, where no pattern put an attention op in their place."""
    calls = [call for call in site.run.left.op_calls if _gives_something_new(call)]
    makers = {meta.value: call for call in calls for meta in call.outputs if meta.value >= 0}
    readers = _readers(site, calls)
    taken = {op for rewrite in site.rewrites for op in rewrite.left if rewrite.rule == ATTENTION}
    for call in calls:
        if call.name not in _SOFTMAX or f"e{call.id}" in taken or call.phase == "backward":
            continue
        before = _back(call, makers)
        after = _forth(call, calls, readers)
        if before and after:
            chain = (*before, call, *after)
            yield Attention(site, chain, len(before), readers)


def _gives_something_new(call: OpCall) -> bool:
    """Return whether a call gives another value than it takes: an `expand` to the same shape does not."""
    return not {meta.value for meta in call.outputs} <= {meta.value for meta in call.inputs}


def _readers(site: Site, calls: Sequence[OpCall]) -> dict[int, list[str]]:
    """Return what reads each value of the left side, the function's outputs too."""
    found: dict[int, list[str]] = defaultdict(list)
    for call in calls:
        if call.phase == "forward":
            for value in dict.fromkeys(meta.value for meta in call.inputs):
                found[value].append(_id(call))
    for value in site.run.left.output_values:
        found[value].append("the function's caller")
    return found


def _back(softmax: OpCall, makers: Mapping[int, OpCall]) -> tuple[OpCall, ...]:
    """Return the op calls from a product to a softmax, each the maker of the next one's first input; () for none."""
    chain: list[OpCall] = []
    current = softmax
    for _ in range(_MOST_STEPS):
        maker = next((makers[it.value] for it in current.inputs if _makes(makers, it)), None)
        if maker is None:
            return ()
        chain.insert(0, maker)
        if maker.name in _PRODUCTS:
            return tuple(chain)
        current = maker
    return ()


def _makes(makers: Mapping[int, OpCall], meta: TensorMeta) -> bool:
    """Return whether an op call made a tensor out of others: a mask that is made of numbers leads to no product."""
    return meta.value in makers and bool(makers[meta.value].inputs)


def _forth(
    softmax: OpCall, calls: Sequence[OpCall], readers: Mapping[int, Sequence[str]]
) -> tuple[OpCall, ...]:
    """Return the op calls after a softmax up to a product, each the first that reads the one before; () for none."""
    by_id = {_id(call): call for call in calls}
    chain: list[OpCall] = []
    current = softmax
    for _ in range(_MOST_STEPS):
        value = current.outputs[0].value if current.outputs else -1
        names = [name for name in readers.get(value, ()) if name in by_id]
        if not names:
            return ()
        current = by_id[names[0]]
        chain.append(current)
        if current.name in _PRODUCTS:
            return tuple(chain)
    return ()


# ---------------------------------------------------------------- conditions


def results_are_read_once(place: Attention) -> bool:
    """Return whether nothing else reads what lies between: a pattern's inner nodes have one user.

    Source: CallFunction's `_users`, torch/_inductor/pattern_matcher.py (torch 2.14).
    """
    return not place.read_twice


def steps_are_of_a_pattern(place: Attention) -> bool:
    """Return whether a pattern has these steps. Source: _sfdp_pattern_1 to 30, fuse_attention.py (torch 2.14)."""
    return place.before in PATTERN_STEPS and place.after in _SOFTMAX_TO_PRODUCT


def operands_are_alike(place: Attention) -> bool:
    """Return whether query, key and value have one dtype and device.

    Source: _sfdp_params_check, fuse_attention.py (torch 2.14).
    """
    return len({(meta.dtype, meta.device) for meta in place.operands}) == 1


def mask_has_a_fitting_dtype(place: Attention) -> bool:
    """Return whether a mask that is added is of the query's dtype, float32 or bool, and no number.

    Source: _sfdp_params_check, torch/_inductor/fx_passes/fuse_attention.py (torch 2.14).
    """
    if "add" not in place.before:
        return True
    fitting = {place.operands[0].dtype, "bool", "float32"}
    return place.mask is not None and place.mask.dtype in fitting and bool(place.mask.shape)


def is_not_float32_on_cuda(place: Attention) -> bool:
    """Return whether TF32 need not be allowed: it must be for float32 on a GPU, and is not by default.

    Source: _sfdp_params_check, torch/_inductor/fx_passes/fuse_attention.py (torch 2.14).
    """
    query = place.operands[0]
    return not (query.device.startswith("cuda") and query.dtype == "float32")


ATTENTION = "sdpa-pattern"
SDPA = Opportunity(
    rule=ATTENTION,
    kind="softmax between two matrix products",
    find=written_out_attention,
    of=("aten::_softmax", "aten::_safe_softmax"),
    needs=(
        Need(
            holds=steps_are_of_a_pattern,
            otherwise="No pattern of torch 2.14 has these steps: {it.steps_text}. Before the softmax they know a "
            "scale by mul or div, div then add, div or nothing then masked_fill, div then where, or add alone.",
            location=_FUSE_ATTENTION,
        ),
        Need(
            holds=results_are_read_once,
            otherwise="{it.read_twice}: the patterns take results that nothing else reads.",
            location="torch/_inductor/pattern_matcher.py",
        ),
        Need(
            holds=operands_are_alike,
            otherwise="Query, key and value are {it.operands_text}: the patterns ask for one dtype and device.",
            location=_FUSE_ATTENTION,
        ),
        Need(
            holds=mask_has_a_fitting_dtype,
            otherwise="The mask is {it.mask_text}, and the query {it.operands[0].dtype}: the patterns take a mask of "
            "that dtype, float32 or bool.",
            location=_FUSE_ATTENTION,
        ),
        Need(
            holds=is_not_float32_on_cuda,
            otherwise="Query, key and value are float32 on a GPU: the patterns then ask that TF32 is allowed, which "
            "it is not by default (torch.set_float32_matmul_precision('high') allows it; a run does not say if it was).",
            location=_FUSE_ATTENTION,
        ),
    ),
    rest="The steps ({it.steps_text}) are those of a pattern, but the views, conversions or layouts around them are not: "
    "torch's matcher does not say which.",
    expected=True,
)
