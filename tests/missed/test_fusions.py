"""Tests of compdiff.missed.fusions, kernel_pairs and fusion_reasons: pairs of kernels, and why they are two."""

import pytest

from compdiff.missed.engine import first_failure
from compdiff.missed.fusion_reasons import FUSION_REASONS
from compdiff.missed.fusions import EPILOGUE, REDUCTIONS
from compdiff.missed.kernel_pairs import kernel_pairs
from compdiff.missed.place import Site
from compdiff.model import GraphNode, Kernel, Refusal, WrapperCall
from tests.builders import tensor
from tests.missed.graphs import given, made, returned, site

ROWS = tensor(64, 1, device="cuda:0")
WIDE = tensor(64, 32, device="cuda:0")
SUM = made("sum_1", "aten.sum.dim_IntList", "x", gives=ROWS)
SCALE = made("mul", "aten.mul.Tensor", "x", "sum_1", gives=WIDE)
TOTAL = made("sum_2", "aten.sum.default", "mul", gives=tensor(device="cuda:0"))


def kernels(*names: str) -> tuple[Kernel, ...]:
    """Return generated kernels, each made by the wrapper call of its number."""
    found = (
        Kernel(id=number, name=name, kind="triton", graph=0, call=number)
        for number, name in enumerate(names)
    )
    return tuple(found)


def wrapper(*nodes: tuple[str, ...]) -> tuple[WrapperCall, ...]:
    """Return the wrapper's calls of generated kernels that compute these nodes."""
    return tuple(
        WrapperCall(index=number, name=f"triton_{number}", kind="triton", nodes=names)
        for number, names in enumerate(nodes)
    )


def two(reason: str | None, *, whole: bool = True, last: GraphNode = SCALE) -> Site:
    """Return a run whose row sums are one kernel and what reads them another; None where nothing was recorded."""
    refusal = Refusal(first=0, second=1, tensors=("sum_1",), reason=reason or "", whole=whole)
    own = (last.name,) if last is SCALE else ("mul", last.name)
    return site(
        given("x", 64, 32),
        SUM,
        SCALE,
        *(() if last is SCALE else (last,)),
        returned(last.name),
        calls=wrapper(("sum_1",), own),
        refusals=None if reason is None else (refusal,),
        kernels=kernels(
            "triton_red_fused_sum_0",
            "triton_poi_fused_mul_1" if last is SCALE else "triton_per_sum_1",
        ),
    )


def told(where: Site) -> tuple[str, str]:
    """Return (condition, sentence) of the only pair."""
    (pair,) = kernel_pairs(where)
    return first_failure(REDUCTIONS, pair)[:2]


REASONS = {
    "numel/rnumel mismatch (reduce) (64, 1), (32, 2048)": (
        "reductions_of_one_shape",
        "The first kernel reduces rows of 32 elements (64 of them), the second rows of 2048 (1): no loop does both.",
    ),
    "numel/rnumel mismatch (non-reduce) (64, 128), (1, 1)": (
        "loops_of_one_length",
        "The first kernel makes 64 elements, the second 128: they have no loop in common.",
    ),
    "nodes numel incompatibility": (
        "rows_fit_the_reduction",
        "The reduction (f32[64, 32] to f32[64, 1]) and the elements of the other kernel (f32[64, 32]) do not fit one loop.",
    ),
    "tiling mismatch (a, b, c)": (
        "tiles_fit",
        "Both go over aten::sum f32[64, 1], but their loops are tiled in different ways.",
    ),
    "no shared data": (
        "goes_over_it_alike",
        (
            "The second kernel loads aten::sum f32[64, 1] in another loop than the one that stores it: the two go "
            "over it in different shapes or orders."
        ),
    ),
    "memory deps did not match": (
        "reads_what_was_just_written",
        (
            "The second kernel reads aten::sum f32[64, 1] at other places than the first has just written (shifted, "
            "transposed, gathered or reduced)."
        ),
    ),
    "intermediate nodes between node1 & node2": (
        "nothing_is_between",
        "Another kernel lies between: it needs a result of the first, and the second needs its result.",
    ),
    "device mismatch (cpu vs cuda:0)": (
        "is_on_one_device",
        "The first kernel runs on cpu, the second on cuda:0.",
    ),
    "node1 is extern but not a triton kernel": (
        "takes_an_epilogue",
        "triton_red_fused_sum_0 is a library call, which takes no epilogue; a Triton template would (mode max-autotune).",
    ),
    "template epilogue not satisfied": (
        "epilogue_fits_the_template",
        "The template takes no reduction and nothing that writes in place as its epilogue.",
    ),
    "exceeds max fusion": (
        "is_small_enough",
        "Both together have more ops than one kernel may have (option max_fusion_size).",
    ),
    "Fusion will increase peak memory": (
        "keeps_memory_low",
        "One kernel for both would hold more memory at its peak.",
    ),
    "words of a later torch": (
        "scheduler_agrees",
        "The scheduler says of the two: words of a later torch.",
    ),
}


