"""What test_ray_server.py checks, on a cluster of two nodes of one CPU each.

The scripts are plain Python, but each job waits for a fork server of its own, which imports TensorFlow.
"""

from __future__ import annotations

import functools
import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ray_nodes import NODE, start_cluster
from support import alive, wait_for

DEADLINE = 100.0

TRAIN = """
import os, sys, time
from helper import NAME
number = sys.argv[1].partition("=")[2]
with open(os.path.join(os.environ["SHARED"], "began"), "a") as file:
    file.write(f"{number} {os.getpid()} {os.getppid()}\\n")
print("number", number, NAME, os.environ.get("CUDA_VISIBLE_DEVICES"), flush=True)
print("an error line", file=sys.stderr, flush=True)
with open(f"model_{number}", "w") as file:
    file.write(number)
while number != "0" and not os.path.exists(os.path.join(os.environ["SHARED"], "go")):
    time.sleep(0.02)
sys.exit(3 if number == "2" else 0)
"""

SEARCH = """
[[job]]
script = "train.py"
env = {SHARED = "%s"}
[job.grid]
number = %s
"""


@functools.cache
def cluster() -> Any:
    found, nodes()[:] = start_cluster()
    return found


@functools.cache
def nodes() -> list[Any]:
    return []


@functools.cache
def project() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="ray-run-"))
    for name, text in (("train.py", TRAIN), ("helper.py", "NAME = 'shipped'")):
        (folder / name).write_text(text)
    for name, numbers in (("search", [0, 1, 2]), ("one", [1])):
        (folder / f"{name}.toml").write_text(SEARCH % (folder / "shared", numbers))
    (folder / "shared").mkdir()
    return folder


def start(*args: str, stderr: int = subprocess.STDOUT) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tf1sessions", "run", "--ray", cluster().address, *args]
    return subprocess.Popen(command, cwd=project(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr)


def said(process: subprocess.Popen[bytes]) -> Callable[[], str]:
    """What to say when its jobs do not come."""

    def text() -> str:
        process.kill()
        return f"the jobs: {began()}; it said {process.communicate()[0]!r}"

    return text


def began() -> list[list[str]]:
    path = project() / "shared" / "began"
    return [line.split() for line in path.read_text().splitlines()] if path.exists() else []


def records() -> dict[str, Any]:
    return {record["args"][0][-1]: record for record in json.loads((project() / "out" / "jobs.json").read_text())}


def check_a_lost_node_and_a_resumed_run() -> None:
    """Job 0 ends, 1 and 2 wait on two nodes, of which one is lost."""
    process = start("search.toml", "--out", "out", "--json", stderr=subprocess.PIPE)
    try:
        wait_for(lambda: {line[0] for line in began()} == {"0", "1", "2"}, said(process), DEADLINE)
        wait_for(lambda: records()["0"]["state"] == "done", "the first job's end")
        first = next(int(line[1]) for line in began() if line[0] == "1")
        raylets = {node.all_processes["raylet"][0].process.pid: node for node in nodes()}
        pid = first
        while pid not in raylets:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        cluster().remove_node(raylets[pid], allow_graceful=False)
        wait_for(lambda: not alive(first), "the end of the job whose node is lost")
        cluster().add_node(**NODE)
        wait_for(lambda: len([line for line in began() if line[0] == "1"]) == 2, "its second start", DEADLINE)
        (project() / "shared" / "go").touch()
        output, messages = process.communicate(timeout=DEADLINE)
    finally:
        process.kill()
    assert process.returncode == 1, messages
    assert len(json.loads(output)["jobs"]) == 3  # what Ray says of the node is not on stdout
    assert b"its node was lost; it starts again" in messages
    found = records()
    assert {number: record["state"] for number, record in found.items()} == {"0": "done", "1": "done", "2": "failed"}
    assert found["2"]["exit_code"] == 3 and found["1"]["attempts"] == 1
    log = (project() / "out" / found["1"]["log"]).read_text()
    assert log.count("number 1 shipped") == 2 and "its node was lost, started again" in log and "an error line" in log
    assert sorted(path.name for path in project().glob("model_*")) == ["model_0", "model_1", "model_2"]
    before = len(began())
    again = start("--resume", "out")
    output, _ = again.communicate(timeout=DEADLINE)
    assert again.returncode == 1 and [line[0] for line in began()[before:]] == ["2"], output
    assert not list(Path(tempfile.gettempdir()).glob("tf1sessions-ray-*/job/model_2"))


def check_ctrl_c_ends_the_job_on_its_node() -> None:
    for name in ("go", "began"):
        (project() / "shared" / name).unlink(missing_ok=True)
    process = start("one.toml", "--out", "interrupted")
    try:
        pid = int(wait_for(began, "the job", DEADLINE)[0][1])
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=DEADLINE)
    finally:
        process.kill()
    wait_for(lambda: not alive(pid), "the job's end")
    record = json.loads((project() / "interrupted" / "jobs.json").read_text())[0]
    assert record["state"] == "cancelled" and "SIGINT" in record["reason"], (record, output)
    assert "KeyboardInterrupt" in (project() / "interrupted" / record["log"]).read_text()
