"""The sentence under a figure: its words for every outcome, and its length for all of them together."""

import itertools

import pytest

from banditselect.experiments import EXPERIMENTS
from banditselect.experiments.claims import Verdict
from banditselect.experiments.claims.paper import SENTENCES
from banditselect.experiments.words import SETTINGS, order_sentence

OUTCOMES = {"✓": ("holds", ""), "(✓)": ("holds", "a wide bound"), "✗": ("does not hold", "")}
OUTCOMES |= {"∅": ("not applicable", ""), "?": ("not decided", "")}
FIGURES = {name for one in SENTENCES for name in one.experiments if one.claim}


def verdicts(*told, regime="practical", policy=""):
    return [
        Verdict(
            "x", "", "", "fs-mnist", regime, "", 1.0, (0.0, 2.0), "", verdict, 9, vacuous, claim=claim, policy=policy
        )
        for claim, (verdict, vacuous) in told
    ]


@pytest.mark.parametrize(
    ("signs", "words"),
    [
        ("✓", "appears: A wins."),
        ("✓ ✓", "appears: A wins and B wins."),
        ("✓ ✓ ✓", "appears: A wins, B wins and C wins."),
        ("✓ ? ✓", "appears where it is decided: A wins and C wins; undecided: B wins."),
        ("✓ ✗ ?", "appears in part: A wins; not: B wins; undecided: C wins."),
        ("✓ (✓)", "appears in part: A wins; only vacuously: B wins."),
        ("✗ ✗ (✓)", "does not appear; not: A wins and B wins; only vacuously: C wins."),
        ("∅ ?", "does not appear; not applicable: A wins; undecided: B wins."),
        ("? (✓)", "is not shown; only vacuously: B wins; undecided: A wins."),
        ("?", "is not shown; undecided: A wins."),
    ],
)
def test_the_words_for_every_outcome(signs, words):
    told = zip(("A wins", "B wins", "C wins"), (OUTCOMES[sign] for sign in signs.split()), strict=False)
    assert order_sentence(verdicts(*told)) == f"With practical settings the paper's order {words}"


def test_the_setting_leads_and_sentences_on_no_figure_are_left_out():
    told = [("", OUTCOMES["✗"]), ("A wins", OUTCOMES["✓"])]
    assert order_sentence(verdicts(*told, regime="tuned")) == "With everything tuned the paper's order appears: A wins."
    assert order_sentence(verdicts(*told, regime="theory")).startswith("With printed constants the paper's")
    assert order_sentence(verdicts(*told[:1])) == order_sentence([]) == ""


def test_the_policy_that_decides_is_named_where_a_claim_does_not_hold():
    told = [("A wins", OUTCOMES["✓"]), ("B wins", OUTCOMES["✗"])]
    words = order_sentence(verdicts(*told, policy="OFUL, S = 10"))
    assert words.endswith("appears in part: A wins; not: B wins (compared with OFUL, S = 10).")


@pytest.mark.parametrize("figure", sorted(FIGURES))
def test_sixty_words_are_enough_whatever_comes_out(figure):
    assert set(EXPERIMENTS[figure].regimes) <= set(SETTINGS)
    claims = [one.claim for one in SENTENCES if figure in one.experiments and one.claim]
    for outcomes in itertools.product(OUTCOMES.values(), repeat=len(claims)):
        sentence = order_sentence(verdicts(*zip(claims, outcomes, strict=True)))
        assert len(sentence.split()) <= 60
        assert all(claim in sentence for claim in claims)
