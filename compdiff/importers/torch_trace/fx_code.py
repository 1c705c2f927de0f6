"""Printed FX graphs. In: the code of a graph module as torch prints it. Out: GraphNode records.

The code is parsed, never run. `# File: x.py:12 in f, code: ...` stands before the nodes of that line.
Source: torch/fx/graph.py: CodeGen (torch 2.14).
"""

import ast
import re
import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import msgspec

from compdiff.importers.torch_trace.annotations import tensors_of
from compdiff.model import GraphNode, SourceLocation, TensorMeta
from compdiff.source import shown_path

_PLACE = re.compile(
    r"\s*# (?P<backward>Backward of forward node: )?File: (?P<file>.+?):(?P<line>\d{1,9}) in (?P<function>\S+)"
    r"(?:, code: (?P<text>.*))?"
)
_NO_PLACE = re.compile(r"\s*# No stacktrace found for following nodes")
_CLASS_NAME = re.compile(r"^(\s*class )<(\w+)>", re.MULTILINE)
_MAX_LENGTH = 400
# Python's operators by the function that FX calls for each. Source: torch/fx/graph.py: magic_methods, inplace_methods.
_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.BitAnd: "and_",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
    ast.Div: "truediv",
    ast.Eq: "eq",
    ast.FloorDiv: "floordiv",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Invert: "invert",
    ast.LShift: "lshift",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.MatMult: "matmul",
    ast.Mod: "mod",
    ast.Mult: "mul",
    ast.Not: "not_",
    ast.NotEq: "ne",
    ast.Pow: "pow",
    ast.RShift: "rshift",
    ast.Sub: "sub",
    ast.UAdd: "pos",
    ast.USub: "neg",
}


@dataclass
class _Reader:
    """The nodes of one graph as they are found; `pending` is an operator that wrote in place and has no name yet."""

    places: dict[int, tuple[SourceLocation | None, bool]]
    nodes: dict[str, GraphNode] = field(default_factory=dict)
    pending: tuple[str, ast.expr] | None = None


def read_graph_code(code: str) -> tuple[GraphNode, ...]:
    """Return the nodes of a printed graph, without those of the graphs inside it.

    Raises:
        ValueError: the code is no graph module, or is cut.
    """
    try:
        return _read(_CLASS_NAME.sub(r"\1_\2", code))
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(f"no graph module: {error}") from error


def _read(code: str) -> tuple[GraphNode, ...]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what damaged code looks like
        tree = ast.parse(code)
    forward = _forward(tree)
    if forward is None:
        raise ValueError("no graph module: it has no forward")
    reader = _Reader(_places(code))
    _add_placeholders(reader, forward)
    for statement in forward.body:
        _add_statement(reader, statement)
    return tuple(_with_parts(reader.nodes))


def _with_parts(nodes: Mapping[str, GraphNode]) -> Iterator[GraphNode]:
    """Yield the nodes; one that gives several tensors, which FX prints without a type, has those of its parts."""
    parts: dict[str, list[TensorMeta]] = defaultdict(list)
    for node in nodes.values():
        if node.target == "_operator.getitem" and len(node.inputs) == 1:
            parts[node.inputs[0]] += node.outputs
    for node in nodes.values():
        outputs = node.outputs or tuple(parts[node.name])
        yield msgspec.structs.replace(node, outputs=outputs)


def _forward(tree: ast.Module) -> ast.FunctionDef | None:
    """Return the function `forward` of the outermost class, or the one that stands alone."""
    for outer in tree.body:
        inside = outer.body if isinstance(outer, ast.ClassDef) else [outer]
        for inner in inside:
            if isinstance(inner, ast.FunctionDef) and inner.name == "forward":
                return inner
    return None


def _places(code: str) -> dict[int, tuple[SourceLocation | None, bool]]:
    """Return for each line of the code the place that the comment before it names, and whether it is backward."""
    found: dict[int, tuple[SourceLocation | None, bool]] = {}
    current: tuple[SourceLocation | None, bool] = (None, False)
    for number, line in enumerate(code.split("\n"), start=1):
        match = _PLACE.fullmatch(line)
        if match is not None:
            place = SourceLocation(
                file=shown_path(match["file"]),
                line=int(match["line"]),
                function=match["function"].rstrip(","),
                text=match["text"] or "",
            )
            current = place, match["backward"] is not None
        elif _NO_PLACE.fullmatch(line):
            current = None, False
        found[number] = current
    return found


# ---------------------------------------------------------------- statements


def _add_placeholders(reader: _Reader, forward: ast.FunctionDef) -> None:
    """Add the parameters, or what a joint graph declares in their place."""
    declared = [
        (statement.target.id, statement.annotation)
        for statement in forward.body
        if isinstance(statement, ast.AnnAssign)
        and statement.value is None
        and isinstance(statement.target, ast.Name)
    ]
    parameters = [(argument.arg, argument.annotation) for argument in forward.args.args[1:]]
    for name, annotation in declared or parameters:
        reader.nodes[name] = GraphNode(
            name=name, op="placeholder", target=name, outputs=tensors_of(_text_of(annotation))
        )


