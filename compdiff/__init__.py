"""compdiff shows what torch.compile did to a function.

`compdiff.compare(fn, *args)` measures a function here, `compdiff.load(path)` reads a saved run: both return a `Report`.
"""

from typing import TYPE_CHECKING

__version__ = "0.1.0"
__all__ = ["Report", "Run", "__version__", "compare", "load"]

if TYPE_CHECKING:
    from compdiff.api import Report, compare, load
    from compdiff.model import Run
else:

    def __getattr__(name: str) -> object:
        """Return a public name, imported now: `import compdiff` itself is fast and loads nothing."""
        if name not in __all__:
            raise AttributeError(f"module 'compdiff' has no attribute {name!r}")
        from compdiff import api  # noqa: PLC0415

        return getattr(api, name)
