"""What the machine can carry, read from made-up /proc and /sys trees."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tf1sessions.scripts import machine
from tf1sessions.scripts.machine import available_memory, default_parallel, usable_cores
from tf1sessions.sessions import gpus

GIB = 2**30


def tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.fixture(autouse=True)
def sixteen_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(16)), raising=False)


def meminfo(available: int) -> str:
    return f"MemTotal: 99999999 kB\nMemFree: 1 kB\nMemAvailable: {available // 1024} kB\n"


def test_machine_without_limits(tmp_path: Path) -> None:
    root = tree(tmp_path, {"proc/meminfo": meminfo(12 * GIB), "proc/self/cgroup": "0::/\n"})
    assert (usable_cores(root), available_memory(root)) == (16, 12 * GIB)
    assert default_parallel(100, root) == 10  # 12 GiB at 1.2 GB each
    assert default_parallel(3, root) == 3


def test_nothing_can_be_read(tmp_path: Path) -> None:
    assert (usable_cores(tmp_path), available_memory(tmp_path)) == (16, None)
    assert default_parallel(100, tmp_path) == 16


def test_little_memory_still_runs_one_job(tmp_path: Path) -> None:
    root = tree(tmp_path, {"proc/meminfo": meminfo(GIB // 2)})
    assert default_parallel(5, root) == 1


def test_container_of_version_two(tmp_path: Path) -> None:
    root = tree(
        tmp_path,
        {
            "proc/meminfo": meminfo(64 * GIB),
            "proc/self/cgroup": "0::/slice/unit\n",
            "sys/fs/cgroup/slice/cpu.max": "250000 100000\n",
            "sys/fs/cgroup/slice/unit/cpu.max": "max 100000\n",
            "sys/fs/cgroup/slice/unit/memory.max": f"{8 * GIB}\n",
            "sys/fs/cgroup/slice/unit/memory.current": f"{5 * GIB}\n",
            "sys/fs/cgroup/slice/unit/memory.stat": f"anon 7\ninactive_file {GIB}\n",
            "sys/fs/cgroup/slice/memory.max": "max\n",
        },
    )
    assert usable_cores(root) == 3
    assert available_memory(root) == 4 * GIB


def test_container_of_version_one_that_shows_the_hosts_path(tmp_path: Path) -> None:
    root = tree(
        tmp_path,
        {
            "proc/meminfo": meminfo(64 * GIB),
            "proc/self/cgroup": "4:memory:/docker/abc\n2:cpu,cpuacct:/docker/abc\n1:name=systemd:/\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{2 * GIB}\n",
            "sys/fs/cgroup/memory/memory.usage_in_bytes": f"{3 * GIB}\n",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "400000\n",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
        },
    )
    assert usable_cores(root) == 4
    assert available_memory(root) == 0


def test_quota_of_version_one_that_is_not_set(tmp_path: Path) -> None:
    root = tree(
        tmp_path,
        {
            "proc/self/cgroup": "2:cpu:/\n",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
        },
    )
    assert usable_cores(root) == 16


def test_this_machine() -> None:
    assert 1 <= usable_cores() <= 16
    memory = available_memory()
    assert memory is None or memory > 0
    assert machine.default_parallel(1) == 1


@pytest.mark.parametrize(
    ("free", "jobs", "share"),
    [
        ((), 3, 1 / 3),
        ((16000,), 2, 0.462),  # without a CUDA context of 600 MiB each
        ((16000, 9000), 2, 0.243),  # any job may use any GPU
        ((16000, 900), 2, 0.5),  # nothing is left for two; TensorFlow says
    ],
)
def test_share_of_a_gpu(monkeypatch: pytest.MonkeyPatch, free: tuple[int, ...], jobs: int, share: float) -> None:
    cards = tuple(gpus.Gpu(number, "T4", 16000, size) for number, size in enumerate(free))
    monkeypatch.setenv("TF_FORCE_GPU_ALLOW_GROWTH", "false")
    assert machine.default_share(jobs, gpus.Machine(cards, 4, "NVML")) == pytest.approx(share)


def test_share_of_the_multiprocessors_under_mps() -> None:
    cards = (gpus.Gpu(0, "T4", 16000, 16000, uuid="GPU-a"), gpus.Gpu(1, "P4", 8000, 8000))
    name = "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"
    shared = gpus.Machine(cards, 4, "NVML", mps=True)
    assert machine.mps_share(200, shared, None, None) == {name: "1"}
    assert machine.mps_share(3, gpus.Machine(cards, 4, "NVML"), 0.25, None) == {}
    assert machine.mps_share(3, gpus.Machine((), 4, "NVML", mps=True), 0.25, None) == {}
    memory = "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"
    assert machine.mps_share(3, shared, 0.25, None) == {name: "33", memory: "GPU-a=4600M,1=2600M"}
    assert machine.mps_share(3, shared, None, 3000) == {name: "33", memory: "GPU-a=3600M,1=3600M"}
