"""Tests of compdiff.capture.pass_log."""

import torch
from torch.fx import Graph, Node

from compdiff.capture.graphs import DynamoNames
from compdiff.capture.pass_log import OpenPass, PassLog, merged_duplicates
from compdiff.model import PassEvent


def _log() -> tuple[PassLog, list[PassEvent]]:
    events: list[PassEvent] = []
    return PassLog(emit=events.append, stage=lambda: "post_grad", dynamo_names=DynamoNames), events


def _graph() -> tuple[Graph, dict[str, Node]]:
    graph = Graph()
    x = graph.placeholder("x")
    first = graph.call_function(torch.sin, (x,))
    second = graph.call_function(torch.sin, (x,))
    graph.output(graph.call_function(torch.add, (first, second)))
    return graph, {node.name: node for node in graph.nodes}


def test_inner_pass_reports_and_the_outer_does_not_repeat() -> None:
    """A change is one event, by the innermost pass that saw it, under the outer's name when it has none itself."""
    log, events = _log()
    _, nodes = _graph()
    outer, inner = (
        OpenPass("pass_pattern_2", nodes, nodes),
        OpenPass("pattern_matcher", nodes, nodes),
    )
    log.open += [outer, inner]
    for opened in (outer, inner):
        opened.removed.add("sin")
    log.report(inner, (0, 0), pattern="addmm", location="torch/x.py:1")
    log.finish(inner)
    log.finish(outer)
    assert [(event.pass_name, event.pattern) for event in events] == [("pass_pattern_2", "addmm")]
    assert [node.name for node in events[0].removed] == ["sin"]


def test_outer_pass_reports_what_no_inner_one_did() -> None:
    """What a pass does outside its patterns is its own event."""
    log, events = _log()
    _, nodes = _graph()
    opened = OpenPass("remove_noop_ops", nodes, nodes)
    log.open.append(opened)
    opened.removed.add("sin_1")
    opened.replaced["sin_1"] = "sin"
    log.finish(opened)
    assert events[0].replacements == {"sin_1": "sin"}


def test_a_pass_without_changes_says_nothing() -> None:
    """Passes that change nothing leave no event; a node made and removed again is no change."""
    log, events = _log()
    _, nodes = _graph()
    opened = OpenPass("quiet", nodes, nodes)
    log.open.append(opened)
    opened.created.add("temporary")
    opened.removed.add("temporary")
    log.finish(opened)
    assert events == []


def test_merged_duplicates_name_the_node_that_stays() -> None:
    """Of two equal nodes, the one that is gone is mapped to the one that is left."""
    before, _ = _graph()
    after = Graph()
    x = after.placeholder("x")
    first = after.call_function(torch.sin, (x,))
    after.output(after.call_function(torch.add, (first, first)))
    assert merged_duplicates(before, after) == {"sin_1": "sin"}
