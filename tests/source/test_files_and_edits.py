"""Files that are written back as they were, and edits that leave everything else alone."""

from __future__ import annotations

import ast
import json
import os
from pathlib import Path

import pytest

from tf1sessions.source import files, notebooks
from tf1sessions.source.edits import Edit, Positions, apply, overlap
from tf1sessions.source.program import Unread


def read(path: Path, data: bytes) -> files.SourceText | Unread:
    path.write_bytes(data)
    return files.read(path, path.name)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"x = 1",
        b"x = 1\r\ny = 2\r\n",
        b"x = 1\ry = 2\r",
        b"\xef\xbb\xbfx = '\xc3\xb1'\n",
        b"# -*- coding: latin-1 -*-\nx = '\xf1'\n",
        b"if x:\n\ty = 1\n\x0c\nz = 2\n",
        "x = 'ñ \u2028'\n".encode(),
    ],
)
def test_a_file_is_written_as_it_was(tmp_path: Path, data: bytes):
    found = read(tmp_path / "a.py", data)
    assert isinstance(found, files.SourceText)
    assert found.encode() == data
    assert found.with_text(found.text + "# ñ").encode() == data + "# ñ".encode(found.encoding.removesuffix("-sig"))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"x = '\xf1'\n", "not a text in the encoding"),
        (b"# coding: klingon\n", "not a text in the encoding"),
        (b"# coding: idna\nprint(1)\n" + b"a" * 80, "not a text in the encoding"),
        (b"# coding: undefined\n" + b"a" * 80, "not a text in the encoding"),
        (b"# coding: rot13\n" + b"a" * 80, "not a text in the encoding"),
        (b"\x7fELF\0\0", "not a text"),
    ],
)
def test_what_is_no_text(tmp_path: Path, data: bytes, reason: str):
    found = read(tmp_path / "a.py", data)
    assert isinstance(found, Unread) and reason in found.reason and found.place.file == "a.py"


def test_files_are_found_once(tmp_path: Path):
    for name in ("b.py", "a.ipynb", "c.txt", ".git/d.py", "env/e.py", "env/pyvenv.cfg", "pkg/f.py", "__pycache__/g.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "old/bin").mkdir(parents=True)
    (tmp_path / "old/bin/activate_this.py").write_text("")  # an environment of virtualenv before its release 20
    os.symlink(tmp_path, tmp_path / "pkg" / "circle")
    os.symlink("loop.py", tmp_path / "loop.py")
    found = [path.relative_to(tmp_path).as_posix() for path in files.find([tmp_path, tmp_path / "b.py"])]
    assert found == ["a.ipynb", "b.py", "loop.py", "pkg/f.py"]
    assert [path.name for path in files.find([tmp_path / "c.txt"])] == ["c.txt"]  # what is named is what is meant
    loop, missing = files.read(tmp_path / "loop.py"), files.read(tmp_path / "no.py")
    assert isinstance(loop, Unread) and "cannot be read" in loop.reason
    assert isinstance(missing, Unread) and missing.reason == "there is no such file"


def notebook(*sources: str, indent: int | None = 1) -> str:
    cells = [{"cell_type": "markdown", "source": ["# Title"]}]
    cells += [{"cell_type": "code", "source": source.splitlines(True), "outputs": []} for source in sources]
    return json.dumps({"cells": cells, "metadata": {}}, indent=indent)


def test_a_notebook_is_one_text_of_python_and_is_put_together_again(tmp_path: Path):
    sources = [
        "%matplotlib inline\nimport a\n",
        "files = !ls\nif files:\n    !echo \\\n      two",
        "%%bash\nls",
        "",
        "x =",
    ]
    found = read(tmp_path / "a.ipynb", notebook(*sources).encode())
    assert isinstance(found, files.SourceText)
    tree = ast.parse(found.text)
    assert [type(node).__name__ for node in tree.body] == ["Pass", "Import", "Assign", "If"]
    assert notebooks.unmask(found.text) == {1: sources[0], 2: sources[1], 3: sources[2], 4: sources[4]}
    assert found.encode() == notebook(*sources).encode()
    assert str(found.place(tree.body[1].lineno)) == "a.ipynb, cell 1, line 2"
    assert str(found.place(tree.body[3].lineno)) == "a.ipynb, cell 2, line 2"
    changed = json.loads(found.with_text(found.text.replace("import a", "import b")).encode())
    assert [cell["source"] for cell in changed["cells"]][1] == ["%matplotlib inline\n", "import b\n"]
    assert changed["cells"][2:] == json.loads(notebook(*sources))["cells"][2:]


# -- edits ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_spans_of_nodes(newline: str):
    text = f"ñ = 1{newline}\x0c{newline}x = 'ü' + (a.b +{newline}  c)  # end"
    positions = Positions(text)
    tree = ast.parse(text)
    assert positions.source(tree.body[0]) == "ñ = 1"
    total = tree.body[1].value  # type: ignore[attr-defined]
    assert positions.source(total.left) == "'ü'"
    assert positions.source(total.right) == f"a.b +{newline}  c"
    assert apply(text, [positions.replace(total.right.left, "z")]) == text.replace("a.b", "z")


def test_edits_at_one_place_keep_their_order_and_overlapping_ones_are_refused():
    assert apply("abc", [Edit(1, 1, "1"), Edit(1, 1, "2"), Edit(1, 2, "B"), Edit(3, 3, "!")]) == "a12Bc!"
    with pytest.raises(ValueError, match="two edits overlap at 1"):
        apply("abc", [Edit(0, 2, ""), Edit(1, 3, "")])
    assert overlap([Edit(0, 2, "")], [Edit(1, 1, "x")]) and overlap([Edit(0, 2, "")], [Edit(0, 2, "x")])
    assert not overlap([Edit(0, 2, "")], [Edit(2, 3, "x"), Edit(0, 0, "y"), Edit(2, 2, "z")])


def test_a_text_that_memory_cannot_hold_as_a_tree_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "table.py"
    path.write_text("x = 1\n" * 1000)
    assert isinstance(files.read(path), files.SourceText)
    monkeypatch.setattr(files, "_LARGE", 1000)
    assert isinstance(files.read(path), files.SourceText)
    monkeypatch.setattr(files, "_available_memory", lambda: 800_000.0)
    found = files.read(path)
    assert isinstance(found, Unread) and found.reason.startswith(
        "it cannot be read: its syntax tree takes about 0.0 GB"
    )


def test_places_of_a_notebook_are_those_of_its_cells() -> None:
    cells = [notebooks.Cell(1, "x = 1\ny = 2\n"), notebooks.Cell(2, "!ls"), notebooks.Cell(3, "%%bash\nls")]
    source = files.SourceText(Path("a.ipynb"), "a.ipynb", notebooks.mask(cells), notebook="{}")
    found = [(place.cell, place.line) for place in map(source.place, range(1, 12))]
    assert found == [(1, 1), (1, 1), (1, 2), (1, 3), (2, 1), (2, 1), (3, 1), (3, 1), (3, 2), (3, 2), (3, 2)]
