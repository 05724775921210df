"""The names that contributors import: every name is there, and CONTRIBUTING.md needs no other module."""

import ast
import doctest
from pathlib import Path

import banditselect
from banditselect import authoring

CONTRIBUTING = Path(__file__).parent.parent / "CONTRIBUTING.md"
ALLOWED = {"banditselect", "banditselect.authoring", "banditselect.checks", "numpy"}


def test_every_name_is_there_and_explained():
    missing = [name for name in authoring.__all__ if not hasattr(authoring, name)]
    unexplained = [name for name in authoring.__all__ if f"``{name}" not in authoring.__doc__]
    assert not missing
    assert not unexplained
    assert len(set(authoring.__all__)) == len(authoring.__all__)


def test_names_that_users_know_are_the_same_here():
    for name in set(authoring.__all__) & set(vars(banditselect)):
        assert getattr(authoring, name) is getattr(banditselect, name)


def test_the_page_for_contributors_imports_these_modules_only():
    imported = set()
    for example in doctest.DocTestParser().get_examples(CONTRIBUTING.read_text()):
        for node in ast.walk(ast.parse(example.source)):
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add(node.module)
    assert "banditselect.authoring" in imported
    assert imported <= ALLOWED | {"inspect"}
