"""A text through a step of a port, for tests of its rules."""

from __future__ import annotations

import ast
from pathlib import Path

from tf1sessions.porting.rewriting.rewrite import FilePort, port
from tf1sessions.source.files import SourceText

#: The files of the fixture ``project`` (conftest.py).
NAMES = ("a.py", "b.py", "c.py")


def ported(text: str, step: str = "py3", path: str = "program.py") -> FilePort:
    """The file with this text after ``step``, as its last step gives it. It can be parsed."""
    (file,) = port([SourceText(Path(path), path, text)], step)[-1].files
    ast.parse(file.after.text)
    return file


def after(text: str, step: str = "py3", path: str = "program.py") -> str:
    """The text after ``step``, which is asked for again and then finds nothing more to do."""
    found = ported(text, step, path)
    again = ported(found.after.text, step, path)
    assert again.after.text == found.after.text
    assert [note for note in again.notes if note.kind == "change"] == []
    return found.after.text


def remarks(text: str, step: str = "py3", kind: str = "by hand") -> list[str]:
    """What is left to do by hand."""
    return [note.what for note in ported(text, step).notes if note.kind == kind]


def after_inputs(text: str, step: str = "clean") -> tuple[str, str]:
    """The text after ``step``, and after the step ``inputs`` as well."""
    *_, before, after = port([SourceText(Path("program.py"), "program.py", text)], step, inputs=True)
    return before.files[0].after.text, after.files[0].after.text
