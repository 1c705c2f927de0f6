"""Tests of compdiff.capture.workload: case files of each form, written for the test."""

import random
import sys
import textwrap
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
import torch

from compdiff.capture.workload import Workload, clone_inputs, load, reseed
from compdiff.errors import CaseError
from compdiff.model import CaseSpec, Expectation

PLAIN = """
    import torch
    def inputs(device, dtype, size=3):
        return (torch.randn(size, device=device, dtype=dtype),)
    def fn(x):
        return x * 2
"""
TRAINED = """
    import torch
    BACKWARD = True
    def inputs(device, dtype):
        model = torch.nn.Linear(3, 2).to(device=device, dtype=dtype)
        return model, torch.randn(4, 3, device=device, dtype=dtype, requires_grad=True)
    def fn(model, x):
        return {out}
"""
MODULE = """
    import torch
    class Model(torch.nn.Module):
        def __init__(self, width, *, bias=True):
            super().__init__()
            self.linear = torch.nn.Linear(width, width, bias=bias)
        def forward(self, x, indices):
            return self.linear(x)[indices]
    def get_init_inputs(width=4):
        return {init}
    def get_inputs(width=4, batch=2):
        return [torch.randn(batch, width), torch.tensor([0])]
"""


@pytest.fixture(name="write")
def _write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> "Iterator[Writer]":
    """Give a writer of case files; import path and modules are put back after the test."""
    monkeypatch.setattr(sys, "path", sys.path.copy())
    yield Writer(tmp_path)
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


