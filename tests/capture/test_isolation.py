"""Children that end in every way a case can: stand-ins for `measure` decide how."""

import math
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from time import monotonic, sleep

import pytest

from compdiff.capture.isolation import run_isolated
from compdiff.errors import CaptureError
from compdiff.model import CaseSpec, CompileOptions, Request, Run

LONG_S = 120.0


def isolated(
    stand_in: str, stages: list[str] | None = None, timeout_s: float = LONG_S, device: str = "cpu"
) -> Run:
    """Run a stand-in in a child."""
    heard = [] if stages is None else stages
    request = Request(
        spec=CaseSpec(name="case", path="case.py"), device=device, options=CompileOptions()
    )
    return run_isolated(
        request,
        timeout_s=timeout_s,
        on_stage=heard.append,
        measure=f"tests.capture.stand_ins:{stand_in}",
    )


def gone(pid: int) -> bool:
    """Whether a process has ended, within two seconds."""
    end = monotonic() + 2
    while monotonic() < end:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        sleep(0.02)
    return False


def program(statement: str) -> "subprocess.Popen[str]":
    """Start a process that runs a statement; its fork server leaves torch out, for speed."""
    code = f"""
import sys
from compdiff.capture import isolation
from tests.capture.test_isolation import isolated
class Tell(list):
    def append(self, stage):
        print(stage, flush=True)
if __name__ == "__main__":
    isolation._PRELOADED = "compdiff.capture.child"
    {statement}
"""
    return subprocess.Popen(  # noqa: S603 - the code stands above
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_returns_the_run_and_tells_stages() -> None:
    """The parent gets the final run and each stage in order."""
    stages: list[str] = []
    run = isolated("finish", stages)
    assert run.left.op_calls[0].name == "aten::mm"
    assert stages == ["first", "second"]


def test_runs_in_another_process() -> None:
    """The case does not run in the parent."""
    assert isolated("finish").environment.platform != str(os.getpid())


def test_cache_folder_is_fresh_and_removed() -> None:
    """Each child has a compile cache of its own, which is gone afterwards."""
    first, second = isolated("finish").environment.device, isolated("finish").environment.device
    assert first != second
    assert not Path(first).parents[1].exists()


def test_parent_never_imports_torch() -> None:
    """Measuring in a child leaves the parent without torch."""
    with program("isolated('finish'); print('torch' in sys.modules)") as parent:
        assert parent.communicate()[0] == "False\n"


def test_torch_is_imported_once_for_all() -> None:
    """The child finds Inductor loaded, no CUDA state that forbids forking, and no other thread."""
    environment = isolated("fork_state").environment
    assert environment.device == "True False"
    assert environment.threads == 1


def test_non_finite_numbers_arrive() -> None:
    """NaN and infinity cross the pipe unchanged."""
    numerics = isolated("not_finite").numerics
    assert numerics is not None
    assert numerics.left is not None
    assert math.isnan(numerics.left.max_abs)
    assert math.isinf(numerics.left.max_rel)


def test_exception_before_anything_was_measured() -> None:
    """An early exception becomes an error with the case's own traceback."""
    with pytest.raises(CaptureError, match="ZeroDivisionError: the case divides") as caught:
        isolated("raise_early")
    assert "in raise_early" in caught.value.message
    assert "capture/child.py" not in caught.value.message


def test_exception_after_one_side_was_measured() -> None:
    """A late exception leaves a run that says where it failed."""
    run = isolated("raise_late")
    assert run.failure is not None
    assert run.failure.stage == "compiled: compile"
    assert run.failure.message == "ZeroDivisionError: the case divides"
    assert len(run.left.op_calls) == 1


def test_compdiff_error_keeps_message_and_hint() -> None:
    """An error that compdiff raised in the child arrives as it was, without a traceback."""
    with pytest.raises(CaptureError, match="returns no tensor") as caught:
        isolated("refuse")
    assert caught.value.hint == "Return a tuple of tensors."
    assert "Traceback" not in caught.value.message


@pytest.mark.parametrize(
    ("stand_in", "words"),
    [
        ("leave", r"the case called sys\.exit\(3\)"),
        ("leave_at_once", "exit code 7"),
        ("segfault", "SIGSEGV"),
        ("killed", "probably out of memory"),
        ("killed_with_heir", "probably out of memory"),
    ],
)
def test_abnormal_ends_are_named(stand_in: str, words: str) -> None:
    """sys.exit, a crash and a kill are told apart."""
    with pytest.raises(CaptureError, match=words):
        isolated(stand_in)


def test_segfault_shows_where() -> None:
    """A crash in C carries the Python stack."""
    with pytest.raises(CaptureError, match=r"stand_ins\.py.* in segfault"):
        isolated("segfault")


def test_hang_shows_where() -> None:
    """A case that does not end is ended, and its stack shown."""
    with pytest.raises(CaptureError, match="did not end within 3 s, in the stage: sleep") as caught:
        isolated("hang", timeout_s=3)
    assert "_sleep_in_the_case" in caught.value.message
    assert "--timeout" in caught.value.hint


def test_the_whole_family_is_ended() -> None:
    """What a case started ends with it, even in a session of its own."""
    stages: list[str] = []
    with pytest.raises(CaptureError):
        isolated("hang_with_family", stages, timeout_s=3)
    assert all(gone(int(pid)) for pid in stages[0].split())


class InterruptedSoon(list[str]):
    """Stages; half a second after the first one is told, Ctrl-C comes."""

    def append(self, stage: str) -> None:
        """Keep a stage."""
        super().append(stage)
        main = threading.main_thread().ident
        assert main is not None
        threading.Timer(0.5, signal.pthread_kill, (main, signal.SIGINT)).start()


def test_interrupt_ends_the_child() -> None:
    """Ctrl-C in the parent leaves no child."""
    stages = InterruptedSoon()
    with pytest.raises(KeyboardInterrupt):
        isolated("hang_with_family", stages)
    assert all(gone(int(pid)) for pid in stages[0].split())


def test_killed_parent_takes_its_child_along() -> None:
    """A parent that is killed outright leaves no running case."""
    with program("isolated('hang_with_family', Tell())") as parent:
        assert parent.stdout is not None
        child, same, own = (int(pid) for pid in parent.stdout.readline().split())
        parent.kill()
    try:
        assert gone(child)
        assert gone(same)
    finally:
        os.kill(own, signal.SIGKILL)


def test_prints_of_later_stages_are_dropped() -> None:
    """What a case prints in its first calls goes to stderr; the repetitions go nowhere."""
    with program("isolated('talk')") as parent:
        assert parent.communicate() == ("", "words 0\nwords 1\n")


def test_absent_gpu_is_an_error() -> None:
    """Asking for a GPU that is not there says so before the case runs."""
    with pytest.raises(CaptureError, match="there is no cuda:99"):
        isolated("finish", device="cuda:99")
