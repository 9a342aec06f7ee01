"""Runs the cells of a notebook, without IPython.

Data flow: source/notebooks.py reads the cells and turns each into Python, where magics and shell lines are calls of
``get_ipython()``, an object of :class:`Shell`; :func:`run` executes the cells in order in one namespace and shows the
value of a cell's last expression, as a notebook does. A cell is compiled under the name ``notebook.ipynb, cell 3``, so
that tracebacks name it and show its lines.
"""

from __future__ import annotations

import ast
import linecache
import os
import re
import subprocess
import sys
import time
import timeit
from collections.abc import Callable
from types import CodeType
from typing import Any

from ..errors import ScriptUsageError
from ..source import python2
from ..source.notebooks import Cell, translate

__all__ = ["Shell", "run"]

# Line magics that only change how a notebook looks or is edited.
_IGNORED = frozenset(
    [
        "autoreload",
        "autosave",
        "colors",
        "config",
        "load_ext",
        "matplotlib",
        "pdb",
        "pprint",
        "precision",
        "reload_ext",
        "reset",
        "tensorboard",
        "tensorflow_version",
        "unload_ext",
        "who",
        "whos",
        "xmode",
    ]
)
# Cell magics whose cell is not Python and only shows something.
_SHOWN = frozenset(["html", "HTML", "javascript", "js", "latex", "markdown", "svg", "SVG"])
_NOT_NEEDED = re.compile(r"\s*(sudo\s+)?(\S*/)?(pip3?|conda|easy_install|python3?\s+-m\s+pip|apt(-get)?)\s")


class Shell:
    """The object of ``get_ipython()``: magics and shell lines. Not thread-safe, as a notebook is not.

    Args:
        namespace: Where the cells run.
        warn: Called with a line for each thing that is left out.
    """

    def __init__(self, namespace: dict[str, Any], warn: Callable[[str], None]) -> None:
        self.user_ns = namespace
        self._warn = warn

    def run_line_magic(self, name: str, line: str) -> Any:
        """Run ``%name line``."""
        line = self._expand(line)
        if name in ("time", "prun"):
            return self._time(line)
        if name == "timeit":
            statement = re.sub(r"^(-\w+\s*\d*\s+)*", "", line)
            print(f"{timeit.timeit(statement, globals=self.user_ns, number=1):.3g} s per loop")
        elif name == "cd":
            os.chdir(os.path.expanduser(line or "~"))
        elif name == "pwd":
            return os.getcwd()
        elif name in ("env", "set_env"):
            key, _, value = line.replace(" ", "=", 1).partition("=")
            os.environ[key.strip()] = value.strip()
        elif name == "run":
            self._run(line)
        elif name in ("sx", "system"):
            return self.getoutput(line)
        elif name in ("pip", "conda") or name in ("ls", "mkdir", "rm", "cp", "mv", "cat", "rmdir"):
            self.system(f"{name} {line}")
        elif name == "pylab":
            exec("import numpy as np\nimport matplotlib.pyplot as plt\nfrom pylab import *", self.user_ns)
        elif name not in _IGNORED:
            raise ScriptUsageError(f"the magic %{name} is not available", next_step="Remove the line and run it again.")
        return None

    magic_names = _IGNORED

    def magic(self, text: str) -> Any:
        """Run a magic given with its arguments, as in converted notebooks: ``get_ipython().magic("pwd")``."""
        name, _, line = text.lstrip("%").partition(" ")
        return self.run_line_magic(name, line.strip())

    def run_cell_magic(self, name: str, line: str, cell: str) -> Any:
        """Run ``%%name line`` with the rest of its cell."""
        if name in _SHOWN:
            return
        if name in ("bash", "sh", "script"):
            interpreter = line.split() if name == "script" else [name]
            subprocess.run(interpreter, input=cell.encode(), check=True)
        elif name in ("writefile", "file"):
            append = "-a" in line.split()
            with open(self._expand(line.split()[-1]), "a" if append else "w", encoding="utf-8") as file:
                file.write(cell)
        elif name == "timeit":
            print(f"{timeit.timeit(translate(cell), globals=self.user_ns, number=1):.3g} s per loop")
        else:
            raise ScriptUsageError(
                f"the cell magic %%{name} is not available", next_step="Remove the cell and run it again."
            )

    def system(self, command: str) -> None:
        """Run ``!command`` with the notebook's own output; installers are left out."""
        command = self._expand(command)
        if _NOT_NEEDED.match(command + " "):
            self._warn(f"left out: !{command} (a notebook must not change the installation that it runs in)")
            return
        sys.stdout.flush()
        code = subprocess.run(command, shell=True).returncode
        self.user_ns["_exit_code"] = code

    def getoutput(self, command: str) -> list[str]:
        """The lines that ``command`` prints: ``x = !command``."""
        done = subprocess.run(self._expand(command), shell=True, stdout=subprocess.PIPE, text=True)
        return done.stdout.splitlines()

    def _time(self, line: str) -> Any:
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            value = eval(compile(line, "<%time>", "eval"), self.user_ns)
        except SyntaxError:
            value = None
            exec(compile(line, "<%time>", "exec"), self.user_ns)
        print(f"CPU times: {time.process_time() - cpu:.3g} s\nWall time: {time.perf_counter() - wall:.3g} s")
        return value

    def _run(self, line: str) -> None:
        import runpy
        import shlex

        path, *arguments = shlex.split(line)
        argv, sys.argv = sys.argv, [path, *arguments]
        try:
            self.user_ns.update(runpy.run_path(path, run_name="__main__"))
        finally:
            sys.argv = argv

    def _expand(self, text: str) -> str:
        """``{expression}`` and ``$name`` of the notebook's own names."""

        def value(found: re.Match[str]) -> str:
            try:
                return str(eval(found.group(1), self.user_ns))
            except Exception:
                return found.group(0)  # not one of the notebook's: the shell's own braces, $HOME

        text = re.sub(r"(?<![${])\{([^{}]+)\}", value, text)
        return re.sub(r"\$([A-Za-z_]\w*)", value, text)