class Writer:
    """Writes case files and loads them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def file(self, text: str, name: str = "case.py") -> Path:
        """Write a file and return its path."""
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    def load(
        self,
        text: str,
        *,
        form: str = "fn",
        dtype: str = "",
        seed: int = 0,
        params: dict[str, int | float | str | bool | None] | None = None,
    ) -> Workload:
        """Write a case and load it on the CPU."""
        path = str(self.file(text))
        spec = CaseSpec(name="case", path=path, form=form, params=params or {})
        return load(spec, "cpu", dtype, seed)


def tensors(workload: Workload) -> list[torch.Tensor]:
    """Return the positional inputs that are tensors."""
    return [item for item in workload.args if isinstance(item, torch.Tensor)]


def test_inputs_are_positional_arguments(write: Writer) -> None:
    """A tuple of inputs is what `fn` is called with."""
    workload = write.load(PLAIN)

    (x,) = tensors(workload)
    output = workload.step(workload.fn)
    assert isinstance(output, torch.Tensor)
    assert torch.equal(output, x * 2)


def test_a_dict_of_inputs_gives_keyword_arguments(write: Writer) -> None:
    """The names are those of `fn`."""
    workload = write.load(
        """
        def inputs(device, dtype):
            return {"b": 1, "a": 2}
        def fn(a, b):
            return a - b
        """
    )

    assert workload.args == ()
    assert workload.step(workload.fn) == 1


def test_a_single_tensor_is_one_argument(write: Writer) -> None:
    """A tensor alone is not taken apart into its rows."""
    workload = write.load(PLAIN.replace(",)\n", ")\n"))

    assert len(tensors(workload)) == 1


def test_parameters_reach_inputs(write: Writer) -> None:
    """A parameter replaces the default; the `device` of a set is not one."""
    workload = write.load(PLAIN, params={"size": 7, "device": "cpu"})

    assert tensors(workload)[0].shape == (7,)


def test_an_unknown_parameter_is_an_error(write: Writer) -> None:
    """The error names it, and those that there are."""
    with pytest.raises(CaseError, match="no parameter named length") as error:
        write.load(PLAIN, params={"length": 7})

    assert error.value.hint == "Its inputs take: size."


@pytest.mark.parametrize(("dtype", "expected"), [("", torch.float32), ("float64", torch.float64)])
def test_the_dtype_reaches_inputs(write: Writer, dtype: str, expected: torch.dtype) -> None:
    """On a CPU the default is float32."""
    workload = write.load(PLAIN, dtype=dtype)

    assert tensors(workload)[0].dtype == expected
    assert workload.dtype == str(expected).removeprefix("torch.")


def test_an_unknown_dtype_is_an_error(write: Writer) -> None:
    """The error names the known ones."""
    with pytest.raises(CaseError, match="Unknown dtype 'half'") as error:
        write.load(PLAIN, dtype="half")

    assert "bfloat16" in error.value.hint


def test_the_same_seed_makes_the_same_inputs(write: Writer) -> None:
    """Two loads with one seed agree, another seed gives other inputs."""
    first, second, other = (tensors(write.load(PLAIN, seed=seed))[0] for seed in (1, 1, 2))

    assert torch.equal(first, second)
    assert not torch.equal(first, other)


def test_reseed_reaches_python_and_torch() -> None:
    """Both generators start again."""
    reseed(5)
    first = (random.random(), torch.rand(1).item())  # noqa: S311 - what is tested
    reseed(5)

    assert (random.random(), torch.rand(1).item()) == first  # noqa: S311 - what is tested


def test_without_backward_no_gradient_is_recorded(write: Writer) -> None:
    """A step runs under no_grad."""
    workload = write.load(PLAIN.replace("dtype=dtype", "dtype=dtype, requires_grad=True"))
    output = workload.step(workload.fn)

    assert isinstance(output, torch.Tensor)
    assert not output.requires_grad


@pytest.mark.parametrize(
    "out", ["model(x).sum()", "model(x)", "{'a': model(x), 'b': x.sum(), 'c': 1}"]
)
def test_backward_fills_inputs_and_parameters_anew(write: Writer, out: str) -> None:
    """Each step gives the gradients of one step, whatever the form of the outputs."""
    workload = write.load(TRAINED.replace("{out}", out))
    model, x = cast("tuple[torch.nn.Module, torch.Tensor]", workload.args)
    workload.step(workload.fn)
    leaves = [x, *model.parameters()]
    first = [leaf.grad.clone() for leaf in leaves if leaf.grad is not None]
    workload.step(workload.fn)
    second = [leaf.grad for leaf in leaves if leaf.grad is not None]

    assert len(first) == 3
    assert all(map(torch.equal, first, second))


def test_backward_of_a_module_in_the_file_is_reset_too(write: Writer) -> None:
    """A module that `fn` reaches as a global gives its gradients anew as well."""
    workload = write.load(
        """
        import torch
        BACKWARD = True
        linear = torch.nn.Linear(2, 2)
        scale = torch.ones(2, requires_grad=True)
        def inputs(device, dtype):
            return (torch.ones(1, 2),)
        def fn(x):
            return (linear(x) * scale).sum()
        """
    )
    for _ in range(2):
        workload.step(workload.fn)
    (module,), (scale,) = workload.modules, workload.leaves
    assert scale.grad is not None
    gradient = module.get_parameter("bias").grad
    assert gradient is not None
    assert gradient.tolist() == [1, 1]


def test_backward_without_a_gradient_is_an_error(write: Writer) -> None:
    """A case whose outputs need no gradient has no backward."""
    workload = write.load("BACKWARD = True\n" + textwrap.dedent(PLAIN))

    with pytest.raises(CaseError, match="no output of fn requires a gradient"):
        workload.step(workload.fn)


def test_inputs_made_by_ops_are_leaves(write: Writer) -> None:
    """An input computed from another one that needs a gradient can be used step after step."""
    workload = write.load(
        "BACKWARD = True\n"
        + textwrap.dedent(PLAIN).replace("dtype=dtype)", "dtype=dtype, requires_grad=True) * 3")
    )
    for _ in range(2):
        workload.step(workload.fn)

    (x,) = tensors(workload)
    assert x.is_leaf
    assert x.requires_grad


def test_fn_may_be_a_module(write: Writer) -> None:
    """A module in the file is the function, in the dtype of the inputs."""
    workload = write.load(
        PLAIN.partition("    def fn")[0] + "\n    fn = torch.nn.Linear(3, 1)\n", dtype="float64"
    )
    output = workload.step(workload.fn)

    assert isinstance(output, torch.Tensor)
    assert output.dtype == torch.float64


@pytest.mark.parametrize("init", ["[width]", "{'width': width, 'bias': False}"])
def test_module_form_builds_the_model(write: Writer, init: str) -> None:
    """Init inputs are positional or named; params go to each function that takes them."""
    workload = write.load(
        MODULE.replace("{init}", init), form="module", params={"width": 6, "batch": 5}
    )

    assert isinstance(workload.fn, torch.nn.Module)
    assert tensors(workload)[0].shape == (5, 6)
    assert isinstance(workload.step(workload.fn), torch.Tensor)
    assert workload.dtype == ""


def test_module_form_takes_a_dtype(write: Writer) -> None:
    """A dtype changes the model and its floating inputs, and no integers."""
    workload = write.load(MODULE.replace("{init}", "[width]"), form="module", dtype="bfloat16")

    assert [x.dtype for x in tensors(workload)] == [torch.bfloat16, torch.int64]
    assert workload.modules[0].get_parameter("linear.weight").dtype == torch.bfloat16


def test_reference_form_finds_function_and_inputs(
    write: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`package.module:Class.method` is looked up from the working directory."""
    write.file("", "some_package/__init__.py")
    write.file(
        """
        EXPECT = {"max_kernels": 1}
        class Holder:
            @staticmethod
            def double(x):
                return x * 2
        def make(device, dtype):
            return [21]
        """,
        "some_package/some_module.py",
    )
    monkeypatch.chdir(write.folder)
    spec = CaseSpec(
        name="case",
        path="some_package.some_module:Holder.double",
        form="reference",
        inputs="some_package.some_module:make",
    )
    workload = load(spec, "cpu", "", 0)

    assert workload.step(workload.fn) == 42
    assert "class Holder" in workload.source
    assert workload.expectation == Expectation(max_kernels=1)


