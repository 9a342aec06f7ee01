"""How programs are read: scripts, modules, notebooks, what belongs to them, what cannot be read."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tf1sessions.doctor.check import UNREAD, check
from tf1sessions.errors import PythonTwoError, ScriptUsageError
from tf1sessions.source.program import MOST_FILES, read_module, read_script

RESET = "import tensorflow as tf\nwith tf.Session():\n    tf.reset_default_graph()\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def notebook(*cells: str, language: str = "python") -> str:
    return json.dumps(
        {
            "cells": [{"cell_type": "code", "source": cell, "metadata": {}} for cell in cells],
            "metadata": {"kernelspec": {"language": language}},
        }
    )


def places(path: str) -> list[str]:
    return [str(finding.place) for finding in check(read_script(path))]


# -- files ------------------------------------------------------------------------------------------------------------


def test_a_script_by_the_path_that_was_given(here: Path) -> None:
    (here / "train.py").write_text(RESET)
    assert places("train.py") == ["train.py:3"]
    assert places("./train.py") == ["./train.py:3"]
    assert places(str(here / "train.py")) == [f"{here}/train.py:3"]


def test_a_folder_with_a_main_module(here: Path) -> None:
    (here / "app").mkdir()
    with pytest.raises(ScriptUsageError, match="^app is a folder"):
        read_script("app")
    (here / "app" / "__main__.py").write_text(RESET)
    assert places("app") == ["app/__main__.py:3"]


def test_encodings_and_line_ends(here: Path) -> None:
    (here / "latin.py").write_bytes(b"# -*- coding: latin-1 -*-\nname = '\xe9'\r\n" + RESET.encode())
    assert places("latin.py") == ["latin.py:5"]
    (here / "bom.py").write_bytes(b"\xef\xbb\xbf" + RESET.replace("\n", "\r\n").encode())
    assert places("bom.py") == ["bom.py:3"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "x.py is empty"),
        (b" \n\n", "x.py is empty"),
        (b"\x7fELF\x00\x00", "x.py is not a text"),
        (b"name = '\xff\xfe'\n", "not a text in the encoding"),
        (b"# coding: nonsense\n", "not a text in the encoding"),
        (b"# coding: undefined\n" + b"a" * 80, "not a text in the encoding"),
        (b"# coding: rot13\n" + b"a" * 80, "not a text in the encoding"),
        (b"a = (1,\n", "x.py is not Python: .*line 1"),
        (b"<html>hello</html>\n", "x.py is not Python: .*line 1"),
        (b"x = " + b"(" * 2000 + b")" * 2000, "x.py is not Python"),
        (b"x = " + b" + ".join([b"y"] * 1500), "x.py (is nested 150[0-9] levels deep|is not Python)"),
    ],
)
def test_what_is_no_script(here: Path, content: bytes, message: str) -> None:
    (here / "x.py").write_bytes(content)
    with pytest.raises(ScriptUsageError, match=message):
        read_script("x.py")


def test_what_is_not_there_or_closed(here: Path) -> None:
    with pytest.raises(ScriptUsageError, match="no file nowhere.py"):
        read_script("nowhere.py")
    (here / "file").write_text(RESET)
    with pytest.raises(ScriptUsageError, match="file/x.py cannot be read"):
        read_script("file/x.py")


@pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")
def test_what_may_not_be_read(here: Path) -> None:
    (here / "x.py").write_text(RESET)
    (here / "x.py").chmod(0)
    with pytest.raises(ScriptUsageError, match="x.py cannot be read: Permission denied"):
        read_script("x.py")


def test_python_two(here: Path) -> None:
    (here / "old.py").write_text("import tensorflow as tf\nprint 'hello'\n")
    with pytest.raises(PythonTwoError, match="old.py, line 2, is Python 2"):
        read_script("old.py")


# -- modules ----------------------------------------------------------------------------------------------------------


def test_modules_beside_the_script_and_no_others(here: Path) -> None:
    (here / "train.py").write_text(
        "import os, numpy, tensorflow\nimport parts.layers, helper\nfrom parts import data as d\n"
    )
    (here / "helper.py").write_text("import train\n")
    (here / "parts").mkdir()
    (here / "parts" / "__init__.py").write_text("x = 1\n")
    (here / "parts" / "layers.py").write_text("from . import data\nfrom .deep import net\nfrom .. import helper\n")
    (here / "parts" / "data.py").write_text("")
    (here / "parts" / "deep").mkdir()
    (here / "parts" / "deep" / "__init__.py").write_text("from .net import f\n")
    (here / "parts" / "deep" / "net.py").write_text("def f():\n    pass\n")
    (here / "other.py").write_text("x = 1\n")
    program = read_script("train.py")
    assert [file.module for file in program.files] == [
        "__main__",
        "parts",
        "parts.layers",
        "helper",
        "parts.deep",
        "parts.deep.net",
    ]
    assert program.unread == ()
    assert [file.file for file in program.files][2] == "parts/layers.py"


def test_a_module_that_cannot_be_read_is_reported(here: Path) -> None:
    (here / "train.py").write_text("import tensorflow as tf\n\nimport old, broken\n" + RESET)
    (here / "old.py").write_text("print 'x'\n")
    (here / "broken.py").write_text("def f(:\n")
    found = check(read_script("train.py"))
    assert [(finding.rule, str(finding.place)) for finding in found] == [
        ("reset-inside-graph", "train.py:6"),
        (UNREAD, "train.py:3"),
        (UNREAD, "train.py:3"),
    ]
    titles = [finding.title for finding in found[1:]]
    assert "old.py, line 1, is Python 2: the print statement" in titles[0]
    assert "broken.py is not Python" in titles[1] and "Give a script" not in titles[1]


def test_a_long_sum_is_read(here: Path) -> None:
    (here / "x.py").write_text(RESET + "x = tf.constant(1)\ny = " + " + ".join(["x"] * 450) + "\n")
    assert places("x.py") == ["x.py:3"]


def test_so_many_files_and_no_more(here: Path) -> None:
    count = MOST_FILES + 5
    (here / "train.py").write_text("".join(f"import m{number}\n" for number in range(count)))
    for number in range(count):
        (here / f"m{number}.py").write_text("x = 1\n")
    program = read_script("train.py")
    assert len(program.files) == MOST_FILES
    (unread,) = program.unread
    assert f"more than {MOST_FILES} files" in unread.reason and unread.place.line == MOST_FILES


def test_m(here: Path) -> None:
    (here / "pack").mkdir()
    (here / "pack" / "__init__.py").write_text("raise RuntimeError('never run')\n")
    (here / "pack" / "train.py").write_text("from . import net\n" + RESET)
    (here / "pack" / "net.py").write_text("x = 1\n")
    program = read_module("pack.train")
    assert [(file.module, file.file) for file in program.files] == [
        ("__main__", "pack/train.py"),
        ("pack", "pack/__init__.py"),
        ("pack.net", "pack/net.py"),
    ]
    with pytest.raises(ScriptUsageError, match="pack is a package without __main__.py.*-m pack.MODULE"):
        read_module("pack")
    (here / "pack" / "__main__.py").write_text(RESET)
    assert str(check(read_module("pack"))[0].place) == "pack/__main__.py:3"
    for wrong, message in (("nowhere", "no module nowhere"), ("pack.nowhere", "no module"), ("a b", "not the name")):
        with pytest.raises(ScriptUsageError, match=message):
            read_module(wrong)


# -- notebooks --------------------------------------------------------------------------------------------------------


def test_lines_of_a_notebook_are_those_of_its_cells(here: Path) -> None:
    (here / "book.ipynb").write_text(
        notebook(
            "import tensorflow as tf", "%matplotlib inline\n!ls\n", "\nwith tf.Session():\n    tf.reset_default_graph()"
        )
    )
    assert places("book.ipynb") == ["book.ipynb, cell 3, line 3"]
    (finding,) = check(read_script("book.ipynb"))
    assert [str(place) for place in finding.others] == ["book.ipynb, cell 3, line 2"]


def test_a_comment_in_a_cell_suppresses(here: Path) -> None:
    cell = "with tf.Session():\n    tf.reset_default_graph()"
    (here / "book.ipynb").write_text(notebook("import tensorflow as tf", cell, f"{cell}  # tf1sessions: ignore"))
    assert places("book.ipynb") == ["book.ipynb, cell 2, line 2"]


def test_a_broken_cell_is_reported_and_the_others_are_read(here: Path) -> None:
    (here / "book.ipynb").write_text(notebook("import tensorflow as tf", "def f(:", RESET))
    found = check(read_script("book.ipynb"))
    assert [(finding.rule, str(finding.place)) for finding in found] == [
        ("reset-inside-graph", "book.ipynb, cell 3, line 3"),
        (UNREAD, "book.ipynb, cell 2, line 1"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "book.ipynb is not a notebook"),
        ("[1, 2]", "book.ipynb is not a notebook"),
        ("not json", "book.ipynb is not a notebook"),
        (notebook("x = 1").replace("= 1", r"= '\ud800'"), "book.ipynb is not a notebook: .* surrogates not allowed"),
        (notebook("x = 1", language="R"), "a notebook of R"),
        (notebook(), "book.ipynb has no code"),
    ],
)
def test_what_is_no_notebook(here: Path, text: str, message: str) -> None:
    (here / "book.ipynb").write_text(text)
    with pytest.raises(ScriptUsageError, match=message):
        read_script("book.ipynb")


def test_a_notebook_of_python_two(here: Path) -> None:
    (here / "book.ipynb").write_text(notebook("print 'hello'"))
    with pytest.raises(PythonTwoError, match="book.ipynb, cell 1, line 1, is Python 2"):
        read_script("book.ipynb")
