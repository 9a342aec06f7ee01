"""Programs that start with TensorFlow imported, ../warm.py, are else like those that start afresh."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Callable

import pytest
import warm
from support import PythonRun


def test_is_a_program_with_tensorflow(run_python: Callable[..., PythonRun]) -> None:
    code = """
    import os, sys
    report(there="tensorflow" in sys.modules, arguments=sys.argv[1:], files=os.listdir(), input=sys.stdin.read())
    import tensorflow as tf
    report(sum=float(tf.reduce_sum(tf.ones([3]))), variable=os.environ.get("A_VARIABLE"))
    print("said")
    print("said too", file=sys.stderr)
    """
    found = run_python(code, "x", "y")
    rest = {"arguments": ["x", "y"], "files": [], "input": "", "sum": 3.0}
    assert found.results == {"there": True, "variable": None, **rest}
    assert found.stdout == "said\n" and found.stderr.endswith("said too\n")
    environment = {"A_VARIABLE": "a value"}
    assert run_python(code, "x", "y", env=environment).results == {"there": False, "variable": "a value", **rest}


def test_ends_as_the_program_does(run_python: Callable[..., PythonRun]) -> None:
    assert run_python("import sys; sys.exit(3)", check=False).returncode == 3
    killed = run_python("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", check=False)
    assert killed.returncode == -signal.SIGTERM
    failed = run_python("def f():\n    raise ValueError('no')\nf()", check=False)
    assert failed.returncode == 1 and "code.py\", line 2, in f\n    raise ValueError('no')" in failed.stderr


def test_is_killed_with_all_that_it_started(run_python: Callable[..., PythonRun]) -> None:
    started = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(4321)'])"
    for deadline in (0.01, 5):  # before it has begun, and after
        with pytest.raises(pytest.fail.Exception, match="was killed after"):
            run_python(started, deadline=deadline)
    assert run_python("report(there=True)").results == {"there": True}
    assert "sleep(4321)" not in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout


def test_the_server_ends_with_pytest() -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        command = [sys.executable, warm.__file__, str(listener.fileno())]
        server = subprocess.Popen(command, pass_fds=[listener.fileno()], stdin=subprocess.PIPE)
        try:
            server.communicate(timeout=60)
        finally:
            server.kill()
    assert server.returncode == 0
