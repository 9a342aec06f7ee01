"""A library of operations, compiled from the sources of TensorFlow 1 for the TensorFlow that is installed.

::

    read_sources(paths)  ──▶ Sources: each file and what it includes, rewritten in memory; the user's are never touched
    build(sources, out)  ──▶ copies in a temporary folder ──▶ an object a source ──▶ a library ──▶ loaded once, in a
                             process of its own ──▶ put into place whole, or not at all
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import secrets
import subprocess
import sys
from collections.abc import Callable, Sequence

from tf1sessions.errors import BuildError, UsageError
from tf1sessions.files import temporary_folder
from tf1sessions.runtime import tf
from tf1sessions.texts import quoted

from .sources import Sources, is_cuda
from .toolchain import CompilerFlags, Compilers, run_compiler

__all__ = ["Built", "build", "installed_flags"]

# What a process does with a new library, before it is put into place.
_LOAD = """
import sys
sys.path[:] = [entry for entry in sys.path if entry]
import json, os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf
try:
    loaded = tf.load_op_library(sys.argv[1])
except Exception as error:
    print(json.dumps({"error": str(error)}))
else:
    names = vars(loaded)
    print(json.dumps({"functions": sorted(name for name in names if f"{name}_eager_fallback" in names)}))
"""


@dataclasses.dataclass(frozen=True)
class Built:
    """A library that was built.

    Attributes:
        path: Where it is.
        functions: The names of its functions in Python, one an operation; empty where it was not loaded.
        commands: What was run, in order.
    """

    path: str
    functions: tuple[str, ...]
    commands: tuple[tuple[str, ...], ...]


def installed_flags() -> CompilerFlags:
    """Return the flags of the TensorFlow that is installed."""
    return CompilerFlags(tuple(tf.sysconfig.get_compile_flags()), tuple(tf.sysconfig.get_link_flags()))


def build(
    sources: Sources,
    out: str | os.PathLike[str],
    flags: CompilerFlags,
    *,
    define: Sequence[str] = (),
    library_folders: Sequence[str] = (),
    libraries: Sequence[str] = (),
    extra: Sequence[str] = (),
    check: bool = True,
    notice: Callable[[str], None] = lambda line: None,
) -> Built:
    """Compile sources into a library that ``tf.load_op_library`` loads.

    Args:
        sources: What ``read_sources`` returned.
        out: The library to be written. What is there stays until the new one is whole.
        flags: What ``installed_flags`` returned.
        define: Macros, ``NAME`` or ``NAME=VALUE``.
        library_folders: Where libraries are looked for.
        libraries: Names of libraries to link.
        extra: More flags, for the C++ compiler and the linker.
        check: Whether to load the library in a process of its own before it is put into place.
        notice: Called with what is being done, a line at a time.

    Raises:
        UsageError: ``out`` cannot be written.
        UnsupportedEnvironmentError: A compiler is missing.
        BuildError: A source does not compile, or the library does not load.
    """
    target = _target(os.fspath(out), sources)
    cuda = [path for path in sources.paths if is_cuda(path)]
    compilers = Compilers.found(cuda)
    commands: list[tuple[str, ...]] = []
    own = frozenset(sources.files)

    def run(command: list[str]) -> None:
        commands.append(tuple(command))
        run_compiler(command, own, folder)

    with temporary_folder("tf1sessions-build-op-") as folder:
        sources.write(folder, numbered=True)
        user = [*_search(sources, folder), *(f"-D{name}" for name in define), *extra]
        objects = []
        for number, path in enumerate(sources.paths):
            notice(f"compiling {path}")
            objects.append(f"{folder}/{number}.o")
            copy = folder + path
            run(compilers.compile_cuda(copy, objects[-1], flags, user) if path in cuda
                else compilers.compile(copy, objects[-1], flags, user, cuda=bool(cuda)))  # fmt: skip
        link = [*(f"-L{each}" for each in library_folders), *(f"-l{each}" for each in libraries), *extra]
        beside = f"{os.path.dirname(target)}/.tf1sessions-{secrets.token_hex(8)}.so"
        try:
            run(compilers.link(objects, beside, flags, link, cuda=bool(cuda)))
            functions: tuple[str, ...] = ()
            if check:
                notice("loading the library")
                functions = _loaded(beside, out)
            os.replace(beside, target)
        finally:
            if os.path.lexists(beside):
                os.unlink(beside)
    return Built(target, functions, tuple(commands))


def _target(out: str, sources: Sources) -> str:
    target = os.path.realpath(out) if os.path.isfile(out) else os.path.abspath(out)
    folder = os.path.dirname(target)
    if not out or os.path.isdir(target) or (os.path.lexists(target) and not os.path.isfile(target)):
        raise UsageError(f"{quoted(out)} is not a file", where="-o", next_step="Name the library: -o my_op.so.")
    if not os.path.isdir(folder) or not os.access(folder, os.W_OK):
        raise UsageError(f"{quoted(folder)} is not a folder that can be written", where="-o",
                         next_step="Make the folder, or name another.")  # fmt: skip
    if target in {os.path.realpath(path) for path in sources.files}:
        raise UsageError(f"{quoted(out)} is one of the sources", where="-o", next_step="Name the library: -o my_op.so.")
    return target


def _search(sources: Sources, folder: str) -> list[str]:
    """Return the flags by which copies find each other, and then what was not copied."""
    found = [flag for each in sources.include for flag in (f"-I{folder}{each}", f"-I{each}")]
    beside = dict.fromkeys(os.path.dirname(path) for path in sources.files)
    return found + [flag for each in beside for flag in ("-iquote", each)]


def _loaded(library: str, out: str | os.PathLike[str]) -> tuple[str, ...]:
    """Load a library in a process of its own, and return the names of its functions."""
    done = subprocess.run(
        [sys.executable, "-c", _LOAD, library], stdin=subprocess.DEVNULL, capture_output=True, text=True,
        errors="replace", env=os.environ | {"PYTHONINSPECT": ""},
    )  # fmt: skip
    line = done.stdout.rstrip().rpartition("\n")[2]
    try:
        answer = json.loads(line)
    except ValueError:
        answer = {"error": done.stderr.rstrip().rpartition("\n")[2] or f"the process ended with {done.returncode}"}
    if "error" in answer:
        raise _not_loading(str(answer["error"]), os.fspath(out))
    return tuple(answer["functions"])


def _not_loading(said: str, out: str) -> BuildError:
    missing = re.search(r"undefined symbol: (\S+)", said)
    if missing:
        step = "Name the source that defines it too, or link its library by -l. It may be in a .cu source."
        return BuildError(f"{out} would not load: nothing defines {_readable(missing[1])}", next_step=step, output=said)
    absent = re.search(r"(\S+): cannot open shared object file", said)
    if absent:
        step = "Put its folder into LD_LIBRARY_PATH, or into the library: -- -Wl,-rpath,FOLDER."
        return BuildError(f"{out} would not load: {absent[1]} is not found", next_step=step, output=said)
    return BuildError(f"{out} would not load: {said}", output=said)


def _readable(symbol: str) -> str:
    """Return a symbol as C++ writes it, where c++filt is there to say so."""
    try:
        done = subprocess.run(["c++filt", symbol], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    except OSError:
        return symbol
    return done.stdout.strip() or symbol
