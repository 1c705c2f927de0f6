"""Matrix products and additions. In: post-grad graphs. Out: where both might be one addmm, and what torch asks."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from compdiff.missed.graph_view import GraphView
from compdiff.missed.kernel_pairs import only_work_of
from compdiff.missed.place import NO_COST, Cost, GraphPlace, Need, Opportunity, Site
from compdiff.missed.views import post_grad_views
from compdiff.model import GraphNode, TensorMeta
from compdiff.tensor_text import size_bytes

_POST_GRAD = "torch/_inductor/fx_passes/post_grad.py"
_MM = "aten.mm.default"
_PRODUCTS = (_MM, "aten.bmm.default")
_ADDITION = "aten.add.Tensor"
_ADDMM = "aten.addmm.default"
_UNFUSED_BY = "unfuse_bias_add_to_pointwise"
# What may stand between a product and the addition that a reader sees after it.
_PASSED = frozenset({"aten.mul.Tensor", "aten.div.Tensor", "prims.convert_element_type.default"})
_MOST_BETWEEN = 4


@dataclass(frozen=True)
class Biased(GraphPlace):
    """A sum of a tensor with a product, as two nodes or as one addmm: `adding` is the node that adds."""

    adding: GraphNode

    @property
    def addend(self) -> str:
        """The node that is added; "" for a number."""
        raise NotImplementedError

    @property
    def matrices(self) -> tuple[str, ...]:
        """The two nodes that are multiplied."""
        raise NotImplementedError

    @property
    def addend_shape(self) -> str:
        """Its dtype and shape."""
        return self.view.shape(self.addend)

    @property
    def addend_text(self) -> str:
        """What to call it."""
        return self.view.text(self.addend)

    @property
    def matrix_shapes(self) -> str:
        """Dtypes and shapes of the two matrices."""
        return " and ".join(self.view.shape(name) for name in self.matrices)

    @property
    def device(self) -> str:
        """The device that the addend is on."""
        meta = self.view.tensor(self.addend)
        return meta.device.partition(":")[0] if meta else ""

    @property
    def readers(self) -> tuple[str, ...]:
        """What reads the sum."""
        return self.view.users[self.adding.name]

    @property
    def readers_text(self) -> str:
        """What reads the sum, in words."""
        return self.view.texts(self.readers)

    @cached_property
    def other_reader(self) -> str:
        """The first reader of the sum that is not pointwise, in words; "" for none."""
        others = (name for name in self.readers if not self.view.is_pointwise(name))
        return next((self.view.text(name) for name in others), "")


@dataclass(frozen=True)
class ProductAndSum(Biased):
    """A product, an addition that it flows into, and the nodes between them, in order."""

    product: GraphNode
    between: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The product, what is between, the addition."""
        return (self.product.name, *self.between, self.adding.name)

    @property
    def addend(self) -> str:
        """The addition's other operand."""
        operand = self.names[-2]
        return next((name for name in self.adding.inputs if name != operand), "")

    @property
    def matrices(self) -> tuple[str, ...]:
        """The product's operands."""
        return self.view.operands(self.product)

    @property
    def product_text(self) -> str:
        """What to call the product."""
        return self.view.text(self.product.name)

    @property
    def product_shape(self) -> str:
        """Its dtype and shape."""
        return self.view.shape(self.product.name)

    @property
    def product_users(self) -> tuple[str, ...]:
        """What reads the product."""
        return self.view.users[self.product.name]

    @property
    def users(self) -> str:
        """How many read it, and what they are."""
        names = self.product_users
        return f"{len(names)} users: {self.view.texts(names)}"

    @property
    def in_the_way(self) -> str:
        """The op between the product and the addition, with what it makes of the product."""
        first = self.between[0]
        return (
            f"{self.view.text(first)}, which makes {self.view.shape(first)} of {self.product_shape}"
        )

    @property
    def cost(self) -> Cost:
        """The addition's kernel, if it does nothing else: it reads the product again."""
        names = {*self.between, self.adding.name}
        if not only_work_of(self.site, self.view, names):
            return NO_COST
        meta = self.view.tensor(self.product.name)
        return Cost(1, 2 * size_bytes(meta) if meta else 0)


def products_and_sums(site: Site) -> Iterator[ProductAndSum]:
    """Yield each addition that a product flows into, with the product that comes nearest to torch's pattern."""
    for view in post_grad_views(site):
        found: dict[str, list[ProductAndSum]] = {}
        for product in view.of_op(*_PRODUCTS):
            for between, adding in _additions(view, product.name, ()):
                place = ProductAndSum(site, view, adding, product, between)
                found.setdefault(adding.name, []).append(place)
        for places in found.values():
            yield max(places, key=_conditions_met)


