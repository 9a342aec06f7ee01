"""The page about the public names of 1.15.5 against the table that it is written from."""

from __future__ import annotations

import re

import symbols_page  # this folder is on the path; pytest puts it there

from tf1sessions.source import symbols
from tf1sessions.source.symbols import Symbol

PAGE = symbols_page.PAGE.read_text("utf-8")


def section(title: str) -> str:
    found = re.search(rf"^## {re.escape(title)}\n\n(.*?)(?=\n\n## |\Z)", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert found, f"the page has no section {title}"
    return found[1]


def test_page_is_what_the_table_says() -> None:
    assert symbols_page.page() == PAGE, "Run: python tests/source/symbols_page.py"


def test_every_name_that_is_not_the_same_is_on_the_page() -> None:
    reported = {
        (module, name)
        for titles in re.findall(r"^## (.*)$", PAGE, flags=re.MULTILINE)
        for module in titles.split(", ")
        for name in re.findall(r"`(\w+)`", section(titles))
    }
    for name in symbols.names():
        symbol = symbols.find(name)
        assert symbol is not None
        if symbol.kind in ("inner", "name") or re.match(r"tf\.(contrib|estimator)\b", name):
            continue
        module, _, last = name.rpartition(".")
        if symbol.verdict != "same":
            assert (module, last) in reported, name
    assert ("tf", "log") in reported and ("tf", "abs") not in reported and ("tf.contrib", "layers") not in reported


def test_rows() -> None:
    assert "`tf.math`: " in section("tf") and "| v1 | `FLAGS` |" in section("tf.app.flags, tf.flags")
    assert section("tf.sets").endswith(
        "| renamed | `set_difference` → `tf.sets.difference`; `set_intersection` → `tf.sets.intersection`; "
        "`set_size` → `tf.sets.size`; `set_union` → `tf.sets.union` |"
    )
    made = [
        Symbol("tf.a.old", "elsewhere", "absl.new", kind="function", parameters=(("x", "y"),)),
        Symbol("tf.a.kept", "elsewhere", "absl.kept", kind="function"),
        Symbol("tf.a.lost", "gone", None, sentence="Use absl.kept", kind="function"),
        Symbol("tf.a.inside", "v1", "tf.compat.v1.a.inside", kind="module"),
        Symbol("tf.a.one", "v1", "tf.compat.v1.a.one", kind="class"),
    ]
    assert symbols_page.rows(made) == [
        "| elsewhere | in `absl`: `kept`; `old` → `absl.new` (`x`: `y`) |",
        "| gone | `lost`: Use absl.kept. |",
        "| v1 | `one` |",
        "| v1, modules | `inside` |",
    ]


def test_counts() -> None:
    made = [
        Symbol("tf.a", "same", "tf.a", kind="function"),
        Symbol("tf.contrib.a", "gone", None, kind="module"),
        Symbol("tf.contribution", "gone", None, kind="module"),
        Symbol("tf.python.a", "moved", "tensorflow.a", kind="inner"),
    ]
    assert symbols_page.counts(made)[2:] == [
        "| other public names | 1 | 0 | 0 | 0 | 0 | 0 | 1 |",
        "| `tf.contrib` | 0 | 0 | 0 | 0 | 0 | 0 | 1 |",
        "| inner modules | 0 | 0 | 0 | 0 | 0 | 1 | 0 |",
    ]
