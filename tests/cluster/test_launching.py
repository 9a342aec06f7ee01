"""``tf1sessions launch`` with programs of TensorFlow 1: clusters that end well, fail, lose tasks, get no flags."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from plain_jobs import Plain
from programs import (
    ALONE,
    BETWEEN_GRAPH,
    COLLECTIVE,
    ESTIMATOR,
    IN_GRAPH,
    LATE_WORKER,
    MULTI_WORKER,
    SUPERVISED,
    SYNCHRONOUS,
)
from support import wait_for

pytest_plugins = ("plain_fixture", "warm_commands")
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("warm_commands")]
LAUNCH = ["-m", "tf1sessions", "launch"]
DEADLINE = 120.0


def launch(plain: Plain, *args: str, **options: Any) -> subprocess.Popen[bytes]:
    return plain.start(*args, program=LAUNCH, **options)


def ended(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    stdout, stderr = process.communicate(timeout=DEADLINE)
    return process.returncode, (stdout + stderr).decode()


def states(plain: Plain, run: str) -> dict[str, str]:
    return {record["name"]: record["state"] for record in plain.records(run)}


def log(plain: Plain, run: str, name: str) -> str:
    (record,) = (record for record in plain.records(run) if record["name"] == name)
    return (plain.folder / run / record["log"]).read_text()


def test_clusters_end_well_three_at_once(plain: Plain) -> None:
    plain.script("train.py", BETWEEN_GRAPH)
    plain.script("in_graph.py", IN_GRAPH)
    plain.script("supervised.py", SUPERVISED)
    malformed = {**os.environ, "TF_CONFIG": "{"}
    first = launch(plain, "--out", "a", "train.py", "--", "--folder=a_model", env=malformed)
    third = launch(plain, "--out", "c", "supervised.py")
    second = launch(plain, "--out", "b", "in_graph.py", "--", "{job_name}", "{task_index}")
    listening: set[str] = set()
    ports = []
    while first.poll() is None:  # the servers are seen from outside: each on the loopback device
        shown = subprocess.run(["ss", "-Hltn"], stdout=subprocess.PIPE, text=True).stdout
        listening |= set(re.findall(r"\S*:\d+(?= )", shown))
        time.sleep(0.05)  # servers listen for seconds, and need the processors
    code, text = ended(first)
    assert code == 0, text
    assert states(plain, "a") == {"ps:0": "done", "worker:0": "done", "worker:1": "done"}
    assert "each task learns which it is from --job_name --task_index --ps_hosts --worker_hosts and TF_CONFIG" in text
    assert "the TF_CONFIG of the environment is of another cluster, and is replaced" in text
    for number in range(2):
        said = log(plain, "a", f"worker:{number}")
        assert "loss True" in said
        assert "ignores intra_op_parallelism_threads in the config of a session on a server" in said
        assert "Give launch --threads 1, or tf.train.Server(..., config=...)" in said
        config = json.loads(said[said.index("loss True") + 10 :].splitlines()[0])
        assert config["task"] == {"type": "worker", "index": number}
        ports += [address.rpartition(":")[2] for hosts in config["cluster"].values() for address in hosts]
    (record, *_) = plain.records("a")
    assert record["reason"] == "ended when the workers were done"
    assert list((plain.folder / "a_model").glob("model.ckpt-*.index"))
    assert all(f"%lo:{port}" in " ".join(listening) for port in ports), (ports, listening)

    code, text = ended(second)  # whose tasks but one wait for ever
    assert code == 0, text
    assert states(plain, "b") == {"ps:0": "done", "worker:0": "done", "worker:1": "done"}
    assert "sum 3.0" in log(plain, "b", "worker:0")
    assert "pc-01:2222, pc-02:2222, pc-03:2222 are those of this cluster instead" in text

    code, text = ended(third)
    assert code == 0, text
    assert all("loss True True" in log(plain, "c", f"worker:{number}") for number in range(2))


def test_programs_of_tensorflow_2(plain: Plain) -> None:
    plain.script("workers.py", MULTI_WORKER)
    keras = os.environ.get("TF_USE_LEGACY_KERAS")
    environment = {**os.environ, **({"LEGACY_KERAS_BEFORE": keras} if keras is not None else {})}
    with launch(plain, "--tf2", "--out", "run", "workers.py", env=environment) as process:
        listening = ""
        while process.poll() is None:
            shown = subprocess.run(["ss", "-Hltn"], stdout=subprocess.PIPE, text=True).stdout
            listening += "".join(re.findall(r"\S*%lo:\d+ ", shown))
        code, text = ended(process)
    assert code == 0, text
    for number in range(2):
        assert "weight 1.500 of 2" in log(plain, "run", f"worker:{number}")
    assert listening  # the servers are on the loopback device


def test_servers_of_tensorflow_2_start_when_all_tasks_are_there(plain: Plain) -> None:
    """Alone a worker would hold Python's lock until its peers come, with a server that listens on all interfaces."""
    plain.script("workers.py", LATE_WORKER)
    with launch(plain, "--tf2", "--ps", "0", "--out", "run", "workers.py") as process:
        mark = plain.folder / "run" / ".claims" / "server-worker:0"
        wait_for(mark.exists, "the first worker, which is about to start its server", DEADLINE)
        ticks = plain.folder / "ticks"
        before = ticks.stat().st_size
        wait_for(lambda: ticks.stat().st_size > before + 5, "another thread of the first worker")
        (plain.folder / "come").touch()
        code, text = ended(process)
    assert code == 0, text


