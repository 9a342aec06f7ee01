"""Programs of tests whose failing assertions show the values, as pytest's own test modules do.

Pytest rewrites the assertions of the modules that it imports. A program of checks is imported in a process of its own,
or in a child that was forked, where pytest does not run.
"""

from __future__ import annotations

import ast
import atexit
import importlib.machinery
import importlib.util
import os
import sys
import threading
from pathlib import Path
from types import CodeType, ModuleType
from typing import NoReturn

from _pytest.assertion.rewrite import rewrite_asserts  # not public, but there is no public way

__all__ = ["RUN_CHECKS", "compile_program", "end_process", "import_program"]

#: Runs checks of a program, with `report` of conftest.py: its path, and the names of its functions. All is reported
#: then: the interpreter, which would look through all of TensorFlow once more, is not taken apart.
RUN_CHECKS = """
import os, pathlib, sys, traceback
path = pathlib.Path(sys.argv[1])
sys.path[:0] = [str(path.parent), str(path.parent.parent)]
from rewriting import end_process, import_program
program = import_program(path)
for name in sys.argv[2:]:
    try:
        getattr(program, name)()
    except BaseException:
        report(**{name: traceback.format_exc()})
    else:
        report(**{name: None})
end_process()
"""


def compile_program(source: bytes, path: str) -> CodeType:
    """Compiles a program; what its assertions compare is in the message of their failure."""
    tree = ast.parse(source, path)
    rewrite_asserts(tree, source)
    return compile(tree, path, "exec", dont_inherit=True)


def end_process() -> NoReturn:
    """Ends this process as ``multiprocessing`` ends its children: threads are waited for, and exit handlers run."""
    threading._shutdown()  # type: ignore[attr-defined]  # not public, but what the interpreter does at its end
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(0)


def import_program(path: Path) -> ModuleType:
    """Imports a program by the name of its file; its folder must be on ``sys.path`` for what it imports itself."""
    loader = _Loader(path.stem, str(path))
    spec = importlib.util.spec_from_loader(path.stem, loader)
    assert spec is not None
    program = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    loader.exec_module(program)
    return program


class _Loader(importlib.machinery.SourceFileLoader):
    """Leaves the compiled file of the plain module alone."""

    def get_code(self, fullname: str) -> CodeType:
        return compile_program(self.get_data(self.path), self.path)
