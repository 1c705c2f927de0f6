"""Repeated layers: shown once, nothing lost, differences kept."""

import msgspec
import pytest

from compdiff.report.cards import make_rewrites
from compdiff.report.folding import Fold, Folding, fold
from compdiff.report.folding_markup import fold_data, led_home
from compdiff.report.lookup import Lookup
from compdiff.report.rows import make_rows
from compdiff.report.tables import make_kernel_tables, make_op_tables
from tests.report.examples import EXAMPLES, Example
from tests.report.layers import layered


def folded(example: Example) -> Folding:
    """Return an example's alignment, folded."""
    lookup = Lookup(*example)
    return fold(make_rows(lookup), make_rewrites(lookup))


@pytest.fixture(name="layers", scope="module")
def _layers() -> Example:
    return layered(27)


def test_layers_are_one_fold(layers: Example) -> None:
    """All 27 of them, of which one differs."""
    (only,) = folded(layers).folds
    assert (only.count, only.unlike, len(only.groups)) == (27, 1, 60)
    assert only.label == "layers.0.blocks"
    assert only.others[-1].label == "layers.26.blocks"


def test_what_differs_is_kept(layers: Example) -> None:
    """The layer whose last op call was not fused has just that part of its own."""
    (only,) = folded(layers).folds
    (other,) = [other for other in only.others if other.differing]
    ops = [op.id for group in other.differing for block in group.blocks for op in block.ops]
    assert other.number == 25
    assert "e2499" in ops
    assert len(ops) == 3


def test_every_item_is_shown_or_stands_for_by_one_that_is(layers: Example) -> None:
    """Op calls and kernels of both sides, and rewrites; none stands for itself."""
    folding = folded(layers)
    lookup = Lookup(*layers)
    names = {*lookup.names, *lookup.rule_of}
    shown = {name for name in names if folding.shown(name)}
    assert set(folding.anchors) | shown == names
    assert set(folding.anchors.values()) <= shown
    assert sum(map(len, folding.repeats.values())) == len(folding.anchors)


def test_cells_lead_to_their_counterparts(layers: Example) -> None:
    """The second layer has what its own op calls became in the places of the first one's."""
    (only,) = folded(layers).folds
    second = dict(zip(only.cells, only.texts[0], strict=True))
    assert second["e2"] == "e102"
    assert second["r1"] == "r41"
    assert second["layers.0.blocks.3"] == "layers.1.blocks.3"
    assert second["traced as permute_e0"] == "traced as permute_e100"


def test_tables_have_sums(layers: Example) -> None:
    """A row for the first of each, with the time of all."""
    lookup = Lookup(*layers)
    left, _ = make_op_tables(lookup, folded(layers))
    assert left.count == 2700
    assert len(left.rows) < 120
    assert left.rows[0].again.startswith("x 27, ")
    right, _ = make_kernel_tables(lookup, folded(layers))
    assert right.count > len(right.rows)


@pytest.mark.parametrize("example", EXAMPLES)
def test_small_runs_are_not_folded(example: type[Example]) -> None:
    """What is shown in full needs no arrows."""
    folding = folded(example())  # type: ignore[call-arg]
    assert not any(isinstance(row, Fold) for row in folding.rows)
    assert folding.anchors == {}


def test_links_lead_home() -> None:
    """A link to what is folded leads to what stands for it, any other one stays."""
    html = '<a href="#e104">x</a> <a href="#e4">y</a> href="#e104x"'
    assert led_home(html, {"e104": "e4"}) == '<a href="#e4">x</a> <a href="#e4">y</a> href="#e104x"'


def test_data_may_stand_in_a_script(layers: Example) -> None:
    """No text of it ends the element."""
    run, diff = layers
    calls = tuple(
        msgspec.structs.replace(call, module=call.module + "</script>")
        for call in run.left.op_calls
    )
    left = msgspec.structs.replace(run.left, op_calls=calls)
    data = fold_data(folded(Example(msgspec.structs.replace(run, left=left), diff)))
    assert "<" not in data
    assert msgspec.json.decode(data)["f1"]["texts"][0]
