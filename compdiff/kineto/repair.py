"""JSON that Kineto wrote wrongly. In: the bytes of a file. Out: bytes that parse, and what had to be changed.

Names are written without escaping by some versions, so that a backslash, a quote or a control character in one breaks the
file. Sources: the public reports behind tests/kineto/test_repair.py.
"""

import re
from collections import Counter
from collections.abc import Callable

# One field of an event whose value came in unescaped, up to the field that Kineto writes next.
_NAME = re.compile(
    rb'("name":\s*")(.*?)("\s*,\s*"(?:pid|cat|ph|tid|ts|dur|id|args|s)":|"\s*[,}]?\s*$)',
    re.MULTILINE,
)
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_BAD_ESCAPE = re.compile(rb'\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})')
_BARE_QUOTE = re.compile(rb'(?<!\\)"')
_NOT_A_NUMBER = re.compile(rb"(?<=[:\[,\s])-?(?:NaN|nan|Infinity|inf)(?=\s*[,\]}])")
_THREAD_QUOTE = re.compile(rb'("[tp]id":\s*)([^",\s{}\[\]][^",{}\[\]]*)"(?=\s*[,}])')
_DOUBLE_BRACES = re.compile(rb'"args":\s*\{\{(.*?)\}\}')


def repaired(data: bytes) -> tuple[bytes, Counter[str]]:
    """Return bytes with the known faults mended, and how often each was; nothing else is touched."""
    found = Counter[str]()

    def count(what: str, number: int) -> None:
        if number:
            found[what] += number

    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("utf-8", errors="replace")
        count("bytes that are not UTF-8", text.count("�"))
        data = text.encode("utf-8")
    data, number = _CONTROL.subn(b" ", data)
    count("control characters", number)
    data, number = _NOT_A_NUMBER.subn(b"null", data)
    count("values that are no numbers", number)
    data, number = _THREAD_QUOTE.subn(rb'\1"\2"', data)
    count("thread ids with one quote", number)
    data, number = _DOUBLE_BRACES.subn(rb'"args": {\1}', data)
    count("doubled braces", number)
    data = _NAME.sub(lambda match: _escaped(match, count), data)
    return data, found


def _escaped(match: "re.Match[bytes]", count: "Callable[[str, int], None]") -> bytes:
    name, quotes = _BARE_QUOTE.subn(rb'\\"', match[2])
    name, escapes = _BAD_ESCAPE.subn(rb"\\\\", name)
    count("names with bare quotes", quotes > 0)
    count("names with bare backslashes", escapes > 0)
    return match[1] + name + match[3]
