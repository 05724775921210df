"""The HTML page: well-formed, self-contained, escaped, honest where there is nothing to say."""

import itertools
import math
from html.parser import HTMLParser

import pytest

from banditselect.experiments.claims.measuring import FAILS, HOLDS, NOT_APPLICABLE, OPEN
from banditselect.reporting.markdown import markdown_table, replace_between
from banditselect.reporting.numbers import interval, measured
from banditselect.reporting.page import Citation, Figure, Page, Part, Picture, Section, Table, render
from banditselect.reporting.verdicts import SIGNS, Checked, Claim, ordered

VOID = {"meta", "img", "br", "hr", "link", "input"}
NAMES = ("fs-synthetic", "fs-mnist", "fs-cifar100", "ps-synthetic", "ps-cifar10", "ps-cifar10-coarse", "ps-mnist")
NAMES += ("ps-mnist-coarse", "latent")
HOSTILE = "<script>alert('x')</script> \"&\" {{ 7 * 7 }} <blink>"


class Reader(HTMLParser):
    """Reads a page and refuses one whose tags are not balanced."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.ids, self.links, self.sources, self.words = [], [], [], [], [], ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        told = dict(attrs)
        self.tags.append((tag, told))
        self.ids += [told["id"]] if "id" in told else []
        self.links += [told["href"]] if "href" in told else []
        self.sources += [told["src"]] if "src" in told else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words += data if self.open and self.open[-1] != "style" else ""


def claim(words="PS is better", where="ps-mnist", regime="theory", verdict=HOLDS, numbers="1.0", source="quoted"):
    return Claim(words, where, source, [Checked(regime, verdict, numbers)])


def picture(words="words"):
    return Picture("<svg xmlns='http://www.w3.org/2000/svg'/>", words, words)


def section(name, words="words"):
    table = Table(words, ["policy", words], [[words, "1.0 ± 0.1"]], words)
    return Section(name, [(words, words)], [Part("theory", [picture(words)], [table, table._replace(face="code")])])


def page(claims, names=NAMES, words="words", regimes=("theory", "tuned")):
    figures = [Figure(name, [(picture(words), words)]) for name in names]
    sections = [section(name, words) for name in names]
    citations = [Citation(words, "@article{" + words + "}")]
    regimes = dict.fromkeys(regimes, words)
    return Page(words, [words], words, figures, regimes, claims, claims, words, "", sections, words, [], citations)


def test_the_page_is_well_formed_and_figures_come_first():
    text = render(page([claim(where=name, regime=r) for name in NAMES for r in ("theory", "tuned")]))
    read = Reader(text)
    assert len(set(read.ids)) == len(read.ids)
    assert len(read.sources) == 2 * len(NAMES)
    assert all(source.startswith("data:image/svg+xml;base64,") for source in read.sources)
    assert all(told.get("alt") for tag, told in read.tags if tag == "img")
    assert all(told.get("scope") in ("row", "col") for tag, told in read.tags if tag == "th")
    assert not {"script", "link", "iframe", "object"} & {tag for tag, _ in read.tags}
    levels = [int(tag[1]) for tag, _ in read.tags if tag in ("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in itertools.pairwise(levels))
    assert dict(read.tags)["html"] == {"lang": "en"}
    assert all(name in read.words for name in NAMES)
    assert text.index("<figure>") < text.index('id="claims"') < text.index('id="details"')


def test_the_page_loads_nothing_from_elsewhere():
    text = render(page([claim()]))
    for address in ("url(", "@import", "http:", "https:"):
        assert address not in text


@pytest.mark.parametrize("hostile", [HOSTILE, "]]>", "javascript:alert(1)"])
def test_everything_is_escaped(hostile):
    claims = [claim(hostile, hostile, hostile, HOLDS, hostile, hostile)]
    read = Reader(render(page(claims, [hostile, hostile + "?"], hostile, [hostile])))
    assert not {"script", "blink"} & {tag for tag, _ in read.tags}
    assert hostile in read.words


def test_a_verdict_is_a_symbol_a_word_and_a_class_and_opens_its_numbers():
    assert set(SIGNS) == {HOLDS, f"{HOLDS} vacuously", FAILS, NOT_APPLICABLE, OPEN}
    for parts in zip(*SIGNS.values(), strict=True):
        assert len(set(parts)) == 5
    text = render(page([claim(verdict=v, numbers=f"numbers of {v}") for v in SIGNS]))
    for verdict, sign in SIGNS.items():
        shown = f'<span class="sign {sign.kind}">{sign.symbol}<span class="hidden"> {sign.word}</span></span></summary>'
        assert f"{shown}numbers of {verdict}</details>" in text


def test_undecided_claims_come_last():
    claims = [claim(str(k), verdict=v) for k, v in enumerate([OPEN, FAILS, HOLDS, NOT_APPLICABLE, OPEN, HOLDS])]
    assert [one.words for one in ordered(claims)] == ["2", "5", "1", "3", "0", "4"]
    several = claim("both")._replace(checked=[Checked("theory", OPEN, ""), Checked("tuned", FAILS, "")])
    assert [one.words for one in ordered([*claims, several])] == ["2", "5", "1", "both", "3", "0", "4"]


def test_a_table_has_a_column_for_every_regime_that_was_judged():
    text = render(page([claim(regime="tuned")]))
    assert '<th scope="col">tuned</th>' in text
    assert '<th scope="col">theory</th>' not in text


def test_numbers_that_are_not_there():
    assert interval((-math.inf, 2.0)) == "[−∞, 2.00]"
    assert measured(1.23456, (1.2, 1.3)) == "1.235"
    assert measured(12345.6, (12000.0, 13000.0)) == "12\N{NARROW NO-BREAK SPACE}345.6"


def test_an_empty_page():
    assert "No claim of the paper was checked." in Reader(render(Page("title", [], "", [], {}, []))).words


def test_refusals():
    with pytest.raises(ValueError, match="verdict: got 'perhaps', expected one of 'holds'"):
        render(page([claim(verdict="perhaps")]))
    with pytest.raises(ValueError, match="regime: got 'nowhere', expected one of 'theory', 'tuned'"):
        render(page([claim(regime="nowhere")]))


def test_markdown_cells_are_words():
    assert markdown_table(["a"], [["x|y\n<b> `c` _d_"]]).splitlines()[-1] == "| x\\|y &lt;b> \\`c\\` \\_d\\_ |"


def test_replacing_between_markers():
    text = "before\n<!-- claims -->\nold\n<!-- end of claims -->\nafter\n"
    new = replace_between(text, "claims", "| new |\n")
    assert new == "before\n<!-- claims -->\n| new |\n<!-- end of claims -->\nafter\n"
    assert replace_between(new, "claims", "| new |") == new
    for bad in ("", "<!-- claims -->", "<!-- end of claims --><!-- claims -->", text + text):
        with pytest.raises(ValueError, match="<!-- claims -->"):
            replace_between(bad, "claims", "new")
