"""Tests of compdiff.kernels.cpp."""

import pytest

from compdiff.kernels.cpp import pieces, read_cpp, split_arguments


@pytest.mark.parametrize(
    ("text", "path", "arguments"),
    [
        ("void f<int, g<a, b> >(int)", "f", ("int", "g<a, b>")),
        ("void (anonymous namespace)::f<2>(float*)", "f", ("2",)),
        ("void cub::CUB_300001_SM_900::detail::f<int>(int)", "cub::detail::f", ("int",)),
        ("a::b(c<d>)", "a::b", ()),
        ("std::enable_if<(((8)>(0)))&&g<x>::y, void>::type n::f<x, 8>(x*)", "n::f", ("x", "8")),
        ("void f<h()::{lambda(int)#1}>(int) [clone .kd]", "f", ("h()::{lambda(int)#1}",)),
        ("void f<g::operator()<int>(a) const::{lambda()#1}>()", "f", ("g::operator()<int>(a) const::{lambda()#1}",)),
        ("f.kd", "f", ()),
        ("f<->", "f", ("->",)),
    ],
)  # fmt: skip
def test_declarations(text: str, path: str, arguments: tuple[str, ...]) -> None:
    """The path has no arguments, no anonymous or versioned namespaces; the arguments keep their text."""
    name = read_cpp(text)
    assert (name.path, name.arguments) == (path, arguments)


def test_pieces_stop_at_brackets() -> None:
    """Only separators outside all brackets separate."""
    assert list(pieces("a<b::c>::d(e::f)::g", "::")) == ["a<b::c>", "d(e::f)", "g"]


def test_arguments_of_what_has_none() -> None:
    """A name without brackets has no arguments; an unclosed bracket gives what there is."""
    assert split_arguments("f") == ()
    assert split_arguments("f<int, g<a") == ("int", "g<a")
