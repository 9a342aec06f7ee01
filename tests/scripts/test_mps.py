"""What started jobs and tasks have in their environment under NVIDIA's Multi-Process Service. No GPU is needed.

The machine is what stand-ins for NVML and nvidia-smi give, and the pipe of the service. The program has no TensorFlow.
"""

from __future__ import annotations

import json
import os

import pytest
from plain_jobs import Plain

pytest_plugins = ("plain_fixture",)
PERCENTAGE, LIMIT = "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"

# A task notes its environment; parameter servers listen for ever, and workers end when they see one of them listen.
PROGRAM = """
import json, os, socket, time

task = json.loads(os.environ.get("TF_CONFIG", "{}"))
own = task.get("task", {"type": "job", "index": os.getpid()})
with open(f"environment-{own['type']}-{own['index']}.json", "w") as file:
    json.dump(dict(os.environ), file)
if task:
    host, port = task["cluster"]["ps"][0].split(":")
    address = host, int(port)
    server = socket.create_server(address) if own["type"] == "ps" else None
    while True:
        time.sleep(0.05)
        if server is None:
            try:
                socket.create_connection(address).close()
                break
            except OSError:
                pass
"""

SMI = """#!/bin/sh
case "$1" in
--query-gpu=*) echo "0, T4, GPU-a, 16000, 16000"; echo "1, T4, GPU-b, 16000, 8600" ;;
esac
"""


@pytest.fixture
def environment(plain: Plain) -> dict[str, str]:
    """That of a machine with two GPUs, on which the service runs."""
    for name in ("bin", "mps"):
        (plain.folder / name).mkdir()
    plain.script("hidden/pynvml.py", "raise ImportError('not on this machine')")
    (plain.folder / "mps" / "control").touch()
    smi = plain.folder / "bin" / "nvidia-smi"
    smi.write_text(SMI)
    smi.chmod(0o755)
    plain.script("job.py", PROGRAM)
    hidden = ("CUDA_VISIBLE_DEVICES", PERCENTAGE, LIMIT, "TF_CONFIG")
    found = {name: value for name, value in os.environ.items() if name not in hidden}
    found["PATH"] = f"{plain.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    found["PYTHONPATH"] = f"{plain.folder / 'hidden'}{os.pathsep}{os.environ['PYTHONPATH']}"
    found["CUDA_MPS_PIPE_DIRECTORY"] = str(plain.folder / "mps")
    return found


def seen(plain: Plain, name: str) -> list[tuple[str | None, str | None]]:
    """The part of the multiprocessors and the memory of each job or task whose name begins so."""
    found = [json.loads(path.read_text()) for path in sorted(plain.folder.glob(f"environment-{name}-*.json"))]
    return [(each.get(PERCENTAGE), each.get(LIMIT)) for each in found]


def test_jobs_have_hard_caps(plain: Plain, environment: dict[str, str]) -> None:
    """Two jobs share what is free of the fuller GPU (23.1 %), each with a CUDA context; both may use any."""
    done = plain.cli("run", "-j", "2", "job.py", "job.py", env=environment)
    assert done.returncode == 0, done.stderr
    assert seen(plain, "job") == [("50", "GPU-a=4296M,GPU-b=4296M")] * 2


def test_the_share_that_is_asked_for_is_the_cap(plain: Plain, environment: dict[str, str]) -> None:
    done = plain.cli("run", "-j", "2", "--memory-fraction", "0.25", "job.py", "job.py", env=environment)
    assert done.returncode == 0, done.stderr
    assert seen(plain, "job") == [("50", "GPU-a=4600M,GPU-b=4600M")] * 2


def test_one_job_has_no_cap(plain: Plain, environment: dict[str, str]) -> None:
    assert plain.cli("run", "job.py", env=environment).returncode == 0
    assert seen(plain, "job") == [(None, None)]


@pytest.mark.slow
def test_workers_of_a_cluster_have_hard_caps(plain: Plain, environment: dict[str, str]) -> None:
    """Those who share a GPU are the workers: parameter servers see none."""
    with plain.start("launch", "--out", "run", "job.py", program=["-m", "tf1sessions"], env=environment) as process:
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 0, stderr
    assert seen(plain, "worker") == [("50", "GPU-a=4296M,GPU-b=4296M")] * 2
    (server,) = plain.folder.glob("environment-ps-*.json")
    assert json.loads(server.read_text())["CUDA_VISIBLE_DEVICES"] == "-1"
