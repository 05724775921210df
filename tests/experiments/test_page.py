"""The HTML page: well-formed, self-contained, escaped, honest where there is nothing to say."""

import itertools
import math

import pytest

from banditselect.experiments.claims import Verdict
from banditselect.experiments.claims.claim import FAILS, HOLDS, NOT_APPLICABLE, OPEN, VACUOUS
from banditselect.experiments.report import render
from banditselect.experiments.words import SIGNS
from banditselect.reporting.tables import markdown_table, measured
from page_reader import Reader

NAMES = ("fs-synthetic", "fs-mnist", "fs-cifar100", "ps-synthetic", "ps-cifar10", "ps-cifar10-coarse", "ps-mnist")
NAMES += ("ps-mnist-coarse", "latent")
HOSTILE = "<script>alert('x')</script> \"&\" {{ 7 * 7 }} <blink>"


def verdict(words="PS is better", where="ps-mnist", regime="theory", said=HOLDS, **other):
    vacuous = "a wide bound" if said == VACUOUS else ""
    said = HOLDS if vacuous else said
    told = {"id": words, "quote": words, "place": where, "experiment": where, "claim": words, "note": words} | other
    measured = {"statistic": words, "value": 1.0, "interval": (0.5, 2.0), "expected": words, "n": 4}
    return Verdict(regime=regime, verdict=said, vacuous=vacuous, **(measured | told))


def row(words="PS is better", where="ps-mnist", **other):
    return where, [verdict(words, where, **other)]


def picture(words="words"):
    return {"svg": "<svg xmlns='http://www.w3.org/2000/svg'/>", "caption": words, "alt": words}


def section(name, words="words"):
    return {"title": name, "parts": [{"title": "theory", "pictures": [picture(words)], "note": words}]}


def page(claims, names=NAMES, words="words", regimes=("theory", "tuned")):
    return render(
        title=words,
        version=words,
        counts=words,
        facts=words,
        figures=[(name, [(picture(words), words)]) for name in names],
        regimes=dict.fromkeys(regimes, words),
        claims=claims,
        further=words,
        practical=True,
        added=True,
        link="",
        sections=[section(name, words) for name in names],
        run={words: words},
    )


def test_the_page_is_well_formed_and_figures_come_first():
    text = page([row(where=name, regime=r) for name in NAMES for r in ("theory", "tuned")])
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
    text = page([row()])
    for address in ("url(", "@import", "http:", "https:"):
        assert address not in text


@pytest.mark.parametrize("hostile", [HOSTILE, "]]>", "javascript:alert(1)"])
def test_everything_is_escaped(hostile):
    read = Reader(page([row(hostile, hostile, regime=hostile)], [hostile, hostile + "?"], hostile, [hostile]))
    assert not {"script", "blink"} & {tag for tag, _ in read.tags}
    assert hostile in read.words


def test_a_verdict_is_a_symbol_a_word_and_a_class_and_opens_its_numbers():
    assert set(SIGNS) == {HOLDS, VACUOUS, FAILS, NOT_APPLICABLE, OPEN}
    for parts in zip(*SIGNS.values(), strict=True):
        assert len(set(parts)) == 5
    text = page([row(said=said, expected=f"numbers of {said}") for said in SIGNS])
    for said, sign in SIGNS.items():
        shown = f'<span class="sign {sign.kind}">{sign.symbol}<span class="hidden"> {sign.word}</span></span></summary>'
        why = "; a wide bound" if said == VACUOUS else ""
        assert f"{shown}1.00 [0.50, 2.00]{why}</details>" in text
        assert f"PS is better, expected numbers of {said}; PS is better</details></th>" in text


def test_numbers_that_differ_from_those_of_the_row_stand_with_the_symbol():
    several = [verdict(), verdict(regime="tuned", statistic="another", expected="at least 2")]
    text = page([("ps-mnist", several)])
    assert "another: 1.00 [0.50, 2.00], expected at least 2</details>" in text


def test_a_table_has_a_column_for_every_regime_that_was_judged():
    text = page([row(regime="tuned")])
    assert '<th scope="col">tuned</th>' in text
    assert '<th scope="col">theory</th>' not in text


def test_numbers_that_are_not_there():
    assert measured(-math.inf, (-math.inf, 2.0)) == "−∞ [−∞, 2.00]"
    assert measured(1.23456, (1.2, math.nan)) == "1.23 –"
    space = "\N{NARROW NO-BREAK SPACE}"
    assert measured(12345.6, (12000.0, 13000.0)) == f"12{space}345.6 [12{space}000.0, 13{space}000.0]"


def test_markdown_cells_are_words():
    assert markdown_table(["a"], [["x|y\n<b> `c` _d_"]]).splitlines()[-1] == "| x\\|y &lt;b> \\`c\\` \\_d\\_ |"
