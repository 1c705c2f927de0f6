"""Imports go down only. The map of layers, highest first, as in docs/design.md."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import compdiff

PACKAGE = Path(compdiff.__file__).resolve().parent

# A module may import modules of its own layer only within one package, and those of any layer below.
LAYERS = (
    ("__main__",),
    ("cli",),
    ("api",),
    ("regression",),
    ("report", "archive"),
    ("expect",),
    ("analysis",),
    ("findings",),
    ("missed",),
    ("rewrites",),
    ("align",),
    ("capture", "importers"),
    ("store",),
    ("case", "doctor", "ladder", "precision"),
    (
        "casefile",
        "selection",
        "timing",
        "kineto",
        "estimate",
        "work",
        "plan_accuracy",
        "lanes",
        "targets",
        "kernels",
        "compile_log",
    ),
    ("source", "tensor_text"),
    ("model",),
    ("errors", "forked"),
)
RANKS = {name: rank for rank, names in enumerate(LAYERS) for name in names}
ONLY_IN = {
    "torch": {"capture"},
    "triton": {"capture"},
    "jinja2": {"report"},
    "click": {"cli"},
    "pygments": {"report"},
    "sqlalchemy": {"archive"},
    "fsspec": {"archive"},
}
PRIVATE_TORCH = re.compile(r"^torch(\.\w+)*\._\w+")
# Named so by torch, and used by everyone: dispatch modes and nested containers.
AS_GOOD_AS_PUBLIC = ("torch.utils._python_dispatch", "torch.utils._pytree")
# Where private names may stand: what the compiler says, and what a plan answers in the place of a device.
PRIVATE_MODULES = {
    Path("capture/fusion_log.py"),
    Path("capture/inductor.py"),
    Path("capture/pre_grad_log.py"),
    Path("capture/plan/case.py"),
    Path("capture/plan/compiler.py"),
    Path("capture/plan/device.py"),
    Path("capture/plan/on_cpu.py"),
    Path("capture/plan/traffic.py"),
}
MODULES = sorted(
    path
    for path in PACKAGE.rglob("*.py")
    if path.relative_to(PACKAGE).parts[0] not in {"cases", "templates"}
)


def layer_of(path: Path) -> str:
    """Return the layer of a file: its folder in the package, or its own name at the top."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imports(tree: ast.AST) -> Iterator[str]:
    """Yield the full name of everything that a tree imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def at_import(tree: ast.Module) -> Iterator[str]:
    """Yield what importing the module imports: not what its functions or TYPE_CHECKING do."""
    for statement in tree.body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield from imports(statement)


def parse(path: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


@pytest.fixture(name="module", params=MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def _module(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


def test_every_module_has_a_layer(module: Path) -> None:
    """A new module at the top of the package is put into the map."""
    assert layer_of(module) in {*RANKS, "__init__"}


def test_imports_go_down(module: Path) -> None:
    """No module imports one of a higher layer, nor another one of its own."""
    layer = layer_of(module)
    used = {name.split(".")[1] for name in imports(parse(module)) if name.startswith("compdiff.")}
    below = {name for name, rank in RANKS.items() if rank > RANKS.get(layer, -1)}
    assert used - below - {layer, "__version__"} == set()


def test_third_parties_stay_in_their_layer(module: Path) -> None:
    """Torch is imported only in capture, jinja2 only in report, click only in cli."""
    used = {name.split(".")[0] for name in imports(parse(module))}
    assert {name for name in used & set(ONLY_IN) if layer_of(module) not in ONLY_IN[name]} == set()


def test_private_torch_stays_in_one_module(module: Path) -> None:
    """Only the modules that exist for it import torch's private modules."""
    used = [name for name in imports(parse(module)) if PRIVATE_TORCH.match(name)]
    used = [name for name in used if not name.startswith(AS_GOOD_AS_PUBLIC)]
    assert used == [] or module.relative_to(PACKAGE) in PRIVATE_MODULES


def test_commands_load_late(module: Path) -> None:
    """Nothing in cli imports a report, a template engine or a measurement when it is imported."""
    if layer_of(module) == "cli":
        late = ("compdiff.report", "compdiff.capture", "compdiff.analysis", "rich.progress")
        assert [name for name in at_import(parse(module)) if name.startswith(late)] == []
