"""Real TORCH_TRACE logs: what is read equals an independent count of the file; beside their traces all is explained."""

import contextlib
import gzip
import json
import os
import random
import re
from collections import Counter
from pathlib import Path

import pytest

from compdiff.analysis import analyse, check, unexplained
from compdiff.errors import CompdiffError, FormatError
from compdiff.importers import Asked, import_traces
from compdiff.importers.torch_trace import CompilerLog, read_torch_trace
from compdiff.model import Diff, Run
from compdiff.store import read_run, write_run
from tests.importers.traces import event, kernel, launch, trace_bytes

DATA = Path(__file__).resolve().parents[1] / "data" / "torch_trace"
FOLDERS = [DATA, *map(Path, filter(None, [os.environ.get("COMPDIFF_TORCH_TRACES")]))]
LOGS = sorted(
    path
    for folder in FOLDERS
    for path in folder.iterdir()
    if path.name.endswith((".log", ".log.gz", "_log.txt"))
)
STEP = ("## step ##", "## step ##")


def raw_text(path: Path) -> str:
    """Return the text of a log."""
    data = path.read_bytes()
    return (gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data).decode()


def heads(text: str, key: str) -> list[str]:
    """Return the record lines that hold a key, found by their text alone."""
    return [line for line in text.split("\n") if line[:1] == "V" and f'{{"{key}": ' in line]


def ids(lines: list[str]) -> list[str]:
    """Return the compile ids of record lines."""
    found = [re.search(r'"frame_id": (\d+), "frame_compile_id": (\d+)', line) for line in lines]
    return [f"{match[1]}/{match[2]}" for match in found if match]


@pytest.fixture(
    name="log", params=LOGS, ids=lambda path: path.name.partition(".")[0], scope="module"
)
def _log(request: pytest.FixtureRequest) -> tuple[CompilerLog, str]:
    return read_torch_trace(request.param), raw_text(request.param)


def test_there_are_logs() -> None:
    """The other tests of this file have something to test."""
    assert len(LOGS) >= 6


def test_graphs_are_those_of_the_file(log: tuple[CompilerLog, str]) -> None:
    """Each compile id has its last Dynamo graph, and each wrapper that was written after it is a graph."""
    found, text = log
    graphs = found.compiler.graphs
    dynamo = ids(heads(text, "dynamo_output_graph"))
    assert {graph.compile_id for graph in graphs} == set(dynamo)
    assert sum(graph.dynamo is not None for graph in graphs) == len(set(dynamo))
    expected: Counter[str] = Counter()
    for line in text.split("\n"):
        if '{"dynamo_output_graph": ' in line:
            expected[ids([line])[0]] = 0
        elif '{"inductor_output_code": ' in line:
            expected[ids([line])[0]] += 1
    wrappers = Counter(graph.compile_id for graph in graphs if graph.wrapper_code)
    assert wrappers == +expected


def test_nodes_are_those_of_the_code(log: tuple[CompilerLog, str]) -> None:
    """A graph has one node for each line that assigns one, and each input of a node is a node."""
    found, _ = log
    for graph in found.compiler.graphs:
        for stage in (graph.dynamo, graph.joint, graph.post_grad):
            if stage is None or "class " in stage.code[10:]:
                continue
            computed = [one for one in stage.nodes if one.op not in {"placeholder", "output"}]
            lines = re.findall(
                r"^ +\w+(?:: \"[^\"]*\")? = (?!None|\w+$).*;?", stage.code, re.MULTILINE
            )
            assert len(computed) == len(lines)
            names = {one.name for one in stage.nodes}
            assert all(set(one.inputs) <= names for one in stage.nodes)


def test_breaks_and_recompiles_are_counted(log: tuple[CompilerLog, str]) -> None:
    """As many as there are artifacts of the name."""
    found, text = log
    compiler = found.compiler
    assert len(compiler.graph_breaks) == text.count('"name": "dynamo_graph_break_reason"')
    assert len(compiler.recompiles) == text.count('"name": "recompile_reasons"')
    metrics = re.findall(r'\{"(?:bwd_)?compilation_metrics": \{.*', text)
    named = {match[1] for line in metrics if (match := re.search(r'"compile_id": "([^"]+)"', line))}
    named = named or set(ids(heads(text, "compilation_metrics")))
    assert named >= {one.compile_id for one in compiler.compilations} != set()


