"""Runs one program inside its own process, as ``python SCRIPT`` would, on the TF1 face.

Data flow: the fork server calls :func:`preload` once; a worker forked from it calls :func:`execute` with a job's
payload (payload.py). It puts the job's settings in place, makes a fresh ``__main__``, runs the script, module or
notebook in it and turns what it raised into an exit code and, on stderr, the traceback that Python would print, without
our own frames (exits.py). Then it waits for the program's threads (queue_threads.py). The rest of an interpreter's end
is left to the caller.
"""

from __future__ import annotations

import atexit
import builtins
import importlib.machinery
import io
import logging
import multiprocessing.process
import os
import runpy
import signal
import sys
import tokenize
from builtins import BaseException, KeyboardInterrupt, SystemExit  # the program may replace them
from collections.abc import Callable, Mapping
from types import CodeType, ModuleType
from typing import Any

from ..errors import Tf1SessionsError
from ..source import python2
from ..source.notebooks import read as read_notebook
from ..texts import PrintableFormatter
from . import cluster_watch, exits, importer, notebooks, queue_threads, seed_words, settings
from .payload import ProgramPayload
from .streams import to_log

__all__ = ["execute", "preload"]

_log = logging.getLogger("tf1sessions")


def preload() -> Callable[[], None]:
    """Import TensorFlow with its TF1 face, and what :func:`execute` needs. Makes no session and runs no operation.

    Returns:
        :func:`rehearse`.
    """
    importer.install(fast_path=False, seeds="tf2")  # what a job is to have, its settings say
    import tensorflow  # noqa: F401

    from ..sessions import calls  # noqa: F401

    queue_threads.modules_with_coordinator()
    return rehearse


def rehearse() -> None:
    """Do what a small program does, without a GPU. For a fork that ends then: it is as if a program had run in it."""
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rehearsed.py")
    execute(ProgramPayload("script", path, os.path.dirname(path)).to_json())


def execute(
    payload: Mapping[str, Any],
    begin: Callable[[], None] | None = None,
    end: Callable[[int], None] | None = None,
    raised: Callable[[BaseException], None] | None = None,
) -> int:
    """Run a program and return its exit code.

    Args:
        payload: The program, as :meth:`.ProgramPayload.to_json` gives it.
        begin: Called when everything is in place, just before the program begins.
        end: Called with the exit code when the program has ended, before its threads are waited for.
        raised: Called with the exception that ended the program, unless that is SystemExit or KeyboardInterrupt, after
            it was printed and before ``end``.
    """
    given = ProgramPayload.from_json(payload)
    if given.settings.line_buffered:
        sys.stdout = sys.__stdout__ = to_log(sys.stdout)  # type: ignore[misc]
        sys.stderr = sys.__stderr__ = to_log(sys.stderr)  # type: ignore[misc]
    _log_to_stderr()
    settings.apply(given.settings, given.display)
    main = _fresh_main()
    sys.argv = [given.path if given.kind == "module" else given.display, *given.argv]
    sys.path[:] = given.module_path(sys.path)
    multiprocessing.process.ORIGINAL_DIR = os.getcwd()  # type: ignore[attr-defined]
    interrupted = _DieOfInterrupt()
    # TensorFlow 1.15 says nothing of results that were never used (tf_should_use) when the interpreter collects them
    # last. Here that would be the last thing in a job's log, below the traceback. Before the program registers its own:
    # runs after them, and calls nothing that the program may have replaced.
    atexit.register(setattr, logging.getLogger("tensorflow"), "disabled", True)
    try:
        cluster_watch.begin()
    except Tf1SessionsError as error:  # nothing of the program has run
        _log.error(str(error))
        return 2
    if begin is not None:
        begin()
    exit_code = _run(given, main, interrupted, raised)
    if end is not None:
        end(exit_code)
    try:
        queue_threads.wait(given.settings.queue_grace, exit_code)
    except KeyboardInterrupt:
        interrupted.happened = True
        queue_threads.end_process(128 + signal.SIGINT)
    finally:
        seed_words.write_report()
    return exit_code


def _run(
    program: ProgramPayload,
    main: ModuleType,
    interrupted: _DieOfInterrupt,
    raised: Callable[[BaseException], None] | None = None,
) -> int:
    """Run the program and return its exit code."""
    run = {"script": _run_script, "module": _run_module, "notebook": _run_notebook}[program.kind]
    try:
        try:
            run(main, program.path, program.display)
        finally:
            exits.flush()
    except SystemExit as error:
        return exits.exit_code(error)
    except KeyboardInterrupt as error:
        exits.report(error)
        interrupted.happened = True
        return 128 + signal.SIGINT
    except BaseException as error:
        exit_code = exits.report(error)
        if raised is not None:
            raised(error)
        return exit_code
    return 0


def _log_to_stderr() -> None:
    if not _log.handlers:
        handler = logging.StreamHandler()  # of this process's stderr
        handler.setFormatter(PrintableFormatter("tf1sessions: %(message)s"))
        _log.addHandler(handler)
        _log.propagate = False


def _fresh_main() -> ModuleType:
    main = ModuleType("__main__")
    vars(main).update(__builtins__=builtins, __annotations__={})
    # multiprocessing's name for it, under which children that import the program send back what it defines.
    sys.modules["__main__"] = sys.modules["__mp_main__"] = main
    return main


#: The code of the script. TensorFlow's tracebacks of operations point to it, and do not keep it; what runs at the end
#: of the interpreter may ask for one.
_kept: list[CodeType] = []


def _run_script(main: ModuleType, path: str, display: str) -> None:
    code = _compile(path)
    _kept.append(code)
    vars(main).update(__file__=path, __cached__=None, __loader__=importlib.machinery.SourceFileLoader("__main__", path))
    exec(code, vars(main))


def _compile(path: str) -> CodeType:
    with open(path, "rb") as file:
        source = file.read()
    try:
        return compile(source, path, "exec", dont_inherit=True)
    except SyntaxError as error:
        two = python2.explain_syntax(_decode(source), error)
        if two is None:
            raise
        raise two from None


def _decode(source: bytes) -> str:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
        return source.decode(encoding, "replace")
    except (SyntaxError, UnicodeError, LookupError):
        return source.decode("utf-8", "replace")


def _run_module(main: ModuleType, path: str, display: str) -> None:
    runpy._run_module_as_main(path)  # type: ignore[attr-defined]


def _run_notebook(main: ModuleType, path: str, display: str) -> None:
    os.environ.setdefault("MPLBACKEND", "Agg")
    with open(path, encoding="utf-8", errors="replace") as file:  # what is not in UTF-8 is not JSON either
        cells = read_notebook(file.read(), display)

    def warn(text: str) -> None:
        _log.warning(f"{display}: {text}")

    notebooks.run(cells, display, vars(main), warn)


class _DieOfInterrupt:
    """Ends the process by SIGINT after everything else has ended, as Python does after a KeyboardInterrupt."""

    def __init__(self) -> None:
        self.happened = False
        self._pid = os.getpid()
        atexit.register(self._die)  # before the program registers its own: runs after them

    def _die(self) -> None:
        if self.happened and os.getpid() == self._pid:
            sys.stdout.flush()
            sys.stderr.flush()
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(self._pid, signal.SIGINT)
