"""All places that are looked at, by rule. In: nothing, this is a table. Out: OPPORTUNITIES."""

from typing import Any

from compdiff.missed.attention import SDPA
from compdiff.missed.conv_bn import CONV_BN
from compdiff.missed.fusions import EPILOGUE, POINTWISE, REDUCTIONS
from compdiff.missed.padding import PADDED
from compdiff.missed.place import Opportunity
from compdiff.missed.products import ADDMM, UNFUSED

OPPORTUNITIES: tuple[Opportunity[Any], ...] = (
    SDPA,
    ADDMM,
    UNFUSED,
    PADDED,
    CONV_BN,
    EPILOGUE,
    REDUCTIONS,
    POINTWISE,
)
