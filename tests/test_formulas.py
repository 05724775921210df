"""Formulas of docstrings as a terminal shows them."""

import pytest

from banditselect.cli.formulas import readable, without_markup
from banditselect.cli.listing import names, page


@pytest.mark.parametrize("name", names())
def test_no_page_leaves_latex_behind(name):
    shown = page(name)
    assert "\\" not in shown
    assert "math:" not in shown
    assert "``" not in shown


@pytest.mark.parametrize(
    ("latex", "shown"),
    [
        (r"\lambda_i = d_i R^2 / S^2", "λ_i = d_i R² / S²"),
        (r"|\phi(a)|^2_{V_t^{-1}}", "|φ(a)|²_(V_t⁻¹)"),
        (r"|\theta - \hat\theta_i|^2_{V_i} \le \rho_i^2", "|θ - θ̂_i|²_(V_i) ≤ ρ_i²"),
        (r"\frac{1}{\kappa + \alpha} + 1", "1 / (κ + α) + 1"),
        (r"\frac{1 - \alpha}{2} q^*(a)", "((1 - α) / 2) q^*(a)"),
        (r"\exp\left(\frac{-g(a)^2}{\beta_t S(a)}\right)", "exp(-g(a)² / (β_t S(a)))"),
        (r"2 s R \sqrt{\frac{2 \log t}{n_k}}", "2 s R √((2 log t) / n_k)"),
        (r"\sqrt\lambda S", "√λ S"),
        (r"\log\det(V / \lambda)", "log det(V / λ)"),
        (r"a \ne a' = \arg\max_a \langle \phi(a), \tilde\theta \rangle", "a ≠ a' = arg max_a ⟨φ(a), θ̃⟩"),
        (r"(\theta - \mu)^\top P^{-1}", "(θ - μ)ᵀ P⁻¹"),
        (r"e^{-L_i / (2 R^2)}", "e^(-L_i / (2 R²))"),
        (r"R_{Sq}, \mathrm{Var}_h, (eq:a\text{-}b)", "R_Sq, Var_h, (eq:a-b)"),
        (r"k \sim w, \qquad x \propto y", "k ~ w,\nx ∝ y"),
        (r"\unknown{x}", r"\unknownx"),  # so that the test above finds it
    ],
)
def test_a_formula_by_hand(latex, shown):
    assert readable(latex) == shown


def test_formulas_of_a_text_are_found_inside_lines_and_in_blocks_of_their_own():
    text = (
        "Let :math:`\\alpha` be\n\n.. math:: a = \\frac{b}{c}, \\qquad\n          d = \\sqrt e\n\nas in :class:`~x.Y`."
    )
    assert without_markup(text) == "Let α be\n\n    a = b / c,\n    d = √e\n\nas in x.Y."
