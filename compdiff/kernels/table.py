"""A row of the tables of kernel names. In: nothing. Out: Row."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One naming scheme: `pattern` fits the whole function name, without template arguments.

    `template` rows read only names with template arguments: plain ones so called are someone else's.
    `detail` names the function of `read.py` that reads the rest. `example` is a name that this row and none before it reads.
    """

    pattern: str
    family: str
    computes: str
    meaning: str
    example: str
    detail: str = ""
    template: bool = False
