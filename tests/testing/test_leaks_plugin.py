"""Leaks in a pytest with the plugin: each kind fails the test, with the line; the tidy twin passes."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from tf1sessions.testing.leak_origins import origin, program_line
from tf1sessions.testing.leaks import KINDS

pytest_plugins = ["pytester"]

HERE = Path(__file__).parent


@pytest.mark.slow
def test_leaks_fail_tests(pytester: pytest.Pytester) -> None:
    source = (HERE / "leaks_program.py").read_text("utf-8")
    path = pytester.path / "test_program.py"
    path.write_text(source, "utf-8")
    pytester.makeconftest(
        """
        from tf1sessions.testing.leaks import LeakWatch

        LeakWatch.__init__.__kwdefaults__["grace_secs"] = 0.5  # which each leak costs
        """
    )
    report = pytester.path / "report.xml"
    done = pytester.runpytest_subprocess(
        "-p", "no:cacheprovider", "-p", "no:xdist", "-o", "tf1_leaks=all", f"--junitxml={report}", timeout=150
    )
    cases = {case.get("name", ""): list(case) for case in ElementTree.parse(report).iter("testcase")}
    names = re.findall(r"^ *def (test_\w+)", source, re.MULTILINE)
    assert cases.keys() - {"test_session"} == set(names), done.outlines  # that is TensorFlow's, and skips itself
    kinds = set()
    for name in names:
        found = cases[name]
        text = "".join(f"{each.get('message')}\n{each.text}" for each in found)
        if name.endswith("_fails"):
            assert [each.tag for each in found] == ["failure"] and "what matters" in text and "left" not in text, text
        elif name.endswith("_is_skipped"):
            assert [each.tag for each in found] == ["skipped"], f"{name}: {text}"
        elif not name.endswith("_is_error"):
            assert found == [], f"{name}: {text}"
        else:
            assert [each.tag for each in found] == ["error"], f"{name}: {text}"
            (kind,) = (kind for kind in KINDS if name.startswith(f"test_{kind.replace(' ', '_')}"))
            kinds.add(kind)
            assert re.search(rf"^(left )?{kind}: ", text, re.MULTILINE), text
            assert _lines(source, name, path) & set(re.findall(r"made at (\S+) in ", text)), text
    assert kinds == set(KINDS)


def test_a_script_that_starts_pytest_is_not_the_program() -> None:
    """As an IDE's runner: what fixtures of ours make would else be the program's, and left by each test."""
    names = {"__name__": pytest.Session.__module__, "origin": origin, "program_line": program_line}
    exec(compile("found = origin().line, program_line()", pytest.__file__, "exec"), names)  # in which this test is it
    assert names["found"] == (None, None)
    assert origin().line is not None and program_line() is not None


def _lines(source: str, test: str, path: Path) -> set[str]:
    """The places that are marked in a test, and in the fixture that it uses."""
    lines = source.splitlines()
    first = next(number for number, line in enumerate(lines) if f"def {test}(" in line)
    fixture = next((number for number, line in enumerate(lines) if "def server(" in line), first)
    starts = [first, *([fixture] if "(server:" in lines[first] else [])]
    return {
        f"{path}:{number}"
        for start in starts
        for number, line in enumerate(lines, 1)
        if line.endswith("# here") and start < number <= start + 8
    }