def test_a_collective_strategy_in_sessions_on_servers(plain: Plain) -> None:
    plain.script("collective.py", COLLECTIVE)
    code, text = ended(launch(plain, "--ps", "0", "--time-limit", "60", "--out", "run", "collective.py"))
    assert code == 0, text
    for number in range(2):
        assert "losses 70.0 29.575 12.495 5.279" in log(plain, "run", f"worker:{number}")


def test_the_last_of_synchronous_workers_goes_on(plain: Plain) -> None:
    """On TensorFlow 1 it waits for ever for tokens, which come when the others send gradients."""
    plain.script("train.py", SYNCHRONOUS)
    code, text = ended(launch(plain, "--time-limit", "100", "--out", "run", "train.py"))
    assert code == 0, text
    assert int(log(plain, "run", "worker:1").rpartition("steps ")[2].split()[0]) > 30  # for both


def test_an_estimator_with_chief_worker_and_evaluator(plain: Plain) -> None:
    plain.script("estimate.py", ESTIMATOR)
    code, text = ended(launch(plain, "--workers", "1", "--chief", "--evaluator", "--out", "run", "estimate.py"))
    assert code == 0, text
    assert states(plain, "run") == dict.fromkeys(["ps:0", "chief:0", "worker:0", "evaluator:0"], "done")
    assert "each task learns which it is from TF_CONFIG" in text
    assert list((plain.folder / "model" / "eval").glob("events.*"))


def test_the_first_failure_is_shown_and_ends_the_cluster(plain: Plain) -> None:
    plain.script("train.py", BETWEEN_GRAPH)
    code, text = ended(launch(plain, "--out", "run", "train.py", "--", "--way=raise"))
    assert code == 1
    assert states(plain, "run") == {"ps:0": "cancelled", "worker:0": "cancelled", "worker:1": "failed"}
    assert text.count("Traceback") == 1 and "  | ValueError: on purpose" in text
    assert "--resume" not in text


def test_a_lost_worker_starts_again(plain: Plain) -> None:
    plain.script("train.py", BETWEEN_GRAPH)
    code, text = ended(launch(plain, "--restart", "1", "--out", "run", "train.py", "--", "--way=kill"))
    assert code == 0, text
    assert [record["attempts"] for record in plain.records("run")] == [1, 1, 2]
    assert "worker:1 killed by SIGKILL" in text and "will start it again" in text


def test_a_worker_that_never_comes_is_named(plain: Plain) -> None:
    plain.script("train.py", BETWEEN_GRAPH)
    code, text = ended(launch(plain, "--start-limit", "5", "--out", "run", "train.py", "--", "--way=never"))
    assert code == 1
    assert "worker:1 built no server within 5 s (--start-limit)" in text
    assert set(states(plain, "run").values()) == {"cancelled"}


def test_a_program_that_builds_no_server_is_refused(plain: Plain) -> None:
    plain.script("alone.py", ALONE)
    code, text = ended(launch(plain, "--out", "run", "alone.py"))
    assert code == 1
    assert re.search(r"worker:\d is done, and no task has built a tf.train.Server", text)


@pytest.mark.parametrize(
    ("victim", "program"), [("worker:1", BETWEEN_GRAPH), ("ps:0", SUPERVISED), ("worker:0", SUPERVISED)]
)
def test_a_task_that_is_terminated_ends_the_cluster(
    plain: Plain, warm_commands: Callable[[], dict[int, str]], victim: str, program: str
) -> None:
    endless = program.replace("last_step=60", "last_step=10**9").replace("count < 60", "True")
    plain.script("train.py", endless)
    with launch(plain, "--out", "run", "train.py") as process:
        wait_for(lambda: is_training(plain), "the workers", DEADLINE)
        name = victim.replace(":", "_")
        (pid,) = (pid for pid in warm_commands() if holds_log(pid, f"{name}.log"))
        subprocess.run(["kill", "-TERM", str(pid)], check=True)
        code, text = ended(process)
    assert code == 1
    assert states(plain, "run")[victim] == "killed" and f"{victim} killed by SIGTERM" in text


def test_nothing_stays_when_the_launch_is_killed(plain: Plain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF1SESSIONS_WARM", "0")  # a server of its own has to end, too
    plain.script("train.py", BETWEEN_GRAPH.replace("last_step=60", "last_step=10**9"))
    with launch(plain, "--out", "run", "train.py") as process:
        wait_for(lambda: is_training(plain), "the workers", DEADLINE)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=DEADLINE)
    wait_for(lambda: not plain.strays(), "the end of the tasks")  # the fixture looks, too


def is_training(plain: Plain) -> bool:
    logs = list((plain.folder / "run").glob("*worker*.log")) if (plain.folder / "run").exists() else []
    return len(logs) == 2 and all("training\n" in path.read_text() for path in logs)


def holds_log(pid: int, name: str) -> bool:
    try:
        return Path(f"/proc/{pid}/fd/2").resolve().name.endswith(name)
    except OSError:
        return False


if sys.platform != "linux":
    pytest.skip("servers are bound to the loopback device on Linux", allow_module_level=True)
