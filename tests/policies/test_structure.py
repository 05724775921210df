"""Limits on the structure of the core: functions of one act, ancestors of a policy, arguments of a kernel."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import banditselect
from banditselect.runtime.files import registered

PACKAGE = Path(banditselect.__file__).parent

HOPS = """
import os, sys, numpy as np
import banditselect as b
root, rng = os.path.dirname(b.__file__), np.random.default_rng(0)
policy = {policy}
shape = {shape}
for _ in range(5):
    policy.update(policy.act(rng.normal(size=shape)), float(rng.normal()))
seen, x = set(), rng.normal(size=shape)

def note(frame, event, arg):
    code = frame.f_code
    if event == "call" and code.co_filename.startswith(root):
        seen.add((code.co_filename, code.co_qualname))

sys.setprofile(note)
policy.act(x)
sys.setprofile(None)
print(len(seen), len({{file for file, _ in seen}}))
"""


@pytest.mark.parametrize(
    ("policy", "shape", "functions", "files"),
    [
        ("b.FSIDS(n_models=3, dim=4)", (3, 5, 4), 32, 9),
        ("b.FSSquareCB(n_models=3, dim=4)", (3, 5, 4), 21, 8),
        ("b.OFUL(dim=4)", (5, 4), 15, 7),
        ("b.PSOFUL(centers=np.eye(4), radii=0.5)", (5, 4), 16, 7),
    ],
)
def test_an_act_passes_few_functions_in_few_files(policy, shape, functions, files):
    """Kernels run as plain Python, so that the functions they call count."""
    script = HOPS.format(policy=policy, shape=shape)
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env={"NUMBA_DISABLE_JIT": "1"})
    found = [int(part) for part in run.stdout.split()]
    within = len(found) == 2 and found[0] <= functions and found[1] <= files
    assert within, f"{found}, expected at most {[functions, files]}{run.stderr}"


@pytest.mark.parametrize("cls", registered().values(), ids=registered())
def test_a_policy_has_at_most_four_classes_of_ours(cls):
    ours = [c.__name__ for c in cls.__mro__ if c.__module__.startswith("banditselect")]
    assert len(ours) <= 4, ours


def kernels():
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [d.id for d in getattr(node, "decorator_list", []) if isinstance(d, ast.Name)]
            if {"kernel", "inlined"} & set(names):
                yield f"{path.relative_to(PACKAGE)}:{node.name}", node


KERNELS = dict(kernels())


@pytest.mark.parametrize(("name", "node"), KERNELS.items(), ids=KERNELS)
def test_a_kernel_has_at_most_nine_arguments(name, node):
    assert len(node.args.args) <= 9, name


def test_every_argument_is_declared_once():
    for cls in registered().values():
        for name in inspect.signature(cls).parameters:
            assert name in cls.arguments, f"{cls.__name__}: {name}"