@pytest.mark.parametrize("words", sorted(REASONS))
def test_the_scheduler_is_told_in_plain_words(words: str) -> None:
    """Each reason becomes one sentence with its numbers; unknown words are shown as they are."""
    assert told(two(words)) == REASONS[words]


def test_each_row_of_the_table_is_tested() -> None:
    """No row without a sentence above."""
    assert {row.name for row in FUSION_REASONS} == {name for name, _ in REASONS.values()} - {
        "scheduler_agrees"
    }


def test_what_was_said_of_parts_is_said_so() -> None:
    """The shapes of the whole kernels do not explain what was said of parts of them."""
    condition, sentence = told(two("nodes numel incompatibility", whole=False))
    assert condition == "scheduler_agrees"
    assert sentence == "The scheduler says of parts of the two: nodes numel incompatibility."


def test_shapes_stand_in_where_no_words_were_recorded() -> None:
    """Two reductions of other shapes are told by their shapes."""
    condition, sentence = told(two(None, last=TOTAL))
    assert condition == "reduces_alike"
    assert (
        sentence
        == "The first kernel reduces f32[64, 32] to f32[64, 1], the second f32[64, 32] to f32[]."
    )


def test_nothing_is_claimed_where_nothing_is_known() -> None:
    """Without the scheduler's words and without a difference in shape there is no reason."""
    condition, sentence = told(two(None))
    assert condition == ""
    assert sentence.endswith("why they are two is not recorded.")


def test_a_pair_costs_a_launch_and_what_lies_between() -> None:
    """The sums are written and read again, by the second kernel alone."""
    (pair,) = kernel_pairs(two("no shared data"))
    assert (pair.cost.launches, pair.cost.bytes_moved) == (1, 2 * 64 * 4)


def test_the_words_of_a_graph_that_was_heard_are_exact() -> None:
    """Where the scheduler was heard and refused nothing, nodes that a kernel only names make no pair."""
    where = two("no shared data")
    graph = where.run.right.compiler.graphs[0] if where.run.right.compiler else None
    assert graph is not None
    heard = site(
        *(graph.post_grad.nodes if graph.post_grad else ()),
        calls=graph.calls,
        refusals=(),
        kernels=kernels("triton_red_fused_sum_0", "triton_poi_fused_mul_1"),
    )
    assert list(kernel_pairs(heard)) == []


def chain() -> Site:
    """Return a kernel whose result a product and a last kernel take, which takes the product too."""
    refusal = Refusal(first=0, second=2, tensors=("relu",), reason="no shared data")
    calls = (
        WrapperCall(index=0, name="triton_0", kind="triton", nodes=("relu",)),
        WrapperCall(index=1, name="extern_kernels.mm", kind="extern", nodes=("mm",)),
        WrapperCall(index=2, name="triton_2", kind="triton", nodes=("add",)),
    )
    square = tensor(64, 64, device="cuda:0")
    made_by = tuple(
        Kernel(id=number, name=name, kind=kind, graph=0, call=number)
        for number, (name, kind) in enumerate(
            (("triton_poi_relu_0", "triton"), ("gemm", "library"), ("triton_poi_add_1", "triton"))
        )
    )
    return site(
        given("x", 64, 64),
        made("relu", "aten.relu.default", "x", gives=square),
        made("mm", "aten.mm.default", "relu", "x", gives=square),
        made("add", "aten.add.Tensor", "mm", "relu", gives=square),
        returned("add"),
        calls=calls,
        refusals=(refusal,),
        kernels=made_by,
    )


def test_a_kernel_between_two_comes_before_what_the_scheduler_said() -> None:
    """What keeps the two apart is the product, and it costs nothing that one kernel would spare."""
    pair = next(it for it in kernel_pairs(chain()) if (it.first.index, it.second.index) == (0, 2))
    condition, sentence, _ = first_failure(REDUCTIONS, pair)
    assert condition == "nothing_is_between"
    assert sentence.startswith("gemm (k1) lies between")
    assert pair.quote == ""
    assert pair.cost.launches == 0


def test_a_library_call_takes_no_epilogue() -> None:
    """The addition after the product is its own kernel."""
    (pair,) = EPILOGUE.find(chain())
    assert first_failure(EPILOGUE, pair)[:2] == (
        "takes_an_epilogue",
        "gemm is a library call, which takes no epilogue but those of torch's own patterns for it.",
    )


def test_two_devices_are_told() -> None:
    """Kernels on a GPU and on a CPU are never one."""
    on_cpu = made("mul", "aten.mul.Tensor", "x", "sum_1", gives=tensor(64, 32))
    where = site(
        given("x", 64, 32),
        SUM,
        on_cpu,
        returned("mul"),
        calls=wrapper(("sum_1",), ("mul",)),
        kernels=kernels("triton_red_fused_sum_0", "cpp_fused_mul_1"),
    )
    assert told(where) == ("is_on_one_device", "They run on cuda:0 and cpu.")
