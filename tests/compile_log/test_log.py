"""Tests of compdiff.compile_log.log, on payloads as torch 2.14 writes them."""

from compdiff.compile_log.log import CompileLog, graph_break, guard_lines, recompile_reasons

_BREAK = """\
Graph break in user code at /home/u/case.py:13
Graph Break Reason: Encountered graph break when attempting to trace CALL: a function call, e.g. f(x, y):

Failed to trace builtin operator
  Explanation: Dynamo does not know how to trace builtin operator `print`
  Hint: Avoid calling builtin `print`.

User code traceback:
  File "/x/site-packages/torch/_dynamo/external_utils.py", line 5, in inner
    return fn()
  File "/home/u/case.py", line 13, in fn
    print("hi")

Traceback (most recent call last):
  File "/home/u/other.py", line 1, in g
"""
_GUARDS = """
TREE_GUARD_MANAGER:
+- RootGuardManager
| +- GLOBAL_STATE: ___check_global_state()
| +- GuardManager: source=L['x'], accessed_by=FrameLocalsGuardAccessor
| | +- TENSOR_MATCH: check_tensor(L['x'], Tensor)
"""


def _metadata(**fields: object) -> dict[str, object]:
    return {"frame_id": 0, "frame_compile_id": 1, "attempt": 0, **fields}


def test_break_has_reason_explanation_and_user_stack() -> None:
    """The reason is what happened, not where Dynamo noticed it; the stack is the user's alone."""
    found = graph_break("0/0", _BREAK)
    assert found.reason == "Failed to trace builtin operator"
    assert found.explanation == "Dynamo does not know how to trace builtin operator `print`"
    assert [(frame.file, frame.line) for frame in found.stack] == [("/home/u/case.py", 13)]


def test_guards_are_the_leaves_of_the_tree() -> None:
    """Only guards are listed, without the drawing around them."""
    assert guard_lines(_GUARDS) == (
        "GLOBAL_STATE: ___check_global_state()",
        "TENSOR_MATCH: check_tensor(L['x'], Tensor)",
    )


def test_recompile_reasons_come_as_text_or_list() -> None:
    """One reason is plain text, several are a JSON list."""
    assert recompile_reasons("0/0: size mismatch") == ("0/0: size mismatch",)
    assert recompile_reasons('["a", "b"]') == ("a", "b")


def test_compilations_are_counted_once_for_all_attempts() -> None:
    """A restarted analysis is no second compilation."""
    log = CompileLog()
    log.add(_metadata(dynamo_start={}), None)
    log.add(_metadata(dynamo_start={}, attempt=1), None)
    assert log.started == 1


def test_forward_and_backward_add_up() -> None:
    """The phases of a frame's forward and backward compile are summed, in nanoseconds."""
    log = CompileLog()
    for duration in (5, 7):
        metrics = {
            "compile_id": "0/1",
            "co_name": "fn",
            "inductor_cumulative_compile_time_us": duration,
        }
        log.add(_metadata(compilation_metrics=metrics), None)
    (compilation,) = log.compilations()
    assert compilation.phases_ns == {"inductor": 12_000}
    assert compilation.function == "fn"


def test_artifacts_are_filed_by_compile_id() -> None:
    """Breaks and recompiles keep the id of their compilation."""
    log = CompileLog()
    log.add(_metadata(artifact={"name": "dynamo_graph_break_reason"}), _BREAK)
    log.add(_metadata(artifact={"name": "recompile_reasons"}), "0/0: x")
    log.add(_metadata(artifact={"name": "something_new"}), "y")
    assert [item.compile_id for item in log.graph_breaks] == ["0/1"]
    assert [item.reasons for item in log.recompiles] == [("0/0: x",)]