@pytest.mark.parametrize(
    ("path", "inputs", "message"),
    [
        ("no_such_module:fn", "math:sin", "no module named 'no_such_module'"),
        ("math:no_such_function", "math:sin", "math:no_such_function has no no_such_function"),
        ("math", "math:sin", "'math' names no function"),
        ("math:sin", "", "needs another one that makes its inputs"),
    ],
)
def test_a_reference_to_nothing_is_an_error(
    write: Writer, path: str, inputs: str, message: str
) -> None:
    """The error says which part of the reference is not there."""
    assert write.folder.is_dir()
    with pytest.raises(CaseError, match=message):
        load(CaseSpec(name="case", path=path, form="reference", inputs=inputs), "cpu", "", 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1", "has no fn"),
        ("fn = 3", "has a fn that cannot be called"),
        ("def fn(): pass", "has no inputs"),
        ("def fn(): pass\ndef inputs(): return ()", r"inputs takes \(\)"),
        ("def fn(): pass\ndef inputs(device, dtype): return 3", "returned a int"),
        ("def fn(): pass\ndef inputs(device, dtype): return None", "returned a NoneType"),
    ],
)
def test_a_file_that_is_no_case_is_an_error(write: Writer, text: str, message: str) -> None:
    """The error names the file and what is wrong, the hint what is wanted."""
    with pytest.raises(CaseError, match=message) as error:
        write.load(text)

    assert "case.py" in error.value.message
    assert error.value.hint


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    """The path is in the message."""
    with pytest.raises(CaseError, match=r"nothing\.py: no such case file"):
        load(CaseSpec(name="nothing", path=str(tmp_path / "nothing.py")), "cpu", "", 0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("BACKWARD = 1", "BACKWARD is 1"),
        ("COMPILE = {'fulgraph': True}", "COMPILE has the unknown field fulgraph"),
        ("COMPILE = {'fullgraph': 'yes'}", "COMPILE: Expected `bool`, got `str`"),
        ("COMPILE = 3", "COMPILE is a int"),
        ("TOLERANCE = {'rtol': 1e-3}", "TOLERANCE: Object missing required field `atol`"),
        ("TOLERANCE = {'rtol': 1, 'atol': 1, 'tol': 1}", "TOLERANCE has the unknown field tol"),
        ("COMPILE = {'options': {'a': {'b': 1}}}", r"COMPILE: Expected `object`, got `int`"),
        ("EXPECT = {'kernels': 1}", "EXPECT has the unknown field kernels"),
        ("EXPECT = {'cuda': {'kernels': 1}}", r"EXPECT\['cuda'\] has the unknown field kernels"),
        ("EXPECT = {'max_kernels': '1'}", "EXPECT: Expected `int | null`, got `str`"),
    ],
)
def test_a_wrong_setting_is_an_error(write: Writer, settings: str, message: str) -> None:
    """A slip in a setting is found, that for another device included."""
    with pytest.raises(CaseError, match=message.replace("| null", r"\| null")):
        write.load(settings + textwrap.dedent(PLAIN))


