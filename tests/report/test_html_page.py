"""report.html: outside text stays text, links lead somewhere, nothing is loaded."""

import re
from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser

import msgspec
import pytest

from compdiff.model import Capture, Run
from compdiff.report.html_page import content_policy, render_page
from compdiff.report.view import make_page
from tests.report.examples import EXAMPLES, HOSTILE, Example, geglu, linear, traced, training
from tests.variants import planned_golden

MADE_BY = pytest.mark.parametrize("example", EXAMPLES, ids=lambda make: make.__name__)
# No template writes these: one that stands in a page came in from outside.
_FOREIGN = frozenset({"img", "iframe", "object", "embed", "base"})


class Elements(HTMLParser):
    """The elements of a page with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep an element."""
        self.found.append((tag, {name: value or "" for name, value in attrs}))
        self._inside = tag

    def handle_data(self, data: str) -> None:
        """Keep text that a reader sees."""
        if self._inside not in {"script", "style"}:
            self.words.append(data)

    def every(self, attribute: str) -> list[str]:
        """Return the values of an attribute over all elements."""
        return [attributes[attribute] for _, attributes in self.found if attribute in attributes]


def rendered(example: Example) -> str:
    """Return an example's report."""
    return render_page(make_page(*example))


@pytest.mark.parametrize(("example", "data"), [(training, []), (traced, ["application/json"])])
def test_hostile_text_makes_no_element(example: Callable[[], Example], data: list[str]) -> None:
    """A name that is markup makes no image, script or handler, wherever it comes in; data is no script that runs."""
    elements = Elements(rendered(example()))
    assert not {tag for tag, _ in elements.found} & _FOREIGN
    scripts = [attributes.get("type", "") for tag, attributes in elements.found if tag == "script"]
    assert scripts == [*data, ""]
    assert not [name for _, found in elements.found for name in found if name.startswith("on")]


def test_hostile_text_is_shown() -> None:
    """It is not dropped either: the reader sees the name as it is."""
    assert HOSTILE in "".join(Elements(rendered(training())).words)


@MADE_BY
def test_ids_are_unique(example: Callable[[], Example]) -> None:
    """Each id stands once, so that a link leads to one place."""
    ids = Counter(Elements(rendered(example())).every("id"))
    assert [name for name, count in ids.items() if count > 1] == []


@MADE_BY
def test_links_lead_somewhere(example: Callable[[], Example]) -> None:
    """Every link is within the page, to an id that is there."""
    elements = Elements(rendered(example()))
    ids = set(elements.every("id"))
    for tag, attributes in elements.found:
        # The empty icon keeps a browser from asking for one.
        allowed = {"data:,"} if tag == "link" else {f"#{name}" for name in ids}
        assert {attributes.get("href")} <= {None, *allowed}


@MADE_BY
def test_nothing_is_loaded(example: Callable[[], Example]) -> None:
    """No address, no source, and a policy that would forbid both."""
    text = rendered(example())
    elements = Elements(text)
    assert elements.every("src") == []
    assert not re.search(r"url\(|@import", text)
    (policy,) = [
        found["content"]
        for tag, found in elements.found
        if tag == "meta" and found.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy.startswith("default-src 'none'")


def test_policy_names_what_may_run() -> None:
    """Another script has another hash, so the policy of one page allows no other script."""
    assert content_policy("a", "b") != content_policy("a", "c")
    assert "unsafe" not in content_policy("a", "b")


@MADE_BY
def test_same_run_same_bytes(example: Callable[[], Example]) -> None:
    """Nothing in a page reads a clock or the order of a set."""
    assert rendered(example()) == rendered(example())


@MADE_BY
def test_every_item_has_its_place(example: Callable[[], Example]) -> None:
    """Each op call and each kernel of both sides, and each rewrite, can be linked to."""
    run, diff = example()
    ids = set(Elements(rendered(Example(run, diff))).every("id"))
    expected = {f"e{call.id}" for call in run.left.op_calls}
    expected |= {f"c{call.id}" for call in run.right.op_calls}
    expected |= {f"ek{kernel.id}" for kernel in run.left.kernels}
    expected |= {f"k{kernel.id}" for kernel in run.right.kernels}
    expected |= {rewrite.id for rewrite in diff.rewrites}
    assert expected <= ids


def test_a_failed_run_says_where_it_ended() -> None:
    """What was measured is shown, and the failure above it."""
    words = " ".join(Elements(rendered(training())).words)
    assert "compare outputs" in words
    assert "What became of each op call" in words


def test_a_run_without_times_says_so() -> None:
    """Nothing pretends to be a timing."""
    run, diff = geglu()
    words = " ".join(
        Elements(rendered(Example(msgspec.structs.replace(run, timing=None), diff))).words
    )
    assert "The sides were not timed." in words
    assert "faster" not in words


def test_a_side_without_anything_still_renders() -> None:
    """A run that ended before its compiled side began is a page too."""
    run, diff = linear()
    empty = Capture(label="compiled", basis="measured", device="cpu")
    bare = msgspec.structs.replace(diff, origins={}, rewrites=(), matches=())
    unknown = {op: msgspec.structs.replace(fate, rewrite=None) for op, fate in diff.fates.items()}
    bare = msgspec.structs.replace(bare, fates=unknown)
    assert "aten::mm" in rendered(Example(msgspec.structs.replace(run, right=empty), bare))


def test_a_plan_is_never_called_measured() -> None:
    """Estimates are labelled, and the columns for profiled times are gone."""
    run, diff = planned_golden("linear-size4096")
    words = " ".join(Elements(rendered(Example(run, diff))).words)
    assert "estimated, nothing was run" in words
    assert "Profiled" not in words
    assert "A plan has no times: nothing was run." in words
    assert "Profiler table" not in words
    assert "how this was measured" not in words
    assert "model: " in words


def test_readable_without_script() -> None:
    """All text stands in the page before any script runs."""
    run, diff = geglu()
    text = re.sub(r"<script.*?</script>", "", rendered(Example(run, diff)), flags=re.DOTALL)
    words = "".join(Elements(text).words)
    for call in run.left.op_calls:
        assert call.name in words
    assert "cpp_fused_gelu_mul_0" in words


def test_a_run_that_is_no_page_of_another() -> None:
    """Two runs give two pages."""
    first, second = linear(), geglu()
    assert isinstance(first.run, Run)
    assert rendered(first) != rendered(second)


def test_many_missed_places_are_folded() -> None:
    """The dearest six are open, the rest in a part that folds; without any there is no section."""
    text = rendered(training())
    missed = text[text.index('id="missed"') : text.index('id="findings"')]
    assert missed.index('id="m6"') < missed.index("<details") < missed.index('id="m7"')
    assert ">2 more</summary>" in missed
    assert 'id="missed"' not in rendered(linear())


def test_an_answer_has_its_own_section() -> None:
    """It says where the rule applied, with a link, and shows each place where it nearly did."""
    text = rendered(training())
    answer = text[text.index('id="why-not"') : text.index('id="missed"')]
    assert "It applied 1 time, and nearly did in 1 other place." in answer
    assert 'href="#r1"' in answer
    assert 'id="n1"' in answer
    assert 'id="why-not"' not in rendered(linear())