def test_calls_name_nodes_of_their_graph(log: tuple[CompilerLog, str]) -> None:
    """Provenance leads to nodes of the post-grad graph; generated kernels come with their code."""
    found, _ = log
    for graph in found.compiler.graphs:
        if graph.post_grad is None:
            continue
        names = {one.name for one in graph.post_grad.nodes}
        for call in graph.calls:
            assert set(call.nodes) <= names
            assert call.code or call.kind == "extern"


def test_both_versions_of_the_mappings_are_read() -> None:
    """Calls of one name are told apart with `name:N` and without."""
    for name in ("inductor_provenance_jit_cuda", "inductor_provenance_jit_debug_handle"):
        compiler = read_torch_trace(DATA / f"tlparse-{name}.log.gz").compiler
        calls = {(call.name, call.nodes) for graph in compiler.graphs for call in graph.calls}
        assert ("extern_kernels.mm", ("mm_default",)) in calls
        assert ("extern_kernels.mm", ("mm_default_1",)) in calls


def test_damage_is_counted() -> None:
    """A payload that lost a line is read on behind."""
    found = read_torch_trace(DATA / "tlparse-simple_corrupted_json.log.gz")
    texts = [warning.text for warning in found.warnings]
    assert texts == ["1 payloads whose JSON is damaged, in tlparse-simple_corrupted_json.log.gz"]


def test_a_failed_compilation_has_its_reason() -> None:
    """A compilation that never reached Inductor has a Dynamo graph, and says why."""
    compiler = read_torch_trace(DATA / "tlparse-comp_failure.log.gz").compiler
    (graph,) = compiler.graphs
    assert graph.post_grad is None
    assert not graph.calls
    assert compiler.compilations[0].failure


# ---------------------------------------------------------------- beside traces


def imported(name: str, *, with_log: bool = True) -> tuple[Run, Diff]:
    """Return the run of a recorded pair of traces, with or without its log."""
    log = DATA / f"{name}.log.gz" if with_log else None
    eager, compiled = DATA / f"{name}-eager.json.gz", DATA / f"{name}-compiled.json.gz"
    run = import_traces(eager, compiled, Asked(between=STEP, torch_trace=log))
    diff = analyse(run)
    check(run, diff)
    return run, diff


@pytest.mark.parametrize("name", ["breaks", "training"])
def test_nothing_is_unexplained(name: str) -> None:
    """Every op call has a fate, every kernel an origin, and all generated kernels are calls of logged graphs."""
    run, diff = imported(name)
    assert unexplained(diff) == (0, 0)
    assert run.environment.torch.startswith("2.14")
    generated = [one for one in run.right.kernels if one.kind == "cpp"]
    assert generated
    assert all(one.call is not None for one in generated)


def test_rewrites_are_those_of_a_measured_run() -> None:
    """The names, with the pass: as `compdiff run` of the same functions gave them."""
    _, breaks = imported("breaks")
    assert [(one.rule, one.by_pass) for one in breaks.rewrites] == [
        ("mm-add-to-addmm", "post_grad: addmm"),
        ("lowered-to-kernel", ""),
        ("pointwise-fusion", ""),
    ]
    assert breaks.rewrites[0].source == "/home/user/record_pairs.py:16"
    _, training = imported("training")
    assert Counter(one.rule for one in training.rewrites) == {
        "view-elimination": 12,
        "decomposition": 1,
        "reduction-fusion": 3,
    }


def test_a_log_says_more_than_names() -> None:
    """Without the log there is no pass, no graph, and no certainty beyond guesses."""
    run, diff = imported("breaks", with_log=False)
    assert run.right.compiler is None
    assert {one.by_pass for one in diff.rewrites} == {""}
    _, with_log = imported("breaks")
    assert {one.certainty for one in with_log.matches} == {"likely"}
    assert "graph order" in {one.by for one in with_log.matches}


