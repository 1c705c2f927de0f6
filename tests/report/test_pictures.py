"""Time by kernel family, and the roofline of a plan: pictures and tables say the same."""

import pytest

from compdiff.report.families import family_text, make_families
from compdiff.report.roofline import HEIGHT, WIDTH, make_roofline
from tests.builders import kernel, run
from tests.report.examples import traced
from tests.variants import golden, planned_golden

PLANNED = ("linear-size4096", "linear-size64", "mlp_geglu", "conv_bn_relu", "training_step")


def test_all_kernels_are_in_a_family() -> None:
    """The counts add up on both sides."""
    example = traced()
    view = make_families(example.run)
    assert view is not None
    assert sum(int(row.left.count) for row in view.rows) == len(example.run.left.kernels)
    assert sum(int(row.right.count) for row in view.rows) == len(example.run.right.kernels)


@pytest.mark.parametrize(
    ("name", "kind", "family"),
    [
        ("triton_poi_fused_add_0", "triton", "Triton, by Inductor"),
        ("cpp_fused_add_0", "cpp", "C++, by Inductor"),
        ("Memcpy DtoD", "memcpy", "copy"),
        ("what is this", "library", "names that no table reads"),
        ("ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn", "library", "cuBLAS gemm"),
    ],
)
def test_the_family_of_a_kernel(name: str, kind: str, family: str) -> None:
    """Generated ones by generator, others by what their names say."""
    assert family_text(kernel(0, name, kind=kind)) == family


def test_no_kernel_no_family() -> None:
    """Then there is nothing to draw."""
    assert make_families(run()) is None


@pytest.mark.parametrize("case", PLANNED)
def test_points_lie_within_the_picture_and_not_above_the_roof(case: str) -> None:
    """An estimate is never faster than the target's memory and peaks allow."""
    planned, _ = planned_golden(case)
    view = make_roofline(planned)
    assert view is not None
    top = min(float(roof.points.split()[-1].split(",")[1]) for roof in view.roofs)
    for point in view.points:
        assert view.left <= float(point.x) <= WIDTH
        assert top - 0.2 <= float(point.y) <= HEIGHT


@pytest.mark.parametrize("case", PLANNED)
def test_the_table_has_every_estimated_kernel(case: str) -> None:
    """Those that compute nothing, which the picture cannot show, too."""
    planned, _ = planned_golden(case)
    view = make_roofline(planned)
    assert view is not None
    kernels = (*planned.left.kernels, *planned.right.kernels)
    assert view.more == 0
    assert sum(int(row.count) for row in view.rows) == len(kernels)


def test_what_was_measured_has_no_roofline() -> None:
    """Its FLOPs and bytes are not known."""
    assert make_roofline(golden("linear")) is None
