"""Makes a case callable. In: a CaseSpec, device, dtype. Out: a Workload: function, inputs.

The case's code runs here, so this is called in the child process. What is wrong with it as a case
is a CaseError; what its own code raises goes through unchanged, with its traceback.
"""

import functools
import inspect
import random
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import torch
from torch.utils._pytree import tree_leaves, tree_map

from compdiff.capture.case_module import (
    call_with,
    check_params,
    import_file,
    import_reference,
    member,
    parameter_names,
)
from compdiff.capture.case_settings import Tolerance, read_settings
from compdiff.errors import CaseError
from compdiff.model import CaseSpec, Expectation

_DTYPES: dict[str, torch.dtype] = {
    name: getattr(torch, name)
    for name in ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")
}
_DEFAULT_DTYPES = {"cpu": torch.float32, "cuda": torch.bfloat16}
_COTANGENT_SEED = 20_240_229


class Cotangents:
    """Random gradients of the outputs, made once, so that backward makes no extra ops."""

    def __init__(self) -> None:
        self._made: dict[tuple[int, torch.Size], torch.Tensor] = {}

    def of(self, outputs: list[torch.Tensor]) -> list[torch.Tensor | None]:
        """Return one gradient an output: None (implicitly one) for a scalar that stands alone."""
        if len(outputs) == 1 and outputs[0].numel() == 1:
            return [None]
        return [self._one(index, output) for index, output in enumerate(outputs)]

    def _one(self, index: int, output: torch.Tensor) -> torch.Tensor:
        key = (index, output.shape)
        if key not in self._made:
            # A generator of its own leaves the case's random numbers as they are.
            generator = torch.Generator().manual_seed(_COTANGENT_SEED + index)
            drawn = torch.randn(output.shape, generator=generator, dtype=torch.float64)
            self._made[key] = drawn.to(device=output.device, dtype=output.dtype)
        made = self._made[key]
        # A float64 reference gets the numbers as rounded for the outputs that came first.
        return made if made.dtype == output.dtype else made.to(output.dtype)


