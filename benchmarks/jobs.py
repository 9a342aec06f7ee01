"""What a job costs: its start in a warm worker, two at once, and the examples against genuine TensorFlow 1.15.5.

    python benchmarks/jobs.py                                 start of a warm job; -j 2 against one after the other
    python benchmarks/jobs.py --oracle path/to/python3.7      the examples too, on both sides

The examples are timed from their first line to the end of the process. On 1.15.5 that includes its import of
TensorFlow, which a warm worker has behind it; the column "without import" takes it off.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tf1sessions.pools.fork_server import WorkerSpec
from tf1sessions.scripts.servers import script_server

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
ROUNDS = 3

BUSY = """
import numpy as np
import tensorflow as tf
a = tf.get_variable("a", initializer=np.random.rand(256, 256).astype("f") / 100)
b = a
for _ in range(20):
    b = tf.tanh(tf.matmul(a, b))
with tf.Session() as sess:
    sess.run(a.initializer)
    for _ in range(400):
        sess.run(b)
"""


def environment():
    return dict(os.environ, TF_USE_LEGACY_KERAS="1", TF_ENABLE_ONEDNN_OPTS="0", TF_CPP_MIN_LOG_LEVEL="3")


def spawn(server, script, cwd, threads=None):
    payload = {
        "kind": "script",
        "path": str(script),
        "path0": str(Path(script).parent),
        "argv": [],
        "display": str(script),
        "settings": {"intra_op_threads": threads, "inter_op_threads": threads},
    }
    with open(Path(cwd) / "stdout", "wb") as out, open(Path(cwd) / "stderr", "wb") as err:
        fds = out.fileno(), err.fileno()
        return server.spawn(
            WorkerSpec("bench", "tf1sessions.scripts.program:execute", payload, environment(), str(cwd), None, *fds)
        )


def finish(handle, cwd):
    result = handle.wait(600)
    if result is None or result.returncode != 0:
        raise SystemExit((Path(cwd) / "stderr").read_text(errors="replace")[-3000:])
    return result


def warm_start(server, folder):
    """Seconds from asking for a worker to the first line of its script."""
    script = folder / "first_line.py"
    script.write_text("import time; print(time.time())\n")
    found = []
    for _ in range(20):
        asked = time.time()
        finish(spawn(server, script, folder), folder)
        found.append(float((folder / "stdout").read_text()) - asked)
    return statistics.median(found)


def cold_start(folder):
    """Seconds that a script waits for `import tensorflow.compat.v1` in a new interpreter."""
    code = "import time; start = time.time(); import tensorflow.compat.v1; print(time.time() - start)"
    found = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], env=environment(), cwd=folder, capture_output=True, check=True)
        found.append(time.perf_counter() - began)
    return statistics.median(found)


def two_at_once(server, folder):
    script = folder / "busy.py"
    script.write_text(BUSY)
    folders = [folder / "a", folder / "b"]
    for each in folders:
        each.mkdir()
    apart, together = [], []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for each in folders:
            finish(spawn(server, script, each, 1), each)
        apart.append(time.perf_counter() - start)
        start = time.perf_counter()
        for handle, each in [(spawn(server, script, each, 1), each) for each in folders]:
            finish(handle, each)
        together.append(time.perf_counter() - start)
    return statistics.median(apart), statistics.median(together)


def example_seconds(server, folder, script):
    found = []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory(dir=folder) as cwd:
            start = time.perf_counter()
            finish(spawn(server, script, cwd), cwd)
            found.append(time.perf_counter() - start)
    return statistics.median(found)


def oracle_seconds(python, folder, script):
    """Seconds of a script on 1.15.5, from its first line to its end, and those of its import of TensorFlow."""
    code = (
        "import sys, time, runpy; start = time.time(); import tensorflow; imported = time.time() - start\n"
        "sys.stderr.write('%f\\n' % imported)\n"
    )
    found, imports = [], []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory(dir=folder) as cwd:
            start = time.perf_counter()
            subprocess.run([python, str(script)], cwd=cwd, env=environment(), capture_output=True, check=True)
            whole = time.perf_counter() - start
            start = time.perf_counter()
            subprocess.run([python, "-c", "pass"], cwd=cwd, check=True)
            found.append(whole - (time.perf_counter() - start))
            done = subprocess.run([python, "-c", code], cwd=cwd, env=environment(), capture_output=True, check=True)
            imports.append(float(done.stderr.split()[-1]))
    return statistics.median(found), statistics.median(imports)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--oracle", help="the interpreter of an environment with TensorFlow 1.15.5")
    parser.add_argument("--only", default="", help="only examples whose name contains this")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, script_server(environment()) as server:
        folder = Path(name)
        server.wait_ready(300)
        if not options.only:
            warm, cold = warm_start(server, folder), cold_start(folder)
            print(f"start of a job: warm {warm:.3f} s, new interpreter and TensorFlow {cold:.2f} s: {cold / warm:.0f}x")
            apart, together = two_at_once(server, folder)
            print(f"two CPU-bound scripts: one by one {apart:.1f} s, -j 2 {together:.1f} s: {apart / together:.2f}x")
        print(f"\n{'example, seconds':<26}{'here':>8}", end="")
        print(f"{'1.15.5':>9}{'ratio':>7}{'without import':>16}{'ratio':>7}" if options.oracle else "")
        for script in sorted(EXAMPLES.glob("*.py")):
            if options.only not in script.name:
                continue
            ours = example_seconds(server, folder, script)
            print(f"{script.stem:<26}{ours:8.2f}", end="", flush=True)
            if options.oracle:
                theirs, imported = oracle_seconds(options.oracle, folder, script)
                without = theirs - imported
                print(f"{theirs:9.2f}{theirs / ours:7.2f}{without:16.2f}{without / ours:7.2f}", end="")
            print()


if __name__ == "__main__":
    main()