def _add_statement(reader: _Reader, statement: ast.stmt) -> None:
    if isinstance(statement, ast.Return):
        names = _inputs(reader, statement.value)
        reader.nodes["output"] = GraphNode(
            name="output", op="output", target="output", inputs=names
        )
    elif isinstance(statement, ast.AugAssign):
        reader.pending = f"i{_operator(statement.op)}", statement.value
    elif isinstance(statement, ast.AnnAssign):
        if statement.value is not None and isinstance(statement.target, ast.Name):
            _add_node(reader, statement.target.id, statement.value, _text_of(statement.annotation))
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, ast.Subscript):
            reader.pending = "setitem", statement.value
        elif isinstance(target, ast.Name) and not _is_none(statement.value):
            _add_node(reader, target.id, statement.value, "")


def _add_node(reader: _Reader, name: str, value: ast.expr, annotation: str) -> None:
    if isinstance(value, ast.Name):
        _add_alias(reader, name, value)
        return
    place, backward = reader.places.get(value.lineno, (None, False))
    op, target, parts = _call(reader, value)
    reader.nodes[name] = GraphNode(
        name=name,
        op=op,
        target=target,
        inputs=_inputs(reader, *parts),
        arguments=_short(", ".join(_unparsed(part) for part in parts)),
        outputs=tensors_of(annotation),
        source=place,
        backward=backward,
    )


def _add_alias(reader: _Reader, name: str, value: ast.Name) -> None:
    """Take `name = value` for what it stands for: Dynamo's name of an input, or the name of what wrote in place."""
    before = reader.nodes.get(value.id)
    if reader.pending is not None:
        (function, operand), reader.pending = reader.pending, None
        place, backward = reader.places.get(value.lineno, (None, False))
        reader.nodes[name] = GraphNode(
            name=name,
            op="call_function",
            target=f"_operator.{function}",
            inputs=_inputs(reader, value, operand),
            outputs=before.outputs if before else (),
            source=place,
            backward=backward,
        )
    elif before is not None and before.op == "placeholder":
        del reader.nodes[value.id]
        reader.nodes[name] = msgspec.structs.replace(before, name=name)


# ---------------------------------------------------------------- expressions


def _call(reader: _Reader, value: ast.expr) -> tuple[str, str, list[ast.expr]]:
    """Return what a node calls: FX's kind of node, the target, the arguments."""
    if isinstance(value, ast.Call):
        return _called(reader, value)
    if isinstance(value, ast.Attribute):
        if _root(value) == "self":
            return "get_attr", _dotted(value).removeprefix("self."), []
        return "call_function", f"getattr.{value.attr}", [value.value]
    name, parts = _operation(value)
    return "call_function", name and f"_operator.{name}", parts


def _operation(value: ast.expr) -> tuple[str, list[ast.expr]]:
    """Return the operator that stands for a function, and its operands; "" for anything else."""
    if isinstance(value, ast.BinOp):
        return _operator(value.op), [value.left, value.right]
    if isinstance(value, ast.UnaryOp):
        return _operator(value.op), [value.operand]
    if isinstance(value, ast.Compare) and len(value.ops) == 1:
        return _operator(value.ops[0]), [value.left, value.comparators[0]]
    if isinstance(value, ast.Subscript):
        return "getitem", [value.value, value.slice]
    return "", [value]


def _called(reader: _Reader, value: ast.Call) -> tuple[str, str, list[ast.expr]]:
    arguments = [*value.args, *(keyword.value for keyword in value.keywords)]
    name, root = _dotted(value.func), _root(value.func)
    if isinstance(value.func, ast.Attribute) and (root in reader.nodes or not root):
        return "call_method", value.func.attr, [value.func.value, *arguments]
    if root == "self":
        return "call_module", name.removeprefix("self."), arguments
    return "call_function", name.removeprefix("torch.ops."), arguments


def _inputs(reader: _Reader, *parts: ast.expr | None) -> tuple[str, ...]:
    """Return the nodes that expressions read, each once, in order."""
    names = (name for part in parts if part is not None for name in _names(part))
    return tuple(dict.fromkeys(name for name in names if name in reader.nodes))


def _names(part: ast.AST) -> Iterator[str]:
    if isinstance(part, ast.Name):
        yield part.id
    for inner in ast.iter_child_nodes(part):
        yield from _names(inner)


def _root(value: ast.expr) -> str:
    while isinstance(value, ast.Attribute):
        value = value.value
    return value.id if isinstance(value, ast.Name) else ""


def _dotted(value: ast.expr) -> str:
    if isinstance(value, ast.Attribute):
        return f"{_dotted(value.value)}.{value.attr}"
    return value.id if isinstance(value, ast.Name) else ""


def _operator(operator: ast.AST) -> str:
    return _OPERATORS.get(type(operator), type(operator).__name__.lower())


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _text_of(annotation: ast.expr | None) -> str:
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return annotation.value
    return "" if annotation is None else _unparsed(annotation)


def _unparsed(part: ast.AST) -> str:
    return ast.unparse(part)


def _short(text: str) -> str:
    return text if len(text) <= _MAX_LENGTH else text[: _MAX_LENGTH - 3] + "..."