@dataclass(frozen=True)
class Workload:
    """A case ready to be called.

    `fn` is what torch.compile gets. `modules` and `leaves` are the modules and the tensors beside
    `args` whose gradients a backward pass fills. `dtype` is the one the inputs were asked for,
    empty where the case chose.
    """

    fn: Callable[..., object]
    args: tuple[object, ...]
    kwargs: dict[str, object]
    backward: bool = False
    compile_kwargs: dict[str, object] = field(default_factory=dict)
    tolerance: Tolerance | None = None
    expectation: Expectation | None = None
    source: str = ""
    dtype: str = ""
    modules: tuple[torch.nn.Module, ...] = ()
    leaves: tuple[torch.Tensor, ...] = ()
    cotangents: Cotangents = field(default_factory=Cotangents)

    def step(self, fn: Callable[..., object]) -> object:
        """Call `fn` once, backward included where the case asks; return its outputs."""
        return self._call(fn, self.args, self.kwargs, self._own_differentiable)

    def call(
        self, fn: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object]
    ) -> object:
        """Call `fn` once on other inputs than the workload's own, in the same way as `step`."""
        return self._call(fn, args, kwargs, self.differentiable(args, kwargs))

    def _call(
        self,
        fn: Callable[..., object],
        args: tuple[object, ...],
        kwargs: dict[str, object],
        differentiable: list[torch.Tensor],
    ) -> object:
        if not self.backward:
            with torch.no_grad():
                return fn(*args, **kwargs)
        for tensor in differentiable:
            tensor.grad = None
        outputs = fn(*args, **kwargs)
        self._backward(outputs)
        return outputs

    @functools.cached_property
    def _own_differentiable(self) -> list[torch.Tensor]:
        # Found once: to walk the modules in each timed call is time that the case does not spend.
        return self.differentiable(self.args, self.kwargs)

    def differentiable(
        self, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> list[torch.Tensor]:
        """Return the tensors that get a gradient: inputs, then parameters, each once."""
        found = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        found += self.leaves
        found += [parameter for module in self.modules for parameter in module.parameters()]
        return list({id(tensor): tensor for tensor in found if _takes_gradient(tensor)}.values())

    def _backward(self, outputs: object) -> None:
        roots = [
            leaf
            for leaf in tree_leaves(outputs)
            if isinstance(leaf, torch.Tensor) and leaf.requires_grad
        ]
        if not roots:
            raise CaseError(
                "The case sets BACKWARD = True, but no output of fn requires a gradient.",
                "Make an input with requires_grad=True, or drop BACKWARD.",
            )
        torch.autograd.backward(roots, self.cotangents.of(roots))


def load(spec: CaseSpec, device: str, dtype: str, seed: int) -> Workload:
    """Return the case as something to call, its inputs made on `device` after seeding.

    Args:
        spec: which case; its file is imported here.
        device: `cpu`, `cuda` or `cuda:N`.
        dtype: a floating dtype's name; empty is float32 on cpu, bfloat16 on cuda, a module's own.
        seed: for Python's and torch's generators, set before the inputs are made.

    Raises:
        CaseError: the file is not a case: it lacks a function, or a setting is wrong.
    """
    reseed(seed)
    form = _FORMS.get(spec.form)
    if form is None:
        raise CaseError(
            f"{spec.path}: unknown case form {spec.form!r}.", f"Forms are {', '.join(_FORMS)}."
        )
    return form(spec, torch.device(device), _dtype(dtype))


def reseed(seed: int) -> None:
    """Seed Python's and torch's generators, every device's included."""
    random.seed(seed)
    torch.manual_seed(seed)


def clone_inputs(workload: Workload) -> tuple[tuple[object, ...], dict[str, object]]:
    """Return copies of args and kwargs, strides and sharing kept; modules are not copied."""
    inputs = (workload.args, workload.kwargs)
    keep: dict[int, object] = {id(module): module for module in workload.modules}
    return deepcopy(inputs, keep)


def of_call(
    fn: Callable[..., object],
    args: tuple[object, ...],
    kwargs: dict[str, object],
    *,
    backward: bool,
    tolerance: Tolerance | None,
) -> Workload:
    """Return a call of a function that is already there; its inputs are copies, its modules and tensors the caller's own.

    Raises:
        CaseError: an argument cannot be copied.
    """
    reached = tree_leaves((args, kwargs, [fn, *_reached(fn)]))
    modules = _unique_modules(reached)
    given = (args, kwargs)
    try:
        args, kwargs = deepcopy(
            tree_map(_as_leaf, given), {id(module): module for module in modules}
        )
    except Exception as error:
        raise CaseError(
            f"an argument of {name_of(fn)} cannot be copied: {error}",
            "Arguments are copied so that the caller's stay as they are. Let the function make it, or name it as a global.",
        ) from error
    inputs = {id(leaf) for leaf in tree_leaves(given)}
    return Workload(
        fn=fn,
        args=args,
        kwargs=kwargs,
        backward=backward,
        tolerance=tolerance,
        modules=modules,
        leaves=tuple(
            item for item in reached if isinstance(item, torch.Tensor) and id(item) not in inputs
        ),
        source=_source_of(fn),
    )


def name_of(fn: Callable[..., object]) -> str:
    """Return what to call a function: its own name, or that of its class."""
    inner = fn.func if isinstance(fn, functools.partial) else fn
    return getattr(inner, "__name__", type(inner).__name__).strip("<>")


def source_object(fn: Callable[..., object]) -> object:
    """Return what has the source text of a function: of a module or another object, its class."""
    inner = fn.func if isinstance(fn, functools.partial) else fn
    return inner if inspect.isroutine(inner) else type(inner)


def _source_of(fn: Callable[..., object]) -> str:
    """Return the text of a function; "" where Python knows none, as of what was typed at a prompt."""
    try:
        return inspect.getsource(source_object(fn))  # type: ignore[arg-type]
    except (OSError, TypeError):
        return ""


def _reached(fn: Callable[..., object]) -> list[object]:
    """Return what a function works with beside its arguments: what it is bound to, its closure and the globals it names."""
    if isinstance(fn, functools.partial):
        return [fn.args, fn.keywords, *_reached(fn.func)]
    if inspect.ismethod(fn):
        return [*_held(fn.__self__), *_reached(fn.__func__)]
    if not inspect.isfunction(fn):
        return _held(fn)
    try:
        names = inspect.getclosurevars(fn)
    except ValueError:  # a closure that is not filled yet
        return []
    return [*names.nonlocals.values(), *names.globals.values()]


def _held(owner: object) -> list[object]:
    """Return a module itself, and the attributes of any other object."""
    if isinstance(owner, torch.nn.Module):
        return [owner]
    return list(getattr(owner, "__dict__", {}).values())


# ---------------------------------------------------------------- the three forms


def _load_file(spec: CaseSpec, device: torch.device, dtype: torch.dtype | None) -> Workload:
    """Form (a): `fn` and `inputs(device, dtype, **params)`."""
    case = import_file(Path(spec.path))
    fn = member(case, "fn", spec.path)
    chosen = dtype or _default_dtype(device)
    if isinstance(fn, torch.nn.Module):
        fn = fn.to(device=device, dtype=chosen)
    make = member(case, "inputs", spec.path)
    given = _call_inputs(make, spec, device, chosen)
    return _workload(spec, _Parts(case, fn, given, device, _name(chosen), _text(Path(spec.path))))


def _load_module(spec: CaseSpec, device: torch.device, dtype: torch.dtype | None) -> Workload:
    """Form (b): `Model`, `get_init_inputs()`, `get_inputs()`; these take the params they name."""
    case = import_file(Path(spec.path))
    model_class = member(case, "Model", spec.path)
    get_inputs = member(case, "get_inputs", spec.path)
    get_init = getattr(case, "get_init_inputs", tuple)
    params = _params(spec)
    check_params(spec.path, params, parameter_names(get_init) | parameter_names(get_inputs))
    args, kwargs = _arguments(call_with(get_init, params), spec, "get_init_inputs()")
    model = model_class(*args, **kwargs)
    if not isinstance(model, torch.nn.Module):
        raise CaseError(
            f"{spec.path}: Model(...) made a {type(model).__name__}, not a torch.nn.Module.",
            "Derive Model from torch.nn.Module.",
        )
    model = model.to(device=device, dtype=dtype)
    move = functools.partial(_moved, device=device, dtype=dtype)
    given = tree_map(move, call_with(get_inputs, params))
    name = _name(dtype) if dtype else ""
    return _workload(spec, _Parts(case, model, given, device, name, _text(Path(spec.path))))


def _load_reference(spec: CaseSpec, device: torch.device, dtype: torch.dtype | None) -> Workload:
    """Form (c): `package.module:function`; settings stand beside the inputs function."""
    if not spec.inputs:
        raise CaseError(
            f"{spec.path}: a function needs another one that makes its inputs.",
            "Give it with --inputs package.module:function.",
        )
    module, fn = import_reference(spec.path)
    case, make = import_reference(spec.inputs)
    chosen = dtype or _default_dtype(device)
    if isinstance(fn, torch.nn.Module):
        fn = fn.to(device=device, dtype=chosen)
    given = _call_inputs(make, spec, device, chosen)
    file = inspect.getsourcefile(module)
    source = _text(Path(file)) if file else ""
    return _workload(spec, _Parts(case, fn, given, device, _name(chosen), source))


_FORMS: dict[str, Callable[[CaseSpec, torch.device, torch.dtype | None], Workload]] = {
    "fn": _load_file,
    "module": _load_module,
    "reference": _load_reference,
}


@dataclass(frozen=True)
class _Parts:
    """What a form found: the module with the settings, the function, what `inputs` returned."""

    case: ModuleType
    fn: Callable[..., object]
    given: object
    device: torch.device
    dtype: str
    source: str


def _workload(spec: CaseSpec, parts: _Parts) -> Workload:
    args, kwargs = _arguments(tree_map(_as_leaf, parts.given), spec, "inputs()")
    names = vars(parts.case)
    settings = read_settings(names, parts.device.type, spec.path)
    return Workload(
        fn=parts.fn,
        args=args,
        kwargs=kwargs,
        backward=settings.backward,
        compile_kwargs=settings.compile_kwargs,
        tolerance=settings.tolerance,
        expectation=settings.expectation,
        source=parts.source,
        dtype=parts.dtype,
        modules=_unique_modules([parts.fn, *tree_leaves((args, kwargs)), *names.values()]),
        leaves=tuple(item for item in names.values() if isinstance(item, torch.Tensor)),
    )


# ---------------------------------------------------------------- inputs


def _call_inputs(
    make: Callable[..., object], spec: CaseSpec, device: torch.device, dtype: torch.dtype
) -> object:
    params = _params(spec)
    names = parameter_names(make)
    if not {"device", "dtype"} <= names and "**" not in names:
        raise CaseError(
            f"{spec.path}: inputs takes ({', '.join(sorted(names))}).",
            "Write it as inputs(device, dtype, ...), with a default for each param.",
        )
    check_params(spec.path, params, names - {"device", "dtype"})
    return make(device=device, dtype=dtype, **params)


def _params(spec: CaseSpec) -> dict[str, object]:
    """Return the parameters; `device` in a set only says where the set applies."""
    return {name: value for name, value in spec.params.items() if name != "device"}


def _arguments(
    given: object, spec: CaseSpec, what: str
) -> tuple[tuple[object, ...], dict[str, object]]:
    """Return positional and keyword arguments from what an inputs function gave."""
    if isinstance(given, Mapping) and all(isinstance(name, str) for name in given):
        return (), dict(given)
    if isinstance(given, (tuple, list)):
        return tuple(given), {}
    if isinstance(given, torch.Tensor):
        return (given,), {}
    raise CaseError(
        f"{spec.path}: {what} returned a {type(given).__name__}.",
        "Return a tuple of positional arguments, or a dict of keyword arguments.",
    )


def _moved(value: object, device: torch.device, dtype: torch.dtype | None) -> object:
    """Return a tensor on the device, a floating one in the dtype; anything else as it is."""
    if not isinstance(value, torch.Tensor):
        return value
    return value.to(device=device, dtype=dtype if value.is_floating_point() else None)


def _as_leaf(value: object) -> object:
    """Return a tensor without the history of how it was made, so that backward stops at it."""
    if not isinstance(value, torch.Tensor) or value.is_leaf:
        return value
    return value.detach().requires_grad_(value.requires_grad)


def _takes_gradient(tensor: torch.Tensor) -> bool:
    return tensor.requires_grad and tensor.is_leaf


def _unique_modules(items: Iterable[object]) -> tuple[torch.nn.Module, ...]:
    return tuple({id(item): item for item in items if isinstance(item, torch.nn.Module)}.values())


# ---------------------------------------------------------------- dtypes and sources


def _dtype(name: str) -> torch.dtype | None:
    if not name:
        return None
    if name not in _DTYPES:
        raise CaseError(f"Unknown dtype {name!r}.", f"Known: {', '.join(_DTYPES)}.")
    return _DTYPES[name]


def _default_dtype(device: torch.device) -> torch.dtype:
    return _DEFAULT_DTYPES.get(device.type, torch.float32)


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")
