"""Tests of compdiff.capture.recorder."""

from compdiff.capture.recorder import Recorder
from compdiff.model import Graph
from tests.builders import node


def _recorder(**targets: str) -> Recorder:
    """Return a recorder that has seen a graph of one node for each compilation, `f0_1` standing for 0/1."""
    made = Recorder(compile_id=lambda: "")
    for name, target in targets.items():
        identity = name[1:].replace("_", "/")
        made.dynamo[identity] = Graph(stage="dynamo", nodes=(node("only", target),))
    return made


def test_a_known_compilation_is_itself() -> None:
    """Nothing was compiled again."""
    assert _recorder(f0_0="add", f0_1="add").same_graph("0/1", {"0/0", "0/1"}) == "0/1"


def test_a_compilation_of_the_same_nodes_is_the_last_one_before() -> None:
    """Guards of another run failed; the graph is the same."""
    recorder = _recorder(f0_0="add", f0_1="add", f0_2="add")
    assert recorder.same_graph("0/2", {"0/0", "0/1"}) == "0/1"


def test_another_frame_or_other_nodes_are_no_same_graph() -> None:
    """Then the compilation keeps its own name, and its calls match nothing."""
    recorder = _recorder(f0_0="mul", f1_0="add", f0_1="add")
    assert recorder.same_graph("0/1", {"0/0", "1/0"}) == "0/1"