def test_settings_are_read(write: Writer) -> None:
    """COMPILE, TOLERANCE and EXPECT arrive; EXPECT's part for this device is laid over the rest."""
    settings = (
        "COMPILE = {'dynamic': True, 'options': {'freezing': True}}\n"
        "TOLERANCE = {'rtol': 0.5, 'atol': 0.25}\n"
        "EXPECT = {'max_kernels': 1, 'rules': ['a'], 'cpu': {'max_kernels': 2}, 'cuda': {}}\n"
    )
    workload = write.load(settings + textwrap.dedent(PLAIN))

    assert workload.compile_kwargs == {"dynamic": True, "options": {"freezing": True}}
    assert workload.tolerance is not None
    assert (workload.tolerance.rtol, workload.tolerance.atol) == (0.5, 0.25)
    assert workload.expectation == Expectation(max_kernels=2, rules=("a",))


def test_options_of_compile_may_name_passes_with_options_of_their_own(write: Writer) -> None:
    """Inductor's `pre_grad_fusion_options` is a dict of dicts."""
    fusions = {"batch_linear": {"min_fuse_set_size": 2}, "normalization_pass": {}}
    workload = write.load(
        f"COMPILE = {{'options': {{'pre_grad_fusion_options': {fusions}}}}}"
        + textwrap.dedent(PLAIN)
    )

    assert workload.compile_kwargs == {"options": {"pre_grad_fusion_options": fusions}}


def test_errors_of_the_case_go_through_with_its_own_frames(write: Writer) -> None:
    """The traceback ends in the user's file and line."""
    with pytest.raises(ZeroDivisionError) as error:
        write.load(PLAIN.replace("return (torch", "1 / 0; return (torch"))

    assert traceback.extract_tb(error.value.__traceback__)[-1].filename.endswith("case.py")


def test_a_case_can_import_its_neighbours(write: Writer) -> None:
    """The folder of the case is on the import path."""
    write.file("FACTOR = 3", "some_neighbour.py")
    workload = write.load(
        """
        from some_neighbour import FACTOR
        def inputs(device, dtype):
            return (2,)
        def fn(x):
            return FACTOR * x
        """
    )

    assert workload.step(workload.fn) == 6


def test_cases_of_one_name_do_not_meet(write: Writer) -> None:
    """Two files called case.py in two folders are two modules."""
    texts = ("def fn(): return 1", "def fn(): return 2")
    inputs = "\ndef inputs(device, dtype): return ()"
    paths = [
        write.file(text + inputs, f"{name}/case.py") for name, text in zip("ab", texts, strict=True)
    ]
    loaded = [load(CaseSpec(name="case", path=str(path)), "cpu", "", 0) for path in paths]

    assert [workload.step(workload.fn) for workload in loaded] == [1, 2]


def test_clones_keep_strides_sharing_and_modules() -> None:
    """Copies share memory with each other as the inputs do, and with the inputs not at all."""
    x = torch.arange(6.0).reshape(2, 3)
    model = torch.nn.ReLU()
    workload = Workload(fn=len, args=(x, x.t(), model), kwargs={"same": x}, modules=(model,))
    (copied, transposed, same_model), kwargs = clone_inputs(workload)

    assert isinstance(copied, torch.Tensor)
    assert isinstance(transposed, torch.Tensor)
    copied.zero_()
    assert transposed.stride() == x.t().stride()
    assert transposed.sum() == 0
    assert kwargs["same"] is copied
    assert same_model is model
    assert x.sum() == 15
