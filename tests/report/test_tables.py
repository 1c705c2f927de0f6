"""Tests of compdiff.report.tables."""

import pytest

from compdiff.model import Kernel
from compdiff.report.tables import name_text


@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        ("volta_sgemm_128x64_tn", "library", "cuBLAS GEMM, sm70, f32, tile 128x64, tn"),
        ("Memcpy DtoD (Device -> Device)", "memcpy", "CUDA runtime copy on the device"),
        ("triton_poi_fused_add_0", "triton", ""),
        ("aten::mm", "library", ""),
    ],
)
def test_a_kernels_name_in_words(name: str, kind: str, text: str) -> None:
    """A library's kernel is told in words; a generated or unknown one is left with its name."""
    assert name_text(Kernel(id=0, name=name, kind=kind)) == text
