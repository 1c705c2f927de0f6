"""The table of switches."""

from compdiff.precision.switches import LAYERS, SWITCHES


def test_names_are_unique() -> None:
    """A name in a verdict means one row."""
    names = [row.name for row in (*LAYERS, *SWITCHES)]
    assert len(set(names)) == len(names)


def test_each_row_changes_one_thing() -> None:
    """A row sets a backend, or options, or the precision of products: what closes the gap is then known."""
    for row in (*LAYERS, *SWITCHES):
        changes = [row.backend != "inductor", bool(row.options), row.full_float32]
        assert changes.count(True) == 1, row.name


def test_layers_leave_inductor_out() -> None:
    """Only a layer has a backend of its own."""
    assert all(row.kind == "layer" and row.backend != "inductor" for row in LAYERS)
    assert all(row.kind == "switch" and row.backend == "inductor" for row in SWITCHES)
