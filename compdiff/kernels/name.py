"""What a kernel's name says. In: nothing. Out: KernelName, the record that the readers fill in."""

from dataclasses import dataclass

UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class KernelName:
    """The parts of one kernel name; empty or None where the name does not say.

    `family` is the library or generator (`cuBLAS`, `ATen`, `Triton`), `computes` a word to group by (`gemm`, `copy`),
    `meaning` the same in words for a reader. `function` is the name without template arguments and parameters.
    `dtypes` are those named, in order of first mention. `tile` is what one block computes: M, N and K for a GEMM.
    `instruction` is the shape of the matrix instruction. `layout` is as the library writes it, in lower case (`tn`, `nhwc`).
    `alignment` counts elements. `functor` is what an elementwise or reduction template does to each element, `fused`
    lists the ops that a generated kernel is named after: it can be more than the kernel runs.
    """

    family: str
    computes: str
    meaning: str = ""
    function: str = ""
    arch: str = ""
    dtypes: tuple[str, ...] = ()
    tile: tuple[int, ...] = ()
    instruction: tuple[int, ...] = ()
    stages: int | None = None
    layout: str = ""
    split_k: bool = False
    alignment: int | None = None
    epilogue: tuple[str, ...] = ()
    functor: str = ""
    fused: tuple[str, ...] = ()

    @property
    def known(self) -> bool:
        """Return whether any row of the tables reads this name."""
        return self.family != UNKNOWN

    def text(self) -> str:
        """Return one line for a reader: `cuBLAS GEMM, sm80, bf16, tile 128x256x64, tn`; "" for an unknown name."""
        if not self.known:
            return ""
        head = f"{self.family} {self.meaning}" + (f" ({self.functor})" if self.functor else "")
        return ", ".join(part for part in (head, *self._details()) if part)

    def _details(self) -> tuple[str, ...]:
        return (
            self.arch,
            " ".join(self.dtypes),
            f"tile {'x'.join(map(str, self.tile))}" if self.tile else "",
            f"{self.stages} stages" if self.stages else "",
            self.layout,
            "split-K" if self.split_k else "",
            f"with {' and '.join(self.epilogue)}" if self.epilogue else "",
        )