def test_breaks_and_recompiles_reach_the_run() -> None:
    """With reason, place and failed guard."""
    compiler = imported("breaks")[0].right.compiler
    assert compiler is not None
    assert [one.compile_id for one in compiler.recompiles] == ["0/1", "1/1"]
    assert "size mismatch" in compiler.recompiles[0].reasons[0]
    assert [one.stack[-1].text for one in compiler.graph_breaks] == [
        "torch._dynamo.graph_break()"
    ] * 2


def test_one_trace_with_its_log() -> None:
    """Shown beside itself all is kept, and the compiler's account is there."""
    trace, log = DATA / "training-compiled.json.gz", DATA / "training.log.gz"
    run = import_traces(trace, None, Asked(between=STEP, torch_trace=log))
    diff = analyse(run)
    assert {fate.fate for fate in diff.fates.values()} == {"kept"}
    assert unexplained(diff) == (0, 0)
    assert run.right.compiler is not None
    assert len(run.right.compiler.graphs) == 2


def test_a_run_with_a_log_is_stored(tmp_path: Path) -> None:
    """It is a run like any other."""
    run, _ = imported("training")
    path = tmp_path / "run.json.gz"
    write_run(run, path)
    assert read_run(path) == run


def test_a_log_of_another_process_is_told() -> None:
    """Regions and kernels that the log does not know are counted."""
    log = DATA / "tlparse-comp_failure.log.gz"
    eager, compiled = DATA / "breaks-eager.json.gz", DATA / "breaks-compiled.json.gz"
    run = import_traces(eager, compiled, Asked(between=STEP, torch_trace=log))
    said = {warning.id: warning.text for warning in run.right.warnings}
    assert "1/1" in said["region-not-in-log"]
    assert said["kernel-not-in-log"].startswith("2 of 2 generated kernels")


def test_triton_kernels_beside_a_log(tmp_path: Path) -> None:
    """A GPU's trace of the logged function: mm and kernels find their nodes, and what fused is told."""
    ops = [("aten::addmm", "aten::linear"), ("aten::relu", ""), ("aten::sigmoid", "")]
    ops += [("aten::mul", ""), ("aten::addmm", ""), ("aten::gelu", "")]
    left, right = [], []
    for number, (name, around) in enumerate(ops, start=1):
        start = 100 * number
        left += [event(around, start - 5, 50)] if around else []
        left += [event(name, start, 20), launch(start + 2, number)]
        left.append(kernel(f"at_{number}", start + 30, 5, number))
    right.append(event("Torch-Compiled Region: 0/0", 0, 900))
    calls = ["aten::mm", "triton_poi_fused_addmm_relu_sigmoid_0", "triton_poi_fused_mul_1"]
    calls += ["aten::mm", "triton_poi_fused_addmm_gelu_2"]
    for number, name in enumerate(calls, start=1):
        start = 100 * number
        right += [event(name, start, 20), launch(start + 2, number)]
        shown = name if name.startswith("triton") else "ampere_sgemm"
        right.append(kernel(shown, start + 30, 5, number))
    paths = [tmp_path / "eager.json", tmp_path / "compiled.json"]
    for path, events in zip(paths, (left, right), strict=True):
        path.write_bytes(trace_bytes(*events))
    log = DATA / "tlparse-inductor_provenance_jit_cuda.log.gz"
    run = import_traces(paths[0], paths[1], Asked(torch_trace=log))
    diff = analyse(run)
    check(run, diff)
    assert unexplained(diff) == (0, 0)
    assert diff.origins["k1"].op_calls == ("e0", "e1", "e2")
    assert diff.origins["k2"].op_calls == ("e3",)
    assert diff.origins["k4"].op_calls == ("e4", "e5")
    rules = [one.rule for one in diff.rewrites]
    assert rules.count("addmm-unfused-bias") == 2


# ---------------------------------------------------------------- files


