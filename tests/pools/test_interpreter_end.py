"""The end of a job's interpreter: a script sees of it what it sees under Python; the server's modules stay."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from tf1sessions.pools.fork_server import WorkerServer, WorkerSpec

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="there are no forks of a server"),
]

HERE = str(Path(__file__).parent)

# In front of each script; the other module is the script's own.
HELPER = """
class Noted:
    def __init__(self, name): self.name = name
    def __del__(self): print("end of", self.name)
def function(): pass
"""

# The job's objects go by themselves: none of the server's modules is taken apart.
ALONE = {
    "globals": "a = Noted('a'); _b = Noted('_b'); c = Noted('c')",
    "globals of functions": "a = Noted('a'); _b = Noted('_b')\ndef function(): return a",
    "a circle": "a = Noted('a'); a.itself = a\nb = Noted('b'); b.itself = b; del b\nprint('body')",
    "a module of its own": """
        import helper
        helper.more = Noted('more'); helper.file = open('out', 'w'); helper.file.write('text')
        """,
    "streams in memory that stay": "import io, json; json.kept = [io.BytesIO(b'a'), io.StringIO('b')]; print('body')",
    "an open file": "file = open('out', 'w'); file.write('text')",
    "an open file in a circle": "a = Noted('a'); a.itself = a; a.file = open('out', 'w'); a.file.write('text')",
    "an open file of a function": "def function(file=open('out', 'w')): file.write('text')\nfunction()",
    "an archive": "import zipfile\nz = zipfile.ZipFile('out', 'w'); z.writestr(zipfile.ZipInfo('a'), 'text')",
    "the order": """
        import atexit, threading, time, weakref, logging
        a = Noted('a')
        atexit.register(print, 'first registered'); atexit.register(print, 'registered last')
        weakref.finalize(a, print, 'finalize')
        threading.Thread(target=lambda: (time.sleep(0.1), print('thread'))).start()
        logging.basicConfig(filename='out'); logging.warning('to a file')
        print('body')
        """,
    "an executor": """
        from concurrent.futures import ThreadPoolExecutor
        import time
        executor = ThreadPoolExecutor(2)
        executor.submit(lambda: (time.sleep(0.1), print('done')))
        """,
    "processes": """
        import multiprocessing
        context = multiprocessing.get_context('fork')
        context.Process(target=print, args=('child',)).start()
        """,
    "temporary files": """
        import tempfile
        folder = tempfile.TemporaryDirectory(dir='.'); file = tempfile.NamedTemporaryFile(dir='.')
        """,
    "a generator": "def generate():\n    try: yield 1\n    finally: print('closed')\ng = generate(); next(g)",
    "a weak reference": "import weakref\na = Noted('a'); r = weakref.ref(a, lambda _: print('called'))",
    "a local of threads": "import threading\nl = threading.local(); l.a = Noted('a')",
    "an error in __del__": "class Bad:\n    def __del__(self): raise ValueError('bad')\nb = Bad()",
    "an import in __del__": """
        class Late:
            def __del__(self):
                import json
        a = Late(); b = Late(); b.itself = b; del b
        """,
    "an error at exit": "import atexit\natexit.register(lambda: 1 / 0)",
    "an exit code": "import sys\na = Noted('a')\nsys.exit(7)",
    "a text as exit code": "import sys\nsys.exit('no luck')",
    "a large exit code": "import sys\nsys.exit(2**40)",
    "stdout that is full": "import os\nos.dup2(os.open('/dev/full', os.O_WRONLY), 1); os.write(2, b'x'); print('lost')",
    "stdout that is closed": "import os\nprint('lost'); os.close(1)",
    "another stdout": """
        import sys
        class Both:
            def __init__(self): self.file = open('out', 'w')
            def write(self, text): self.file.write(text)
            def flush(self): pass
            def __del__(self): self.file.write('end')
        sys.stdout = Both(); print('text')
        """,
    "a handler of a signal": """
        import signal
        class Handler(Noted):
            def __call__(self, *arguments): pass
        signal.signal(signal.SIGUSR1, Handler('handler'))
        """,
    "a signal at exit": "import atexit, os, signal\natexit.register(lambda: os.kill(os.getpid(), signal.SIGTERM))",
    "a name in builtins": "import builtins\nbuiltins.mine = Noted('mine')",
    "a buffer of C": "import ctypes\nctypes.CDLL(None).printf(b'from C')",
    "a handler of C": """
        import ctypes
        c = ctypes.CDLL(None)
        c.strdup.restype = ctypes.c_void_p
        vars(c)['atexit'] = c['__cxa_atexit']
        c.atexit(c.puts, ctypes.c_void_p(c.strdup(b'from a handler')), None)
        """,
    # From NumPy 2.5 on it is not loaded before.
    "functions of Cython": "import numpy.random\nprint(numpy.random.RandomState(0).randint(10))",
    "more of the library": "import csv, unittest, xml.dom.minidom, wave, concurrent.futures.process\na = Noted('a')",
}

# A module of the server refers to something of the job's, whose end could be seen: they are taken apart.
STAYS = {
    "a function": """
        import kept
        a = Noted('a'); file = open('out', 'w'); file.write('text')
        kept.registry[1] = lambda: a
        """,
    "an object": "import kept\nkept.mine = Noted('mine')",
    "an open file in a registry": "import kept\nkept.registry[1] = open('out', 'w'); kept.registry[1].write('text')",
    "a generator in a registry": """
        import kept
        def generate():
            try: yield 1
            finally: print('closed')
        kept.registry[1] = generate(); next(kept.registry[1])
        """,
    "a weak reference in a registry": """
        import kept, weakref
        class Plain: pass
        kept.registry[1] = Plain()
        kept.registry[2] = weakref.ref(kept.registry[1], lambda _: None)
        """,
    "a class in a registry": "import kept\nclass Own(Noted): pass\nkept.registry[Own] = 1\na = Own('a')",
    "an object of a type that does not tell its module": """
        import kept
        class Type(type):
            __module__ = property(id)
        class Own(metaclass=Type): pass
        kept.registry[1] = Own
        """,
    "a file of HDF5 that is never closed": """
        import ctypes, h5py
        file = h5py.File('out', 'w'); file['a'] = 1
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(file.id))
        """,
    "a handler of a log": """
        import kept, logging
        class Handler(logging.Handler):
            def emit(self, record): print(record.getMessage())
            def close(self): print('closed'); super().close()
        logging.getLogger('x').addHandler(Handler()); logging.getLogger('x').warning('text')
        """,
}


def environment(**changes: str) -> dict[str, str]:
    """This process's environment without settings of the interpreter, and with this folder to import from."""
    paths = [HERE, os.environ.get("PYTHONPATH", "")]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return kept | {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTHONDONTWRITEBYTECODE": "1"} | changes


@pytest.fixture(scope="module")
def server() -> Iterator[WorkerServer]:
    with WorkerServer(["end_targets:preload"], environment(), method="fork") as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "script"
    folder.mkdir()
    (folder / "helper.py").write_text(HELPER)
    (folder / "kept.py").write_text("registry = {}\n")
    return folder


Ended = tuple[int, str, str, bytes]


def ended(returncode: int, folder: Path, out: Path, err: Path) -> Ended:
    """How a script has ended: its exit code, what it wrote, and its file ``out``, which is removed."""
    written = (folder / "out").read_bytes() if (folder / "out").exists() else b"none"
    (folder / "out").unlink(missing_ok=True)
    assert sorted(path.name for path in folder.iterdir()) == ["helper.py", "kept.py", "script.py"]
    message = "\n".join(line.partition(" at 0x")[0] for line in err.read_text().splitlines())
    return returncode, out.read_text(), message, written


def both_ends(server: WorkerServer, folder: Path, source: str) -> tuple[Ended, Ended, bool]:
    """Run a script by Python and as a job: how each has ended, and whether the server's modules were taken apart."""
    script, witness, out, err = (folder / "script.py", *(folder.parent / name for name in ("witness", "out", "err")))
    script.write_text("from helper import Noted\n" + textwrap.dedent(source))
    with open(out, "wb") as stdout, open(err, "wb") as stderr:
        command = [sys.executable, str(script)]
        done = subprocess.run(
            command, cwd=folder, env=environment(), stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr
        )
    by_python = ended(done.returncode, folder, out, err)
    with open(out, "wb") as stdout, open(err, "wb") as stderr:
        spec = WorkerSpec(
            name="script",
            target="end_targets:run_script",
            payload={"script": str(script)},
            env=environment(WITNESS=str(witness)),
            cwd=str(folder),
            stdin=None,
            stdout=stdout.fileno(),
            stderr=stderr.fileno(),
        )
        result = server.spawn(spec).wait(60)
    assert result is not None and result.started, result
    return by_python, ended(result.returncode, folder, out, err), witness.exists()


@pytest.mark.parametrize("name", ALONE)
def test_a_job_ends_as_a_script_does_and_the_servers_modules_are_left_alone(
    server: WorkerServer, folder: Path, name: str
) -> None:
    by_python, as_job, taken_apart = both_ends(server, folder, ALONE[name])
    assert as_job == by_python
    assert not taken_apart


@pytest.mark.parametrize("name", STAYS)
def test_modules_that_refer_to_something_of_the_jobs_are_taken_apart(
    server: WorkerServer, folder: Path, name: str
) -> None:
    by_python, as_job, taken_apart = both_ends(server, folder, STAYS[name])
    assert as_job == by_python
    assert taken_apart


def test_what_an_extension_has_python_call_last_is_called(server: WorkerServer, folder: Path) -> None:
    """Whether the server's modules are taken apart rests on the extension, which may refer to something of theirs."""
    source = "import ctypes, wrapt\nctypes.pythonapi.Py_AtExit(ctypes.CDLL(None).abort)"
    by_python, as_job, _ = both_ends(server, folder, source)
    assert as_job == by_python and as_job[0] == -signal.SIGABRT


def test_without_the_hook_the_end_is_pythons_own(server: WorkerServer, folder: Path) -> None:
    by_python, as_job, taken_apart = both_ends(
        server, folder, "import sys\nsys.__interactivehook__ = None\na = Noted('a')"
    )
    assert as_job == by_python
    assert taken_apart
