"""GPUs as data. In: a name, or a JSON file. Out: a Target."""

from compdiff.targets.load import find_target
from compdiff.targets.table import TARGETS

__all__ = ["TARGETS", "find_target"]
