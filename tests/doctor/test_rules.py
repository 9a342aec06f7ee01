"""Every rule: programs that have what it is about, near misses, and the lines that it names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rule_cases import HEAD, HITS, NEAR_MISSES
from support import PACKAGE, ROOT

from tf1sessions.doctor.check import MACHINE_RULES, check, without_suppressed
from tf1sessions.doctor.findings import Finding, FindingSource, Severity
from tf1sessions.doctor.rules.contrib_missing import is_missing
from tf1sessions.doctor.rules.registry import RULES
from tf1sessions.doctor.rules.rule import Rule
from tf1sessions.errors import ScriptUsageError
from tf1sessions.source.program import read_script, read_text


def findings(text: str, rule: str | None = None) -> list[Finding]:
    return [finding for finding in check(read_text(text, "program.py")) if rule in (None, finding.rule)]


def lines(found: list[Finding]) -> list[int]:
    return sorted(finding.place.line for finding in found if finding.place is not None)


def marked(text: str) -> list[int]:
    return [number for number, line in enumerate(text.splitlines(), 1) if line.endswith("# <-")]


def test_every_rule_has_both() -> None:
    assert list(HITS) == list(RULES)
    assert list(NEAR_MISSES) == list(RULES)
    assert all(HITS.values()) and all(NEAR_MISSES.values())
    assert all(marked(text) for texts in HITS.values() for text in texts)


@pytest.mark.parametrize(
    ("rule", "text"), [pytest.param(rule, text, id=rule) for rule, texts in HITS.items() for text in texts]
)
def test_finds(rule: str, text: str) -> None:
    found = findings(HEAD + text, rule)
    assert lines(found) == marked(HEAD + text)
    for finding in found:
        assert finding.source is FindingSource.STATIC
        assert finding.place is not None and finding.place.file == "program.py"
        assert finding.place not in finding.others
        assert finding.title and not finding.title.endswith(".")


@pytest.mark.parametrize(
    ("rule", "text"), [pytest.param(rule, text, id=rule) for rule, texts in NEAR_MISSES.items() for text in texts]
)
def test_finds_nothing_in_a_near_miss(rule: str, text: str) -> None:
    assert findings(HEAD + text, rule) == []


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_texts_of_a_rule(rule: Rule) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", rule.name)
    assert (PACKAGE / "doctor" / "rules" / f"{rule.name.replace('-', '_')}.py").is_file()
    for text in (rule.why, rule.fix):
        assert re.fullmatch(r"[A-Z`].*[.)]", text, re.DOTALL) or (text[0].islower() and text.endswith("."))
        assert "  " not in text
    assert not rule.what.endswith(".")


def test_every_file_of_rules_is_registered() -> None:
    files = {path.stem for path in (PACKAGE / "doctor" / "rules").glob("*.py")}
    rules = {name.replace("-", "_") for name in RULES}
    assert files - rules == {"__init__", "rule", "registry", "numpy_values"}
    assert rules <= files


def test_names_of_the_machines_rules_are_the_real_ones() -> None:
    source = (PACKAGE / "doctor" / "machine.py").read_text("utf-8")
    assert set(re.findall(r'_finding\(\s*"([a-z0-9-]+)"', source)) == MACHINE_RULES


# -- where ------------------------------------------------------------------------------------------------------------


def test_further_places() -> None:
    (found,) = findings('import os\nimport tensorflow as tf\n\ntf.Session()\nos.environ["CUDA_VISIBLE_DEVICES"] = ""\n')
    assert [str(place) for place in found.others] == ["program.py:4"]
    assert found.severity is Severity.ERROR
    assert "tf.Session" in found.title


@pytest.mark.parametrize(
    ("options", "severity", "why"),
    [("allow_growth=True", Severity.WARNING, "without a word"), ('visible_device_list="1"', Severity.ERROR, "raises")],
)
def test_other_options_are_ignored_and_another_list_of_gpus_raises(options: str, severity: Severity, why: str) -> None:
    text = f"{HEAD}tf.Session()\ntf.Session(config=tf.ConfigProto(gpu_options=tf.GPUOptions({options})))\n"
    (found,) = findings(text, "memory-of-several-sessions")
    assert found.severity is severity and why in found.why and options.partition("=")[0] in found.title


def test_a_module_beside_the_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evaluation.py").write_text(
        "import tensorflow as tf\n\ndef accuracy(sess, y):\n    return sess.run(tf.reduce_mean(y))\n"
    )
    (tmp_path / "train.py").write_text(
        "import tensorflow as tf\nfrom evaluation import accuracy\n\ny = tf.constant([1.0])\n"
        "with tf.Session() as sess:\n    for step in range(1000):\n        sess.run(y)\n        accuracy(sess, y)\n"
    )
    (found,) = check(read_script("train.py"))
    assert (found.rule, str(found.place)) == ("ops-in-loop", "evaluation.py:4")
    assert [str(place) for place in found.others] == ["train.py:8"]


# -- what TensorFlow is called ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "import tensorflow\nwith tensorflow.Session():\n    tensorflow.reset_default_graph()\n",
        "import tensorflow.compat.v1 as tf\nwith tf.Session():\n    tf.reset_default_graph()\n",
        "import tensorflow as tf2\ntf = tf2.compat.v1\nwith tf.Session():\n    tf.reset_default_graph()\n",
        "from tensorflow.compat import v1 as tf\nwith tf.Session():\n    tf.reset_default_graph()\n",
        "from tensorflow import Session as S, reset_default_graph\nwith S() as s:\n    reset_default_graph()\n",
        "import tf1sessions as t1\ntf = t1.tf1\nwith tf.Session():\n    tf.reset_default_graph()\n",
        "from tf1sessions import tf1 as tf\nwith tf.Session():\n    tf.reset_default_graph()\n",
        "from tensorflow import *\nwith Session():\n    reset_default_graph()\n",
        "try:\n  import tensorflow.compat.v1 as tf\nexcept ImportError:\n  import tensorflow as tf\n"
        "with tf.Session():\n  tf.reset_default_graph()\n",
        "import tensorflow as tf\ndef make():\n    return tf.Session()\nwith make():\n    tf.reset_default_graph()\n",
        "import tensorflow as tf\nS = tf.Session\nwith S():\n    reset = tf.reset_default_graph\n    reset()\n",
    ],
)
def test_names_of_tensorflow(text: str) -> None:
    assert [finding.rule for finding in findings(text)] == ["reset-inside-graph"]


@pytest.mark.parametrize(
    "text",
    [
        "import torch as tf\nwith tf.Session():\n    tf.reset_default_graph()\n",
        "import tensorflow as tf\ntf = other\nwith tf.Session():\n    tf.reset_default_graph()\n",
        "import tensorflow as tf\ndef f(tf):\n    with tf.Session():\n        tf.reset_default_graph()\n",
        "class tf:\n    pass\nwith tf.Session():\n    tf.reset_default_graph()\n",
    ],
)
def test_other_names_are_not_tensorflow(text: str) -> None:
    assert findings(text) == []


# -- contrib ----------------------------------------------------------------------------------------------------------


def test_contrib_as_its_page_says() -> None:
    """Every name of 1.15.5 that the page says raises is missing, and no other one."""
    page = (ROOT / "migration_notes" / "contrib.md").read_text("utf-8")
    wrong, counts = [], {"raises": 0, "native": 0, "ours": 0}
    module = ""
    for line in page.splitlines():
        if line.startswith("## "):
            module = line[3:].strip()
        elif (found := re.match(r"\| (native|ours|raises) \| (.*?) \|", line)) and module.startswith("tf.contrib"):
            for name in re.findall(r"`([\w.]+)`", found[2]):
                counts[found[1]] += 1
                if is_missing(f"{module}.{name}") != (found[1] == "raises"):
                    wrong.append(f"{module}.{name}: {found[1]}")
    assert min(counts.values()) > 500
    assert [each for each in wrong if not each.endswith("raises")] == []
    # They are below a module that is there.
    assert {each.split(".")[2] for each in wrong} <= {"distributions", "learn", "tensor_forest"}
    assert len(wrong) < counts["raises"] / 8


# -- suppressing ------------------------------------------------------------------------------------------------------

_RESET = "import tensorflow as tf\nwith tf.Session():\n    tf.reset_default_graph(){comment}\n"


@pytest.mark.parametrize(
    ("comment", "suppressed"),
    [
        ("  # tf1sessions: ignore[reset-inside-graph]", True),
        ("  # tf1sessions: ignore[late-seed, reset-inside-graph]", True),
        ("  # tf1sessions: ignore", True),
        ("  #tf1sessions:ignore[reset-inside-graph]  because", True),
        ("  # tf1sessions: ignore[late-seed]", False),
        ("  # ignore[reset-inside-graph]", False),
        ("\n    # tf1sessions: ignore[reset-inside-graph]", False),
    ],
)
def test_comment(comment: str, suppressed: bool) -> None:
    assert [finding.rule for finding in findings(_RESET.format(comment=comment))] == (
        [] if suppressed else ["reset-inside-graph"]
    )


@pytest.mark.parametrize(
    ("end", "suppressed"), [(")  # tf1sessions: ignore", True), (")\n    x = 1  # tf1sessions: ignore", False)]
)
def test_comment_on_another_line_of_the_statement(end: str, suppressed: bool) -> None:
    call = f"sess.run(\n        tf.constant(\n            1\n        )\n    {end}"
    found = findings(f"{HEAD}sess = tf.Session()\nwhile True:\n    {call}\n")
    assert [finding.rule for finding in found] == ([] if suppressed else ["ops-in-loop"])


def test_ignore() -> None:
    program = read_text(_RESET.format(comment=""))
    assert [finding.rule for finding in check(program)] == ["reset-inside-graph"]
    assert check(program, ["reset-inside-graph"]) == []
    assert check(program, ["late-seed"]) != []
    with pytest.raises(ScriptUsageError, match="no rule 'late-sed' .*--list-rules"):
        check(program, ["late-sed"])


def test_ignore_takes_every_kind_of_rule() -> None:
    machine = Finding("small-shm", Severity.NOTE, "t", "w", "f", FindingSource.MACHINE)
    assert without_suppressed([machine], None, ["small-shm", "feeds-converted", "not-read"]) == []
    assert without_suppressed([machine], None, ["old-driver"]) == [machine]
