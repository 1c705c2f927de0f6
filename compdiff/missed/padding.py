"""Matrix products that might be padded. In: joint graphs. Out: places, and what pad_mm asks there."""

from collections.abc import Iterator
from dataclasses import dataclass

from compdiff.missed.place import GraphPlace, Need, Opportunity, Site
from compdiff.missed.views import joint_views
from compdiff.model import GraphNode, TensorMeta

_PAD_MM = "torch/_inductor/fx_passes/pad_mm.py"
# Sizes that are multiples of this need no padding. Source: get_alignment_size_dtype, pad_mm.py (torch 2.14).
_ALIGNMENT = {"float16": 8, "bfloat16": 8, "float32": 4}
_TARGETS = ("aten.mm.default", "aten.addmm.default", "aten.bmm.default")
_HOPPER = (9, 0)
_SAFETY = 0.5
_TERA_PER_GIGA = 1000


@dataclass(frozen=True)
class Product(GraphPlace):
    """A matrix product that was not padded."""

    node: GraphNode

    @property
    def names(self) -> tuple[str, ...]:
        """The product."""
        return (self.node.name,)

    @property
    def matrices(self) -> tuple[TensorMeta, ...]:
        """The two matrices, as far as they are known."""
        metas = (self.view.tensor(name) for name in self.view.operands(self.node)[-2:])
        return tuple(meta for meta in metas if meta is not None)

    @property
    def text(self) -> str:
        """What to call the product."""
        return self.view.text(self.node.name)

    @property
    def shapes(self) -> str:
        """Dtypes and shapes of the matrices."""
        names = self.view.operands(self.node)[-2:]
        return " and ".join(self.view.shape(name) for name in names)

    @property
    def device(self) -> str:
        """The device of the first matrix."""
        return self.matrices[0].device.partition(":")[0] if self.matrices else "no device"

    @property
    def dtype(self) -> str:
        """The dtype of the first matrix."""
        return self.matrices[0].dtype if self.matrices else "no dtype"

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Rows, inner size and columns."""
        first, second = self.matrices
        return first.shape[-2], first.shape[-1], second.shape[-1]

    @property
    def sizes_text(self) -> str:
        """Rows, inner size and columns with their names."""
        return "m = {:,}, k = {:,}, n = {:,}".format(*self.sizes)

    @property
    def alignment(self) -> int:
        """What the sizes should be multiples of; 0 for a dtype that is never padded."""
        return _ALIGNMENT.get(self.dtype, 0)

    @property
    def intensity(self) -> float:
        """Multiplications for each element moved."""
        m, k, n = self.sizes
        moved = m * k + n * k + m * n
        return m * k * n / moved if moved else 0.0

    @property
    def balance(self) -> float:
        """What a product of the target must have more of to be compute-bound; 0 where there is no target.

        Source: is_mm_compute_bound, torch/_inductor/fx_passes/pad_mm.py (torch 2.14).
        """
        target = self.site.run.target
        if target is None:
            return 0.0
        tflops = target.peak_tflops.get(self.dtype, target.peak_tflops["float32"])
        return _SAFETY * _TERA_PER_GIGA * tflops / int(target.memory_gb_per_s)


def unpadded_products(site: Site) -> Iterator[Product]:
    """Yield each product of the joint graphs that pad_mm left as it was."""
    for view in joint_views(site):
        frame = site.facts.alignment.lineage.frames[view.compiled.compile_id]
        for node in view.of_op(*_TARGETS):
            events = frame.gone.get(node.name, ())
            place = Product(site, view, node)
            if len(place.matrices) == 2 and not any(_PAD_MM in it.location for it in events):  # noqa: PLR2004
                yield place


def is_on_a_gpu(place: Product) -> bool:
    """Return whether the matrices are on a GPU. Source: check_device, pad_mm.py (torch 2.14)."""
    return place.device in {"cuda", "xpu"}


def padding_is_on(place: Product) -> bool:
    """Return whether the option shape_padding is on, as it is unless told. Source: can_pad, pad_mm.py (torch 2.14)."""
    return place.site.run.options.options.get("shape_padding") is not False


def dtype_is_padded(place: Product) -> bool:
    """Return whether there is an alignment for the dtype. Source: get_alignment_size_dtype, pad_mm.py (torch 2.14)."""
    return place.alignment > 0


def some_size_is_unaligned(place: Product) -> bool:
    """Return whether a size is no multiple of the alignment; a size of 1 is never padded.

    Source: get_padded_length, torch/_inductor/fx_passes/pad_mm.py (torch 2.14).
    """
    return any(size not in {-1, 1} and size % place.alignment for size in place.sizes)


def is_compute_bound(place: Product) -> bool:
    """Return whether the product is compute-bound by Inductor's rule; of a GPU whose rates are not known it may be.

    Source: is_mm_compute_bound, torch/_inductor/fx_passes/pad_mm.py (torch 2.14).
    """
    target = place.site.run.target
    m, k, n = place.sizes
    long = place.dtype == "bfloat16" and k > m and k > n
    if target is None or (long and tuple(target.capability) < _HOPPER):
        return True
    return place.intensity > place.balance


PADDED = Opportunity(
    rule="matmul-padded",
    kind="aten::mm, aten::addmm or aten::bmm that was not padded",
    find=unpadded_products,
    needs=(
        Need(
            holds=is_on_a_gpu,
            otherwise="{it.text} runs on {it.device}: Inductor pads for tensor cores, on a GPU alone.",
            location=_PAD_MM,
        ),
        Need(
            holds=padding_is_on,
            otherwise="The option shape_padding is off.",
            location=_PAD_MM,
        ),
        Need(
            holds=dtype_is_padded,
            otherwise="The matrices are {it.shapes}: Inductor pads 16-bit floats and float32 alone.",
            location=_PAD_MM,
        ),
        Need(
            holds=some_size_is_unaligned,
            otherwise="Nothing to pad: {it.sizes_text} are all multiples of {it.alignment}, or 1.",
            location=_PAD_MM,
        ),
        Need(
            holds=is_compute_bound,
            otherwise="The product ({it.sizes_text}) is memory-bound by Inductor's rule: {it.intensity:.3g} "
            "multiplications for each element moved, and padding begins above {it.balance:.3g}.",
            location=_PAD_MM,
        ),
    ),
    rest="The sizes allow it. Inductor then decides by the GPU's rates, or times both ways and pads where that is 1.1 times "
    "faster: it did not.",
)
