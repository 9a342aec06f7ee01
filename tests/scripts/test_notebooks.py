"""Notebooks as programs, without TensorFlow."""

from __future__ import annotations

import ast
import json
import os
import traceback

import pytest

from tf1sessions.errors import PythonTwoError, ScriptUsageError
from tf1sessions.scripts import notebooks
from tf1sessions.source.notebooks import Cell, read, translate


def notebook(*sources: str, **metadata) -> str:
    cells = [{"cell_type": "markdown", "source": ["# Title"]}]
    cells += [{"cell_type": "code", "source": source.splitlines(True), "metadata": {}} for source in sources]
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4})


def run(*sources: str) -> tuple[dict, list[str]]:
    names: dict = {"__name__": "__main__"}
    warnings: list[str] = []
    notebooks.run(read(notebook(*sources), "a.ipynb"), "a.ipynb", names, warnings.append)
    return names, warnings


def test_cells_run_in_order_in_one_namespace():
    assert run("x = 1", "", "x += 1\ny = x")[0]["y"] == 2


def test_value_of_the_last_expression_is_shown(capsys):
    run("1 + 1", "3;", "None", "x = 4", "display('five', 6)", "if True:\n    7")
    assert capsys.readouterr().out == "2\n'five'\n6\n"


def test_old_format_and_cells_as_one_text():
    old = json.dumps({"worksheets": [{"cells": [{"cell_type": "code", "input": ["x = 1\n", "y = 2"]}]}], "nbformat": 3})
    assert [cell.source for cell in read(old, "a.ipynb")] == ["x = 1\ny = 2"]
    assert read(json.dumps({"cells": [{"cell_type": "code", "source": "x"}]}), "a")[0].source == "x"


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("not json", "not a notebook"),
        ("[]", "not a notebook"),
        ("{}", "not a notebook"),
        ('{"cells": null}', "not a notebook"),
        ('{"cells": NaN}', "not a notebook"),
        ('{"cells": [3]}', "not a notebook"),
        ('{"cells": [{"cell_type": "code", "source": 3}]}', "not a notebook"),
        ('{"cells": [{"cell_type": "code", "source": ["x", 3]}]}', "not a notebook"),
        ('{"cells": [], "metadata": 3}', "not a notebook"),
        (notebook("x", kernelspec={"language": "R", "name": "ir"}), "notebook of R"),
        (notebook("x", language_info={"name": "julia"}), "notebook of julia"),
    ],
)
def test_what_is_not_a_python_notebook_is_refused(text, reported):
    with pytest.raises(ScriptUsageError, match=reported) as caught:
        read(text, "a.ipynb")
    assert "a.ipynb" in str(caught.value)


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("%matplotlib inline", "get_ipython().run_line_magic('matplotlib', 'inline')"),
        ("  %time f(1)\nx", "  get_ipython().run_line_magic('time', 'f(1)')\nx"),
        ("!ls -l", "get_ipython().system('ls -l')"),
        ("files = !ls *.py", "files = get_ipython().getoutput('ls *.py')"),
        ("x = %pwd", "x = get_ipython().run_line_magic('pwd', '')"),
        ("for i in x:\n    !echo {i}", "for i in x:\n    get_ipython().system('echo {i}')"),
        ("!echo a \\\n  b\nx = 1", "get_ipython().system('echo a  b')\n\nx = 1"),
        ("tf.Session?", "pass  # help"),
        ("?tf.Session", "pass  # help"),
        ("%%time\nx = 1", "\nx = 1"),
        ("%%bash -e\nls\n", "get_ipython().run_cell_magic('bash', '-e', 'ls\\n')"),
    ],
)
def test_magics_become_calls(cell, python):
    assert translate(cell) == python


@pytest.mark.parametrize(
    "cell",
    [
        "x = 10 %y\nz = x % y",
        "x = (10\n  % 3)",
        "s = '''\n%matplotlib inline\n!ls\n'''",
        "# !ls\nx != y",
        "x = a \\\n  % b",
        "print('100%')",
        "async def f():\n    await g()",
    ],
)
def test_python_is_left_alone(cell):
    ast.parse(cell)
    assert translate(cell) == cell


@pytest.mark.parametrize("cell", [" " * 3000 + "x", "a, " * 3000 + "x !"])
@pytest.mark.timeout(10)
def test_long_lines_that_are_no_python_are_soon_read(cell):
    assert translate(cell) == cell


def test_shell_lines_and_line_magics(capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, warnings = run(
        "name = 'b.txt'\n!echo hello > {name}\nlines = !cat $name; echo $HOME_OF_NOBODY",
        "%cd ..\n%env SOME_TEST_NAME=7\nwhere = %pwd",
        "!exit 3",
        "%%bash\necho from bash",
        "%%writefile c.txt\nsome text\n",
        "%%html\n<b>",
        "%load_ext autoreload\n%autoreload 2\n%matplotlib inline",
        "%time total = sum(range(4))",
        "get_ipython().magic('%pwd')",
        "!pip install tensorflow==1.15\n%pip install x\n!sudo apt-get update",
    )
    assert names["lines"][0] == "hello" and names["_exit_code"] == 3 and names["total"] == 6
    assert names["where"] == str(tmp_path.parent) and (tmp_path.parent / "c.txt").read_text() == "some text\n"
    assert os.environ.pop("SOME_TEST_NAME") == "7"
    assert "from bash" in capfd.readouterr().out
    assert len(warnings) == 3 and "pip install tensorflow==1.15" in warnings[0]


@pytest.mark.parametrize("cell", ["%no_such_magic", "%%no_such_magic\nx"])
def test_a_magic_that_cannot_be_run_is_named(cell):
    with pytest.raises(ScriptUsageError, match="no_such_magic is not available") as caught:
        run("x = 1", cell)
    assert "a.ipynb, cell 2" in "".join(traceback.format_tb(caught.value.__traceback__))


def test_an_error_names_the_cell_and_shows_its_line():
    with pytest.raises(ZeroDivisionError) as caught:
        run("x = 1", "y = 2\n%matplotlib inline\nx / 0  # here", "never = 1")
    text = "".join(traceback.format_tb(caught.value.__traceback__))
    assert 'File "a.ipynb, cell 2", line 3' in text and "x / 0  # here" in text


def test_a_cell_that_may_raise_does_not_end_the_notebook():
    cells = [Cell(1, "1 / 0", may_raise=True), Cell(2, "x = 1")]
    names: dict = {}
    notebooks.run(cells, "a.ipynb", names, print)
    assert names["x"] == 1


def test_python_2_in_a_cell():
    with pytest.raises(PythonTwoError, match="cell 2, line 3, is Python 2: the print statement"):
        run("x = 1", "%matplotlib inline\nx = 2\nprint x")


def test_syntax_error_in_a_cell():
    with pytest.raises(SyntaxError) as caught:
        run("x = (")
    assert caught.value.filename == "a.ipynb, cell 1"
