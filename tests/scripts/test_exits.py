"""Each way in which a program can end gives plain Python's exit code and output. Needs no TensorFlow."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

WAYS = {
    **{
        f"exit({code})": f"import sys; print('out'); sys.exit({code})"
        for code in (
            "", "None", "0", "3", "-1", "255", "256", "300", "True", "False", "2**31", "2**32 + 5", "2**63 - 1",
            "2**63", "2**70", "-2**63", "-2**70", "3.5", "'text'", "''", "b'x'", "[1]", "{}", "'\\udcff é'", "object",
        )
    },
    "two arguments": "raise SystemExit(3, 4)",
    "a code that was set": "error = SystemExit(3); error.code = 'set'; raise error",
    "a number of its own": """
        import sys
        class Number(int):
            def __and__(self, other): return 77
            def __le__(self, other): raise ValueError
            __ge__ = __gt__ = __lt__ = __index__ = __int__ = __le__
        sys.exit(Number(6))
    """,
    "an isinstance of its own": """
        import builtins, sys
        def isinstance(*args): raise ValueError
        builtins.isinstance = isinstance
        sys.exit(4)
    """,
    "an isinstance that is never true": "import builtins, sys; builtins.isinstance = lambda *args: False; sys.exit(4)",
    **{
        f"an error, and {name} of its own": f"import builtins; builtins.{name} = None; 1 / 0"
        for name in "BaseException Exception SystemExit getattr id isinstance len set str type".split()
    },
    "no text": """
        import sys
        class Silent:
            def __str__(self): raise ValueError("no text")
        sys.exit(Silent())
    """,
    "no code": """
        class End(SystemExit):
            @property
            def code(self): raise ValueError("no code")
        raise End("what it says")
    """,
    "no stdout": "import sys; sys.stdout = None; sys.exit('text')",
    "no stderr": "import sys; sys.stderr = None; sys.exit('text é')",
    "no stderr at all": "import sys; del sys.stderr; sys.exit('text')",
    "an error without stderr": "import sys; sys.stderr = None; 1 / 0",
    "an error without stdout": "import sys; del sys.stdout; 1 / 0",
    "an error without a text": """
        class Silent(Exception):
            def __str__(self): raise ValueError("no text")
        raise Silent
    """,
    "an attribute of what has no text": """
        class Silent:
            def __str__(self): raise ValueError("no text")
        Silent().has_key
    """,
    "a stderr that fails": """
        import sys
        class Broken:
            def write(self, text): raise OSError("full")
            def flush(self): raise OSError("full")
        sys.stderr = Broken()
        sys.exit("text")
    """,
    "a hook that fails without stderr": "import sys; sys.stderr = sys.excepthook = None; 1 / 0",
    "a hook": "import sys\nsys.excepthook = lambda *args: print('hook', args[0])\n1 / 0",
    "a hook that fails": """
        import sys
        def inner(): return {}["key"]
        def hook(*args): inner()
        sys.excepthook = hook
        1 / 0
    """,
    "a hook that ends": "import sys\nsys.excepthook = lambda *args: sys.exit(7)\n1 / 0",
    "a hook that ends with a text": "import sys\nsys.excepthook = lambda *args: sys.exit('text')\n1 / 0",
    "a hook that is interrupted": "import sys\ndef hook(*args): raise KeyboardInterrupt\nsys.excepthook = hook\n1 / 0",
    "no hook": "import sys; del sys.excepthook; 1 / 0",
    "no hook of Python's": "import sys; del sys.excepthook, sys.__excepthook__; 1 / 0",
    "None for a hook": "import sys; sys.excepthook = None; 1 / 0",
    "a cause and a context": """
        try:
            1 / 0
        except ZeroDivisionError as error:
            raise KeyError("second") from error
    """,
}  # fmt: skip

#: Python 3.13 says more of these on stderr than that they end, which depends on what else it has loaded: its traceback
#: module needs these builtins, and an error that it ignores comes out as one of the threads' end.
OTHER_WORDS = (
    {"exit(2**63)", "exit(2**70)", "exit(-2**70)", "no text"}
    | {f"an error, and {name} of its own" for name in ("Exception", "getattr")}
    if sys.version_info >= (3, 13)
    else set()
)

#: Runs each program in a fork, and prints nothing else than its exit code.
RUN = """
import os, sys
from tf1sessions.scripts import program
from tf1sessions.scripts.payload import ProgramPayload
for path in sys.argv[1:]:
    sys.stdout.flush()
    pid = os.fork()
    if not pid:
        for fd, kind in ((1, "out"), (2, "err")):
            os.dup2(os.open(path + "." + kind, os.O_WRONLY | os.O_CREAT), fd)
        given = ProgramPayload("script", path, os.path.dirname(path))
        code = program._run(given, program._fresh_main(), program._DieOfInterrupt())
        sys.exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


def test_ends_are_those_of_python(tmp_path: Path) -> None:
    paths = {name: str(tmp_path / f"{number}.py") for number, name in enumerate(WAYS)}
    for name, path in paths.items():
        Path(path).write_text(textwrap.dedent(WAYS[name]), "utf-8", "surrogatepass")
    env = os.environ | {"PYTHONIOENCODING": "", "PYTHONINSPECT": ""}
    command = [sys.executable, "-c", RUN, *paths.values()]
    codes = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=env, check=True).stdout.split()
    differ = []
    for (name, path), code in zip(paths.items(), codes, strict=True):
        done = subprocess.run([sys.executable, path], capture_output=True, env=env)
        plain = done.returncode, done.stdout, done.stderr
        ours = int(code), Path(path + ".out").read_bytes(), Path(path + ".err").read_bytes()
        if name in OTHER_WORDS:
            ours, plain = ours[:2], plain[:2]
        if ours != plain:
            differ.append(f"{name}: {ours}, and not {plain}")
    assert not differ, "\n".join(differ)