def _conditions_met(place: ProductAndSum) -> int:
    failed = (index for index, need in enumerate(ADDMM_NEEDS) if not need.holds(place))
    return next(failed, len(ADDMM_NEEDS))


def _additions(
    view: GraphView, name: str, between: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], GraphNode]]:
    """Yield (nodes between, addition) for the additions of a tensor that a node flows into."""
    for user in view.users[name]:
        node = view.nodes[user]
        if node.target == _ADDITION and len(node.inputs) > 1:
            yield between, node
        elif len(between) < _MOST_BETWEEN and (
            view.is_view(user) or (node.target in _PASSED and len(node.inputs) == 1)
        ):
            yield from _additions(view, user, (*between, user))


@dataclass(frozen=True)
class AddedBias(Biased):
    """An addmm that stayed one."""

    @property
    def names(self) -> tuple[str, ...]:
        """The addmm."""
        return (self.adding.name,)

    @property
    def addend(self) -> str:
        """The bias."""
        return self.view.operands(self.adding)[0]

    @property
    def matrices(self) -> tuple[str, ...]:
        """The matrices."""
        return self.view.operands(self.adding)[1:]


def added_biases(site: Site) -> Iterator[AddedBias]:
    """Yield each addmm of the post-grad graphs."""
    for view in post_grad_views(site):
        for node in view.of_op(_ADDMM):
            if len(view.operands(node)) == 3:  # noqa: PLR2004 (bias and two matrices)
                yield AddedBias(site, view, node)


# ---------------------------------------------------------------- conditions


def product_is_mm(place: ProductAndSum) -> bool:
    """Return whether the product is an mm. Source: addmm, torch/_inductor/fx_passes/post_grad.py (torch 2.14)."""
    return place.product.target == _MM


def was_not_split_on_purpose(place: ProductAndSum) -> bool:
    """Return whether no pass made the two of an addmm. Source: unfuse_bias_add_to_pointwise, post_grad.py (torch 2.14)."""
    frame = place.site.facts.alignment.lineage.frames[place.view.compiled.compile_id]
    event = frame.made_by.get(place.product.name)
    return event is None or event.pattern != _UNFUSED_BY


def nothing_is_between(place: ProductAndSum) -> bool:
    """Return whether the addition takes the product itself. Source: addmm, post_grad.py (torch 2.14)."""
    return not place.between


def product_has_one_user(place: ProductAndSum) -> bool:
    """Return whether only the addition reads the product: a pattern's inner nodes have one user.

    Source: CallFunction's `_users`, torch/_inductor/pattern_matcher.py (torch 2.14).
    """
    return len(place.product_users) == 1


def sum_is_unscaled(place: ProductAndSum) -> bool:
    """Return whether the addition has no alpha: the pattern has none. Source: addmm, post_grad.py (torch 2.14)."""
    return "alpha=" not in place.adding.arguments


def addend_fits_product(place: ProductAndSum) -> bool:
    """Return whether the addend can be broadcast to the product.

    Source: is_valid_addmm_fusion, post_grad.py (torch 2.14).
    """
    addend, product = place.view.tensor(place.addend), place.view.tensor(place.product.name)
    return addend is not None and product is not None and _expands(addend.shape, product.shape)


