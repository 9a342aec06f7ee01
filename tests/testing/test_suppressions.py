"""Files of suppressions, what a rule covers, and races as SARIF. Needs no TensorFlow."""

from __future__ import annotations

from pathlib import Path

import pytest

from tf1sessions.errors import UsageError
from tf1sessions.testing import race_sarif
from tf1sessions.testing.reports import Access, RaceKind, Report
from tf1sessions.testing.suppressions import Suppression, Suppressions, read_suppressions

VARIABLE, GROWTH = RaceKind.VARIABLE, RaceKind.GROWTH
STACKS = (
    ("/home/a/agents/a3c.py:12 in Agent.update", "/home/a/train.py:3 in main"),
    ("worker.py:4 in loop, which started it", "the end of the program, in a library or a finalizer"),
)


@pytest.mark.parametrize(
    ("rule", "covers"),
    [
        ({"kind": VARIABLE.value}, True),
        ({"kind": GROWTH.value}, False),
        ({"file": "a3c.py"}, True),
        ({"file": "agents/*.py"}, True),
        ({"file": "/home/a/train.py"}, True),
        ({"file": "ain.py"}, False),
        ({"file": "worker.py", "function": "loop"}, True),
        ({"function": "Agent.*"}, True),
        ({"function": "update"}, False),
        ({"file": "train.py", "function": "Agent.*"}, False),  # not the same frame
        ({"variable": "net/*"}, True),
        ({"variable": "net/w"}, False),  # there is another one besides
        ({"variable": "net/*", "kind": GROWTH.value}, False),
        ({"variable": "net/*", "kind": VARIABLE.value, "function": "main"}, True),
    ],
)
def test_what_a_rule_covers(rule: dict[str, str], covers: bool) -> None:
    suppression = Suppression("because", **rule)
    assert suppression.covers(VARIABLE, ("net/w", "net/b"), STACKS) == covers
    assert Suppression(**suppression.to_json()) == suppression
    assert Suppression("because", variable="*").covers(VARIABLE, (), STACKS) is False


def test_rules_that_have_covered_nothing_are_known() -> None:
    rules = Suppressions([Suppression("a", GROWTH.value), Suppression("b", function="main"), Suppression("c", "*")])
    assert rules.unused == [0, 1, 2]
    assert [rules.cover(VARIABLE, (), STACKS) for _ in range(2)] == [True, True]
    assert rules.unused == [0, 2]
    assert not Suppressions().cover(VARIABLE, (), STACKS)


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "races.toml"
    path.write_text(
        '[[suppress]]\nreason = "one"\nkind = "graph-growth-in-a-loop"\n'
        '[[suppress]]\nreason = "two é"\nkind = "run after close"\nfunction = "main"\n',
        encoding="utf-8",
    )
    one, two = read_suppressions(path)
    assert one == Suppression("one", GROWTH.value)
    assert str(two) == "kind 'run after close', function 'main' (two é)"
    path.write_text("")
    assert read_suppressions(path) == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = ", "cannot be read"),
        ("rules = []", "the unknown key 'rules'"),
        ("[suppress]\nreason = 'a'", "no list of tables"),
        ("suppress = [1]", "no list of tables"),
        ("[[suppress]]\nfile = 'a'", "there is no reason"),
        ("[[suppress]]\nreason = 'a'", "it would cover every race"),
        ("[[suppress]]\nreason = 'a'\nkind = 'b'", "there is no kind 'b'"),
        ("[[suppress]]\nreason = 'a'\nline = '3'", "the unknown key 'line'"),
        ("[[suppress]]\nreason = 'a'\nfile = 3", "file is 3"),
        ("[[suppress]]\nreason = ' '\nfile = 'a'", "reason is ' '"),
        ("a" * (1 << 20) + "b", "cannot be read"),
    ],
)
def test_wrong_files(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "races.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=message) as caught:
        read_suppressions(path)
    assert "races.toml" in str(caught.value)
    with pytest.raises(UsageError, match="cannot be read"):
        read_suppressions(tmp_path / "none.toml")


def test_races_as_sarif() -> None:
    first = Access("Thread-1", "assigns", STACKS[0], ("net/w",))
    race = Report(VARIABLE, "session 1", first, Access("Thread-2", "reads", ("src/w x.py:7 in loop",)))
    unknown = Report(GROWTH, "graph 1", Access("a", "runs", ()), Access("b", "adds", ()))
    (run,) = race_sarif.report([race, unknown], "1.0")["runs"]
    result, other = run["results"]
    rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
    assert rule["id"] == result["ruleId"] == "variable-read-while-assigned" and result["level"] == "warning"
    (place,) = result["locations"]
    assert place["physicalLocation"] == {"artifactLocation": {"uri": "src/w%20x.py"}, "region": {"startLine": 7}}
    (place,) = result["relatedLocations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "file:///home/a/agents/a3c.py"
    assert [len(stack["frames"]) for stack in result["stacks"]] == [1, 2]
    assert "'Thread-1' assigns (net/w) at /home/a/agents/a3c.py:12" in result["message"]["text"]
    assert (other["level"], other["locations"]) == ("error", [])