def test_a_folder_of_ranks(tmp_path: Path) -> None:
    """The first log by name is read, or the one asked for, and the others are named."""
    for name in ("rank_0", "rank_1"):
        path = tmp_path / f"dedicated_log_torch_trace_{name}_x.log"
        path.write_text(raw_text(DATA / "tlparse-comp_failure.log.gz"), encoding="utf-8")
    (tmp_path / "notes.txt").write_text("no log", encoding="utf-8")
    first, second = read_torch_trace(tmp_path), read_torch_trace(tmp_path, "rank_1")
    assert "beside it are dedicated_log_torch_trace_rank_1_x.log" in first.warnings[0].text
    assert second.warnings[0].text.startswith("dedicated_log_torch_trace_rank_1_x.log was read")


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"", "no TORCH_TRACE log"), (b'{"a": 1}\n', "no TORCH_TRACE log"), (b"\x1f\x8bxx", "gzip")],
)
def test_what_is_no_log(tmp_path: Path, content: bytes, says: str) -> None:
    """Says what the file is expected to be."""
    path = tmp_path / "x.log"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=says):
        read_torch_trace(path)


def test_no_file_and_no_log_in_the_folder(tmp_path: Path) -> None:
    """Both are named."""
    with pytest.raises(FormatError, match="No such file"):
        read_torch_trace(tmp_path / "absent")
    with pytest.raises(FormatError, match="no TORCH_TRACE log in this folder"):
        read_torch_trace(tmp_path)


@pytest.mark.parametrize("seed", range(40))
def test_mutated_logs_end_in_an_answer_or_an_error(tmp_path: Path, seed: int) -> None:
    """Whatever happens to the lines and bytes of a real log: a run that obeys the law and is stored, or a CompdiffError."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    path = tmp_path / "mutated.log"
    path.write_bytes(mutated(raw_text(DATA / "training.log.gz"), chance))
    eager, compiled = DATA / "training-eager.json.gz", DATA / "training-compiled.json.gz"
    with contextlib.suppress(CompdiffError):
        run = import_traces(eager, compiled, Asked(between=STEP, torch_trace=path))
        check(run, analyse(run))
        write_run(run, tmp_path / "run.json.gz")


def mutated(text: str, chance: random.Random) -> bytes:
    """Return the log with lines dropped, repeated, moved or changed, or with other bytes or values in it, or cut."""
    lines = text.split("\n")
    for _ in range(chance.randint(1, 60)):
        at = chance.randrange(len(lines))
        how = chance.randrange(5)
        if how == 0:
            del lines[at]
        elif how == 1:
            lines.insert(at, chance.choice(lines))
        elif how == 2:
            lines[at] = re.sub(r"\d+", str(chance.choice([-1, 10**30, 0])), lines[at], count=2)
        elif how == 3:
            lines[at] = lines[at].replace('"', chance.choice(['\\ud800"', "'", ""]), 3)
        else:
            words = re.findall(r"\w+", chance.choice(lines)) or [""]
            lines[at] = re.sub(r"\w+", chance.choice(words), lines[at], count=3)
    data = bytearray("\n".join(lines).encode(errors="surrogatepass"))
    for _ in range(chance.randrange(20)):
        data[chance.randrange(len(data))] = chance.randrange(256)
    return bytes(data)[: len(data) if chance.random() < 0.7 else chance.randrange(len(data))]


def test_json_of_a_compile_id_may_be_anything(tmp_path: Path) -> None:
    """Ids and values of the wrong kind are no reason to stop."""
    values: list[object] = [None, [], {}, "x", 1.5, True, -1]
    lines = [
        f"V0101 00:00:00.000000 1 torch/x.py:1] {json.dumps({key: value, 'frame_id': other})}"
        for key in ("dynamo_output_graph", "inductor_output_code", "artifact", "str", "stack")
        for value in values
        for other in values
    ]
    path = tmp_path / "x.log"
    path.write_text("\n".join(lines), encoding="utf-8")
    assert read_torch_trace(path).compiler.graphs == ()
