"""Settings from compdiff.toml and setup.cfg."""

from pathlib import Path

import pytest

from compdiff.errors import FormatError
from compdiff.regression.config import Config, Limits, read_config

TOML = """
cases = ["cases", "more/*.py"]
target = "h200"
allow = ["linear: *"]
[limits]
slowdown = 0.05
kernels = 3
[case.linear]
kernels = 9
[param]
size = 64
"""
CFG = """
[metadata]
name = something
[tool:compdiff]
cases =
    cases
    more/*.py
target = h200
allow = linear: *
[tool:compdiff:limits]
slowdown = 0.05
kernels = 3
[tool:compdiff:case:linear]
kernels = 9
[tool:compdiff:param]
size = 64
"""


def test_both_files_say_the_same(tmp_path: Path) -> None:
    """compdiff.toml and setup.cfg with the same settings give the same limits, cases and target."""
    (tmp_path / "setup.cfg").write_text(CFG)
    from_cfg = read_config(folder=tmp_path)
    (tmp_path / "compdiff.toml").write_text(TOML)
    from_toml = read_config(folder=tmp_path)
    for config in (from_cfg, from_toml):
        assert (config.cases, config.target, config.allow) == (
            ["cases", "more/*.py"],
            "h200",
            ["linear: *"],
        )
        assert config.limits_of("softmax") == Limits(slowdown=0.05, kernels=3)
        assert config.limits_of("linear") == Limits(slowdown=0.05, kernels=9)
        assert config.param == {"size": 64}


def test_no_file_is_the_defaults(tmp_path: Path) -> None:
    """A project without settings has the defaults."""
    assert read_config(folder=tmp_path) == Config()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("casess = []", "unknown field `casess`"),
        ("[limits]\nslowdown = 'much'", "slowdown"),
        ("[case.linear]\nkernel = 1", "unknown field `kernel`"),
        ("cases = [", "compdiff.toml"),
    ],
)
def test_what_does_not_fit_is_named(tmp_path: Path, text: str, message: str) -> None:
    """A setting that does not exist or has another type is refused, with its name."""
    (tmp_path / "compdiff.toml").write_text(text)
    with pytest.raises(FormatError, match=message):
        read_config(folder=tmp_path)
