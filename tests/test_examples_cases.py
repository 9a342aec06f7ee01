"""The table of examples, and the comparison of what they print."""

from __future__ import annotations

import ast
import re

import pytest
from examples_cases import CASES, EXAMPLES, GOLDENS, PIPELINES, Case, compare

by_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def test_every_example_and_every_golden_belongs_to_a_case():
    assert len({case.name for case in CASES}) == len(CASES)
    assert {case.path for case in CASES} == set(EXAMPLES.glob("*.py"))
    assert {case.golden for case in CASES} == set(GOLDENS.glob("*.txt"))


def test_every_pipeline_has_a_plain_form():
    """``examples/pipelines`` has programs on this library; each prints what the one of its name printed on 1.15.5."""
    plain = {case.script for case in CASES if not case.args}
    assert {path.name for path in PIPELINES} <= plain and len(PIPELINES) == 2


def test_data_of_the_examples_is_small():
    sizes = [path.stat().st_size for path in (EXAMPLES / "data").iterdir()]
    assert max(sizes) < 200_000 and sum(sizes) < 400_000


@by_case
def test_example_is_a_plain_tf1_program(case: Case):
    tree = ast.parse(case.path.read_text(encoding="utf-8"))
    imported = {
        name
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in ([node.module] if isinstance(node, ast.ImportFrom) else
                     [alias.name for alias in node.names])
    }  # fmt: skip
    assert "tensorflow" in imported
    assert not [name for name in imported if name and name.startswith(("tf1sessions", "tensorflow."))]
    attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not attributes & {"contrib", "compat"}


@by_case
def test_golden_equals_itself(case: Case):
    assert case.differences(case.golden.read_text(encoding="utf-8")) == []


@by_case
def test_a_number_just_out_of_tolerance_is_found(case: Case):
    golden = case.golden.read_text(encoding="utf-8")
    *_, last = re.finditer(r"(?<=[ +-])\d+\.\d+(?=\s)", golden)
    value = float(last.group())
    allowed = case.atol + case.rtol * value
    start, end = last.span()
    assert case.differences(f"{golden[:start]}{value + 0.9 * allowed:.9f}{golden[end:]}") == []
    (found,) = case.differences(f"{golden[:start]}{value + 1.1 * allowed:.9f}{golden[end:]}")
    assert last.group() in found and "off by" in found


@by_case
def test_lost_and_added_lines_are_found(case: Case):
    lines = case.golden.read_text(encoding="utf-8").splitlines()
    assert any("missing" in d for d in case.differences("\n".join(lines[:-1])))
    assert any("unexpected" in d for d in case.differences("\n".join([*lines, "Killed"])))
    assert case.differences("") != []


@pytest.mark.parametrize(
    ("golden", "text"),
    [
        ("", ""),
        ("step 10 loss 0.5000", "step 10 loss 0.5049"),
        ("loss 100.0", "loss 101.0"),
        ("loss 100.0", "loss 98.995"),
        ("loss -0.0000", "loss 0.0000"),
        ("x    9.999 y", "x   10.000 y"),
        ("energy 1.8e-05 of itself", "energy 1.9e-05 of itself"),
        ("w -2.5e+03, b", "w -2.51e+03, b"),
        ("[0.25 0.75]", "[0.251 0.749]"),
        ("a=0.25,b=(0.75)", "a=0.251,b=(0.749)"),
        ("loss nan", "loss nan"),
        ("a\nb\n", "a\r\nb"),
    ],
)
def test_same_within_tolerance(golden: str, text: str):
    assert compare(golden, text, rtol=0.01, atol=0.005) == []


@pytest.mark.parametrize(
    ("golden", "text"),
    [
        ("step 10 loss 0.5000", "step 10 loss 0.5101"),
        ("step 1000 loss 0.5", "step 1001 loss 0.5"),  # a count is exact
        ("step 1000", "step 1000.5"),
        ("step 10 loss 0.5", "step 10 lost 0.5"),
        ("step 10 loss 0.5", "step 10 loss 0.5 "),
        ("step 10 loss 0.5", "step 10 loss0.5"),
        ("step 10 loss 0.5", " step 10 loss 0.5"),
        ("loss 0.5", "loss nan"),
        ("loss nan", "loss 0.5"),
        ("loss 0.5", "loss -0.5"),
        ("loss 1.0", "loss 1.0 2.0"),
        ("loss 1.0 2.0", "loss 1.0"),
        ("layer1/kernel [3, 3]", "layer2/kernel [3, 3]"),
        ("model.ckpt-400", "model.ckpt-401"),
        ("version 1.15.5", "version 1.15.4"),
        ("w 1.0e-05", "w 1.0e+05"),
        ("same: True", "same: False"),
        ("'Shall I'", "'Shall i'"),
        ("a  b", "a b"),
        ("a\nb", "a"),
        ("a", "a\nb"),
        ("a\n\nb", "a\nb"),
    ],
)
def test_difference_is_found(golden: str, text: str):
    found = compare(golden, text, rtol=0.01, atol=0.005)
    assert found and all(re.match(r"line \d+: ", line) for line in found)


def test_every_number_out_of_tolerance_is_reported_with_its_line():
    found = compare("a 1\nb 1.0 c 2.0\n", "a 1\nb 1.5 c 2.5\n", rtol=0, atol=0.1)
    assert [line.split(" in ")[0] for line in found] == [
        "line 2: expected 1.0, got 1.5 (off by 0.5, allowed 0.1)",
        "line 2: expected 2.0, got 2.5 (off by 0.5, allowed 0.1)",
    ]
