"""The HTML page: well-formed, self-contained, escaped, honest where there is nothing to say."""

import dataclasses
import itertools
import math
from html.parser import HTMLParser

import pytest

from banditselect.experiments.claims.measuring import FAILS, HOLDS, NOT_APPLICABLE, OPEN
from banditselect.reporting.markdown import markdown_table, replace_between
from banditselect.reporting.numbers import interval, measured
from banditselect.reporting.page import Citation, Page, Picture, Section, Subsection, Table, render
from banditselect.reporting.verdicts import MEANINGS, SIGNS, CheckedSentence, matrices, overall

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


def check(quote="PS is better", section="ps-mnist", regime="theory", verdict="holds", **other):
    told = {"place": "Section 5", "statistic": "ratio", "value": 0.5, "interval": (0.4, 0.6), "expected": "at most 1"}
    return CheckedSentence(quote=quote, section=section, regime=regime, verdict=verdict, **{**told, "n": 50, **other})


def section(name, words="words", svg="<svg xmlns='http://www.w3.org/2000/svg'/>"):
    table = Table(words, ["policy", words], [[words, "1.0 ± 0.1"]], words)
    picture = Picture(svg, words, words, True)
    shown = Subsection("theory", [picture], [table], [table._replace(face="code")])
    return Section(name, words, words, [words, f"{words} ``code``"], [(words, words)], [shown])


def page(checks, names=NAMES, words="words"):
    sections = [section(name, words) for name in names]
    citations = [Citation(words, "@article{" + words + "}")]
    return Page(words, [words], {"theory": words, "tuned": words}, checks, sections, [(words, words)], citations)


def test_the_page_is_well_formed_and_complete():
    regimes = ("theory", "tuned")
    checks = [check(f"sentence {k % 3}", name, regime) for k, name in enumerate(NAMES) for regime in regimes]
    read = Reader(render(page(checks)))
    assert len(set(read.ids)) == len(read.ids)
    assert all(link.startswith("#") and link[1:] in read.ids for link in read.links)
    assert read.sources
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
    assert len([tag for tag, told in read.tags if told.get("class") == "entry"]) == len(checks)


def test_the_page_asks_for_nothing_from_elsewhere():
    text = render(page([check()]))
    assert "url(" not in text
    assert "@import" not in text
    assert "http:" not in text
    assert "https:" not in text


def test_everything_is_escaped():
    words = [HOSTILE, "]]>", "javascript:alert(1)"]
    for hostile in words:
        checks = [check(hostile, hostile, regime=hostile, place=hostile, statistic=hostile, expected=hostile)]
        read = Reader(render(page(checks, [hostile, hostile + "?"], hostile)))
        assert not {"script", "blink"} & {tag for tag, _ in read.tags}
        assert hostile in read.words
        assert len(set(read.ids)) == len(read.ids)
        assert all(link[1:] in read.ids for link in read.links)


def test_a_verdict_is_a_symbol_a_word_and_a_class():
    assert set(SIGNS) == set(MEANINGS) == {HOLDS, f"{HOLDS} vacuously", FAILS, NOT_APPLICABLE, OPEN}
    for parts in zip(*SIGNS.values(), strict=True):
        assert len(set(parts)) == 5
    text = render(page([check(verdict=v, quote=v) for v in SIGNS]))
    for sign in SIGNS.values():
        assert (
            f'<span class="sign {sign.kind}"><span aria-hidden="true">{sign.symbol}</span> {sign.word}</span>' in text
        )


def test_a_sentence_with_parts_holds_if_all_do():
    assert overall([HOLDS, HOLDS]) == HOLDS
    assert overall([HOLDS, OPEN]) == OPEN
    assert overall([OPEN, FAILS, HOLDS]) == FAILS
    assert overall([NOT_APPLICABLE, HOLDS]) == NOT_APPLICABLE
    assert overall([f"{HOLDS} vacuously", HOLDS]) == f"{HOLDS} vacuously"
    (matrix,) = matrices([check(verdict=HOLDS), check(verdict=OPEN)], ["ps-mnist"], ["theory"])
    assert [entry.sign.verdict for entry in matrix.rows[0].cells[0][1]] == [OPEN]


def test_sentences_on_the_same_sections_stand_together():
    checks = [check("1", "c"), check("2", "a"), check("2", "b"), check("3", "b", regime="tuned"), check("4", "c")]
    first, second = matrices(checks, ["a", "b", "c"], ["theory", "tuned"])
    assert (first.columns, [row.words for row in first.rows]) == (["a", "b"], ["2", "3"])
    assert (second.columns, [row.words for row in second.rows]) == (["c"], ["1", "4"])
    assert first.rows[1].cells[0] == ("a", [])
    assert first.rows[1].cells[1][1][0].regime == "tuned"
    read = Reader(render(page(checks, ["a", "b", "c"])))
    numbers = [told["id"] for tag, told in read.tags if tag == "tr" and told.get("id", "").startswith("sentence")]
    assert numbers == [f"sentence-{k}" for k in range(1, 5)]


def test_what_is_not_quoted_stands_apart_and_vacuous_verdicts_say_why():
    checks = [check("ours", "b", quoted=False), check("paper's", "a", vacuous="for this reason"), check("more", "b")]
    quoted, others = (matrices(checks, ["a", "b"], ["theory"], quoted=q) for q in (True, False))
    assert [row.words for matrix in quoted for row in matrix.rows] == ["paper's", "more"]
    assert [row.words for matrix in others for row in matrix.rows] == ["ours"]
    assert quoted[0].rows[0].cells[0][1][0].sign.verdict == "holds vacuously"
    read = Reader(render(page(checks, ["a", "b"])))
    assert "for this reason" in read.words
    assert "“more”" in read.words
    assert "“ours”" not in read.words
    assert read.words.index("more") < read.words.index("Beyond the paper") < read.words.index("3 ours")


def test_a_long_sentence_is_shortened_and_there_in_full():
    quote = "words and " * 40
    read = Reader(render(page([check(quote)])))
    assert "full-1" in read.ids
    assert quote.strip() in read.words
    assert "…" in read.words


def test_numbers_that_are_not_there():
    bare = check(value=math.nan, interval=(math.nan, math.nan), n=1)
    assert "nan" not in Reader(render(page([bare]))).words
    assert interval((-math.inf, 2.0)) == "[−∞, 2.00]"
    assert measured(1.23456, (1.2, 1.3)) == "1.235"
    assert measured(12345.6, (12000.0, 13000.0)) == "12\N{NARROW NO-BREAK SPACE}345.6"


def test_an_empty_page():
    read = Reader(render(Page("title", [], {}, [], [])))
    assert "No sentence of the paper was judged." in read.words


def test_what_the_page_refuses():
    with pytest.raises(ValueError, match="verdict: got 'perhaps', expected one of 'holds'"):
        render(page([check(verdict="perhaps")]))
    with pytest.raises(ValueError, match="checks: got 'nowhere', expected a section"):
        render(page([check(section="nowhere")]))


def test_what_a_section_is_about_is_shown_as_it_was_written():
    about = ["The paper: ``d = 50``,\n10 *actions*.", "* chosen <i>by us</i>"]
    text = render(dataclasses.replace(page([]), sections=[section("one")._replace(about=about)]))
    assert "<p>The paper: ``d = 50``,\n10 *actions*.</p>\n<p>* chosen &lt;i&gt;by us&lt;/i&gt;</p>" in text


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
