"""The rows of the tables of kernels and op calls as HTML. In: table views. Out: table rows, every text escaped."""

from compdiff.report.markup import (
    again,
    badge,
    bar,
    code_link,
    detail,
    item_link,
    refs,
    signature,
    text,
)
from compdiff.report.tables import KernelRow, KernelTable, OpRow, OpTable

_REFS = 4
_BADGES = frozenset({"introduced", "unexplained"})


def op_rows(table: OpTable) -> str:
    """Return a row for each op call of a side."""
    return "".join(_op(row, timed=table.timed) for row in table.rows)


def _op(row: OpRow, *, timed: bool) -> str:
    times = f"{_number(row.duration)}{_number(row.share)}" if timed else ""
    outer = "".join(f'<span class="muted">{text(name)} &gt; </span>' for name in row.annotations)
    outer += "".join(f'<code class="muted">{text(name)}</code> &gt; ' for name in row.chain)
    phase = ' <span class="tag">backward</span>' if row.phase == "backward" else ""
    return (
        f'<tr data-of="{text(row.id)}" class="item" data-fate="{text(row.fate)}">\n<td>{item_link(row.id)}</td>\n'
        f'<td>{outer}<code class="name">{text(row.name)}</code>{again(row.again)}{detail("calls ", row.inner)}</td>\n'
        f'<td class="signature">{signature(row.arguments, row.outputs)}</td>\n'
        f"<td>{text(row.place)}{phase}</td>\n{times}"
        f'<td>{refs(row.became, _REFS)}<div class="detail">{text(row.state)}</div></td>\n'
        f"<td>{text(row.matched_by)}{detail('', row.evidence)}</td>\n</tr>\n"
    )


def kernel_rows(table: KernelTable) -> str:
    """Return a row for each kernel of a side."""
    return "".join(map(_kernel, table.rows))


def _kernel(row: KernelRow) -> str:
    anchor = f' id="{text(row.id)}"' if row.anchor else ""
    links = "".join(f"{text(item.id)} " for item in row.origins)
    came = f"{badge(row.origin)} {text(row.reason)}" if row.origin in _BADGES else ""
    return (
        f'<tr{anchor} class="item" data-of="{text(row.id)}" data-links="{links}">\n'
        f"<td>{item_link(row.id)}</td>\n<td>{_name(row)}</td>\n<td>{text(row.kind)}</td>\n"
        f"<td>{_launch(row)}</td>\n{_number(row.duration)}"
        f'<td class="num">{text(row.share)} {bar(row.fraction)}</td>\n'
        f"<td>{came}{refs(row.origins, _REFS)}</td>\n</tr>\n"
    )


def _number(value: str) -> str:
    return f'<td class="num">{text(value)}</td>\n'


def _name(row: KernelRow) -> str:
    says = f"<br>{_muted(row.says)}" if row.says else ""
    model = f"<br>{_muted(f'model: {row.modelled}')}" if row.modelled else ""
    return f'<code class="name">{text(row.name)}</code>{again(row.again)}{says}{model}{code_link(row.code)}'


def _launch(row: KernelRow) -> str:
    lines = (text(row.graph), text(row.resources), _muted(row.estimate) if row.estimate else "")
    return "<br>".join(line for line in lines if line)


def _muted(value: str) -> str:
    return f'<span class="muted">{text(value)}</span>'
