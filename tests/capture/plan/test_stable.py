"""What differs from process to process is taken out of a plan."""

import pytest

from compdiff.capture.plan.stable import stable
from compdiff.model import Compilation
from tests.builders import compiler, graph


def test_object_ids_become_words() -> None:
    """A guard keeps what it checks, not where Python put it."""
    guard = "ID_MATCH: ___check_obj_id(G['torch'], 140657446632912), type=<class 'module'>"
    made = compiler(compilations=(Compilation(compile_id="0/0", guards=(guard,)),))
    (found,) = stable(made).compilations[0].guards
    assert found == "ID_MATCH: ___check_obj_id(G['torch'], <id>), type=<class 'module'>"


def test_the_cache_folder_becomes_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """Generated code names its files."""
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", "/tmp/compdiff-x1/cache/inductor")  # noqa: S108
    made = compiler(graphs=(graph(wrapper_code="# /tmp/compdiff-x1/cache/inductor/a.py"),))
    assert stable(made).graphs[0].wrapper_code == "# <cache>/a.py"


def test_addresses_of_frozen_parameters_become_a_word() -> None:
    """Inductor notes the address of each folded constant beside its shape."""
    line = "_frozen_param1 = None  # device(type='cuda', index=0) torch.float32 (16,) (1,) "
    made = compiler(graphs=(graph(wrapper_code=f"{line}7f336d373520\nbuf0 = 7\n"),))
    assert stable(made).graphs[0].wrapper_code == f"{line}<address>\nbuf0 = 7\n"