def run(cells: list[Cell], name: str, namespace: dict[str, Any], warn: Callable[[str], None]) -> None:
    """Execute the cells in ``namespace``, in order.

    Args:
        cells: From :func:`read`.
        name: Of the notebook, for tracebacks.
        namespace: The globals of ``__main__``.
        warn: Called with a line for each thing that is left out.

    Raises:
        BaseException: What a cell raised, with the cell's number as a note on Python 3.11 and later and in its
            traceback's file names.
    """
    shell = Shell(namespace, warn)
    # TensorFlow 2.21 keeps where an operation was made as pointers into code, which it does not keep: a cell that fails
    # because of an operation of an earlier one would end the process.
    codes: list[CodeType] = []
    namespace.update(get_ipython=lambda: shell, display=_display)
    for cell in cells:
        filename = f"{name}, cell {cell.number}"
        try:
            source = translate(cell.source)
            linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
            tree = _parse(source, filename)
            last = tree.body.pop() if tree.body and _shows(tree.body[-1], source) else None
            codes.append(compile(tree, filename, "exec", dont_inherit=True))
            exec(codes[-1], namespace)
            if isinstance(last, ast.Expr):
                codes.append(compile(ast.Expression(last.value), filename, "eval", dont_inherit=True))
                _display(eval(codes[-1], namespace))
        except Exception:
            if not cell.may_raise:
                raise


def _parse(source: str, filename: str) -> ast.Module:
    try:
        return ast.parse(source, filename)
    except SyntaxError as error:
        two = python2.explain_syntax(source, error)
        if two is None:
            raise
        raise two from None


def _shows(statement: ast.stmt, source: str) -> bool:
    return isinstance(statement, ast.Expr) and not source.rstrip().endswith(";")


def _display(*values: Any, **_: Any) -> None:
    for value in values:
        if value is not None:
            print(value if isinstance(value, str) and "\n" in value else repr(value))
