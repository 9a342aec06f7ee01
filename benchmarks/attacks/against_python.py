"""Attacks on ``tf1sessions run`` by scripts that plain Python runs as well: the same output, files and exit code."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
from pathlib import Path

from attacks.trial import Trial

END_SECS = 120.0
COMMAND = [sys.executable, "-m", "tf1sessions", "run"]

ENDS = [
    *(f"sys.exit({value})" for value in ("", "0", "256", "-1", "'text'", "[1]", "3.5", "2**40", "True", "None")),
    *(f"raise {error}" for error in (
        "SystemExit(5, 6)", "KeyboardInterrupt", "GeneratorExit", "BaseException('b')", "MemoryError",
        "BrokenPipeError", "ExceptionGroup('g', [ValueError(1)])", "ValueError('\\ud800')", "ValueError('a\\0b')",
        "3",
    )),
    *(f"os.kill(os.getpid(), {number})" for number in (1, 2, 3, 6, 9, 10, 11, 13, 14, 15)),
    "os._exit(3)", "os.abort()", "f = lambda: f(); f()", "import ctypes; ctypes.CDLL(None).exit(5)",
    "import ctypes; ctypes.string_at(0)", "class E(Exception):\n  def __str__(self): raise ValueError\nraise E",
    "sys.excepthook = None; 1/0", "del sys.excepthook; 1/0", "def h(*a): sys.exit(7)\nsys.excepthook = h; 1/0",
    "import atexit; atexit.register(lambda: 1/0)", "import atexit; atexit.register(os._exit, 9)",
    "import threading; threading.Thread(target=lambda: (time.sleep(.3), print('late'))).start(); sys.exit(4)",
    "import threading; threading.Thread(target=lambda: os._exit(8)).start(); time.sleep(5)",
    "print(", "return 3", "x = '\\0'\n\tx", "from __future__ import nosuch", "import nosuch",
]  # fmt: skip
STREAMS = [
    "sys.stdout.close(); sys.exit(3)", "sys.stdout = None; print('x')", "sys.stdin = None; input()",
    "os.close(1); os.close(2)", "os.closerange(0, 1000)", "sys.stdout.detach().write(b'bytes')",
    "sys.stdout.reconfigure(encoding='utf-16'); print('x')", "os.write(1, bytes(range(256)))",
    "os.dup2(os.open('f', 65), 1); print('to a file')", "print('no newline', end='')", "print('x' * 10**6)",
    "import ctypes; ctypes.CDLL(None).printf(b'from C')", "os.system('echo from a shell')", "print(sys.stdin.read())",
    "print(input())", "import select; print(select.select([0], [], [], 1)[0])",
]  # fmt: skip
SURROUNDINGS = [
    "print(sys.argv, __name__, __file__, __doc__, __package__, __spec__)", "print(sys.path[0], os.getcwd())",
    "import signal; print([str(signal.getsignal(s)) for s in signal.valid_signals()])",
    "import threading; print(threading.active_count(), threading.current_thread().name)",
    "import resource; print([resource.getrlimit(i) for i in range(10)], os.nice(0))",
    "import pickle\nclass A: pass\nprint(pickle.dumps(A), type(pickle.loads(pickle.dumps(A()))) is A)",
    "import inspect\ndef f(): pass\nprint(inspect.getsource(f))",
    "import gc; print(gc.isenabled(), gc.get_threshold())",
    "import logging; logging.warning('w'); print(logging.root.level, logging.root.handlers)",
    "print([f for f in os.listdir('/proc/self/fd') if int(f) > 3])", "print(sys.flags)",
]  # fmt: skip
DEEDS = [
    "os.remove(__file__); 1/0", "open(__file__, 'w').write('changed'); 1/0", "os.umask(0o777); open('f', 'w')",
    "import shutil; shutil.rmtree(os.getcwd()); print('gone')",
    "import shutil; shutil.rmtree('runs', True); print('x')",
    "import glob; [(os.remove(f), os.mkfifo(f)) for f in glob.glob('runs/*/*')]; print('x')",
    "import glob; [(os.remove(f), os.symlink('/dev/full', f)) for f in glob.glob('runs/*/*')]; print('x')",
    "import glob; [open(f, 'w').write('junk') for f in glob.glob('runs/*/*')]; print('x')", "os.chdir('/')",
    "os.environ.clear()", "sys.modules.clear()",
    "sys.meta_path.clear()", "os.open = os.write = None; print('x')",
    "def h(event, args):\n  if event == 'open': raise RuntimeError\nsys.addaudithook(h); print('x')",
    "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3)); print('x')",
    "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10)); print('x' * 5)",
    "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65)); print('x')",
    "p = os.fork()\nprint('both', flush=True)\nif p: os.wait()",
    "p = os.fork()\nif not p: sys.exit(3)\nprint(os.wait()[1])",
    "os.execv('/bin/sh', ['sh', '-c', 'exit 7'])",
    "import signal; signal.signal(17, signal.SIG_IGN); print(os.system('exit 3'))",
    "if not os.fork():\n  os.setsid()\n  open('daemon', 'w').close()\n  os._exit(0)\nos.wait()",
    "import multiprocessing as m\nclass E(Exception): pass\ndef f(x): raise E(x)\nif __name__ == '__main__':\n"
    "  with m.get_context('spawn').Pool(1) as p:\n    try: p.map(f, [1])\n    except E as e: print(e)",
    "from concurrent.futures import ProcessPoolExecutor as P\ndef f(x): return x + 1\nif __name__ == '__main__':\n"
    "  with P(2) as p: print(list(p.map(f, range(4))))",
    "import asyncio\nasync def f(): return await (await asyncio.create_subprocess_exec('true')).wait()\n"
    "print(asyncio.run(f()))",
]  # fmt: skip


def ran(folder: Path, command: list[str], body: str) -> tuple[int, bytes, set[str]]:
    folder.mkdir()
    (folder / "x.py").write_text("import os, sys, time\n" + body + "\n", errors="surrogatepass")
    done = subprocess.run(
        [*command, "x.py"], cwd=folder, input=b"one\ntwo\n", capture_output=True, timeout=END_SECS,
        env={**os.environ, "TF_USE_LEGACY_KERAS": "1", "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    code = done.returncode if done.returncode >= 0 else 128 - done.returncode
    text = re.sub(rb"0x[0-9a-f]+", b"0x", done.stdout).replace(os.fsencode(folder), b"FOLDER")
    return code, text, set(os.listdir(folder)) - {"runs"} if folder.exists() else set()


def against_python(bodies: list[str]):
    def act(folder: Path, rng: random.Random) -> str:
        body = bodies[int(folder.name) % len(bodies)]
        here, there = ran(folder / "a", COMMAND, body), ran(folder / "b", [sys.executable], body)
        if body.startswith("import resource; resource.setrlimit") and there[0] == 128 + signal.SIGXFSZ:
            return "as under python"
        return "as under python" if here == there else f"{body!r}: {here}, under python {there}"[:1500]

    return act


SENT = "SIGUSR1 SIGUSR2 SIGALRM SIGQUIT SIGABRT SIGXCPU SIGPROF SIGVTALRM SIGIO SIGPWR SIGRTMIN SIGRTMAX".split()

HEARS = """
import os, signal, sys, time
got = []
if {has_handler}: signal.signal({signum}, lambda signum, frame: got.append(signum))
print("begun", flush=True)
until = time.monotonic() + 20
while not got and time.monotonic() < until: time.sleep(0.02)
print(got)
"""


def signal_sent(folder: Path, rng: random.Random) -> str:
    """A signal that a script has a handler for, or none, as soon as the script has begun."""
    signum, has_handler = int(getattr(signal, rng.choice(SENT))), rng.random() < 0.5
    (folder / "x.py").write_text(HEARS.format(has_handler=has_handler, signum=signum))
    ends = []
    for command in ([*COMMAND, "x.py"], [sys.executable, "x.py"]):
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            try:
                begun = process.stdout.readline()
                process.send_signal(signum)
                rest, _ = process.communicate(timeout=END_SECS)
            finally:
                process.kill()
        code = process.returncode if process.returncode >= 0 else 128 - process.returncode
        ends.append((code, begun + rest))
    return "as under python" if ends[0] == ends[1] else f"{signum}, handler {has_handler}: {ends[0]}, python {ends[1]}"


TRIALS = [Trial("signals", "as under python", signal_sent, times=24, deadline_secs=2 * END_SECS)]
TRIALS += [
    Trial(name, "as under python", against_python(bodies), times=len(bodies), deadline_secs=2 * END_SECS)
    for name, bodies in {
        "ends": ENDS, "streams": STREAMS, "surroundings": SURROUNDINGS, "deeds": DEEDS,
    }.items()
]  # fmt: skip