def _expands(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    pairs = zip(reversed(shape), reversed(wanted), strict=False)
    return len(shape) <= len(wanted) and all(size in {1, other} for size, other in pairs)


def dtypes_are_one(place: Biased) -> bool:
    """Return whether addend and matrices have one dtype. Source: is_valid_addmm_fusion, post_grad.py (torch 2.14)."""
    metas = [place.view.tensor(name) for name in (place.addend, *place.matrices)]
    return len({meta.dtype for meta in metas if meta is not None}) == 1


def sum_belongs_in_the_gemm(place: Biased) -> bool:
    """Return whether Inductor does not prefer to add in a pointwise kernel after the product.

    Source: should_prefer_unfused_addmm, torch/_inductor/fx_passes/post_grad.py (torch 2.14).
    """
    return not (runs_on_gpu(place) and adds_a_bias(place) and has_only_pointwise_readers(place))


def runs_on_gpu(place: Biased) -> bool:
    """Return whether the addend is on a GPU. Source: should_prefer_unfused_addmm, post_grad.py (torch 2.14)."""
    return place.device in {"cuda", "xpu"}


def adds_a_bias(place: Biased) -> bool:
    """Return whether the addend is an input of the graph, or broadcast.

    Source: _is_bias_like_addmm_input, post_grad.py (torch 2.14).
    """
    node = place.view.nodes[place.addend]
    addend, total = place.view.tensor(place.addend), place.view.tensor(place.adding.name)
    if node.op in {"placeholder", "get_attr"}:
        return True
    return addend is not None and total is not None and _is_broadcast(addend, total)


def _is_broadcast(addend: TensorMeta, total: TensorMeta) -> bool:
    if len(addend.shape) != len(total.shape):
        return True
    if addend.shape != total.shape:
        pairs = zip(addend.shape, total.shape, strict=True)
        return any(size == 1 != other for size, other in pairs)
    return 0 in addend.stride


def has_only_pointwise_readers(place: Biased) -> bool:
    """Return whether all that reads the sum is pointwise. Source: should_prefer_unfused_addmm, post_grad.py (torch 2.14)."""
    return not place.other_reader


def is_not_kept_for_half(place: AddedBias) -> bool:
    """Return whether the bias has more than 16 bits, or Inductor was told to split those too.

    Source: keep_addmm_fused_for_half_dtypes, torch/_inductor/config.py (torch 2.14).
    """
    meta = place.view.tensor(place.addend)
    told = place.site.run.options.options.get("keep_addmm_fused_for_half_dtypes") is False
    return told or meta is None or meta.dtype not in {"bfloat16", "float16"}


ADDMM_NEEDS: tuple[Need[ProductAndSum], ...] = (
    Need(
        holds=product_is_mm,
        otherwise="The product is {it.product_text} of {it.matrix_shapes}: the pattern takes aten::mm alone.",
        location=_POST_GRAD,
    ),
    Need(
        holds=was_not_split_on_purpose,
        otherwise="It was an addmm, which unfuse_bias_add_to_pointwise split so that {it.readers_text} can add the bias "
        "{it.addend_shape} in their kernel.",
        location=_POST_GRAD,
    ),
    Need(
        holds=nothing_is_between,
        otherwise="Between the product and the addition stands {it.in_the_way}: the pattern takes an addition of the "
        "product itself.",
        location=_POST_GRAD,
    ),
    Need(
        holds=product_has_one_user,
        otherwise="The product {it.product_shape} has {it.users}. The pattern takes a product that only the addition reads.",
        location="torch/_inductor/pattern_matcher.py",
    ),
    Need(
        holds=sum_is_unscaled,
        otherwise="The addition has an alpha ({it.adding.arguments}): the pattern takes one without.",
        location=_POST_GRAD,
    ),
    Need(
        holds=addend_fits_product,
        otherwise="The addend {it.addend_shape} cannot be broadcast to the product {it.product_shape}.",
        location=_POST_GRAD,
    ),
    Need(
        holds=dtypes_are_one,
        otherwise="The addend is {it.addend_shape} and the matrices are {it.matrix_shapes}: addmm asks for one dtype.",
        location=_POST_GRAD,
    ),
    Need(
        holds=sum_belongs_in_the_gemm,
        otherwise="The addend {it.addend_shape} is {it.addend_text}, and only pointwise ops read the sum "
        "({it.readers_text}): on a GPU Inductor adds it in their kernel.",
        location=_POST_GRAD,
    ),
)
UNFUSED_NEEDS: tuple[Need[AddedBias], ...] = (
    Need(
        holds=runs_on_gpu,
        otherwise="The bias {it.addend_shape} is on {it.device}: Inductor splits addmm on a GPU alone.",
        location=_POST_GRAD,
    ),
    Need(
        holds=dtypes_are_one,
        otherwise="The bias is {it.addend_shape} and the matrices are {it.matrix_shapes}: the split asks for one dtype.",
        location=_POST_GRAD,
    ),
    Need(
        holds=adds_a_bias,
        otherwise="The bias {it.addend_shape} is computed by {it.addend_text} and as large as the product: only an input of "
        "the graph or a broadcast tensor counts as a bias.",
        location=_POST_GRAD,
    ),
    Need(
        holds=has_only_pointwise_readers,
        otherwise="The sum is read by {it.other_reader}, which is not pointwise: nothing is there to add the bias in.",
        location=_POST_GRAD,
    ),
    Need(
        holds=is_not_kept_for_half,
        otherwise="The bias is {it.addend_shape}: Inductor keeps addmm whole for 16-bit floats, which would be "
        "rounded once more (option keep_addmm_fused_for_half_dtypes).",
        location="torch/_inductor/config.py",
    ),
)
ADDMM = Opportunity(
    rule="mm-add-to-addmm",
    kind="aten::mm followed by an addition",
    find=products_and_sums,
    needs=ADDMM_NEEDS,
    of=("aten::mm", "aten::bmm"),
    expected=True,
)
UNFUSED = Opportunity(
    rule="addmm-unfused-bias", kind="aten::addmm", find=added_biases, needs=UNFUSED_NEEDS
)
