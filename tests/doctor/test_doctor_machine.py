"""What a machine is, and what of it bites; machines are described, so that none of them has to be there."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support import PACKAGE, ROOT

from tf1sessions.doctor import machine
from tf1sessions.doctor.findings import FindingSource, Severity
from tf1sessions.doctor.machine import Facts, examine, facts
from tf1sessions.sessions.gpus import Gpu, Machine, MemoryHolder

VERSIONS = {
    "tf1sessions": "0.1.0",
    "tensorflow": "2.21.0",
    "tf-keras": "2.21.1",
    "numpy": "2.1.0",
    "keras": "3.12.0",
    "protobuf": "6.32.0",
}
REQUIRED = ("keras>=3.12.0", "numpy>=1.26.0", "protobuf<8.0.0,>=6.31.1")
CARD = Gpu(0, "A card", 16000.0, 15800.0)
FULL = Gpu(
    0, "A card", 16000.0, 2000.0, holders=(MemoryHolder(7, 1000.0, "x"), MemoryHolder(42, 13000.0, "python train.py"))
)

GOOD = Facts("3.11.7", "Linux 6", VERSIONS, REQUIRED, 8, 8, 64000.0, 50000.0, 8000.0, (1024, 4096))
WITH_GPU = dataclasses.replace(
    GOOD, machine=Machine((CARD,), 8, "NVML"), all_gpus=(CARD,), driver="550.54.15", cuda_libraries=True
)
NO_CARD = dataclasses.replace(WITH_GPU, machine=Machine((), 8, "NVML"))


def without(name: str) -> dict[str, str]:
    return {key: version for key, version in VERSIONS.items() if key != name}


# rule, what is changed of a good machine, words of the title, and changes that are near misses.
CASES: list[tuple[str, Facts, dict[str, Any], str, list[dict[str, Any]]]] = [
    (
        "unsupported-version",
        GOOD,
        {"versions": VERSIONS | {"tensorflow": "2.15.1", "tf-keras": "2.15.0"}},
        "TensorFlow 2.15.1",
        [{"versions": VERSIONS | {"tensorflow": "2.16.0rc1", "tf-keras": "2.16.0"}}],
    ),
    (
        "unsupported-version",
        GOOD,
        {"versions": VERSIONS | {"tensorflow": "2.22.0", "tf-keras": "2.22.0"}},
        "TensorFlow 2.22.0",
        [],
    ),
    ("unsupported-version", GOOD, {"versions": without("tensorflow")}, "not installed", []),
    ("unsupported-version", GOOD, {"python": "3.9.18"}, "Python 3.9.18", [{"python": "3.13.0"}, {"python": "3.10.4"}]),
    ("unsupported-version", GOOD, {"python": "3.14.0"}, "Python 3.14.0", []),
    (
        "two-tensorflows",
        GOOD,
        {"versions": VERSIONS | {"tensorflow-cpu": "2.20.0"}},
        "tensorflow 2.21.0 and tensorflow-cpu 2.20.0",
        [{"versions": without("tensorflow") | {"tensorflow-cpu": "2.21.0"}}],
    ),
    ("tf-keras-missing", GOOD, {"versions": without("tf-keras")}, "not installed", []),
    (
        "tf-keras-version",
        GOOD,
        {"versions": VERSIONS | {"tf-keras": "2.20.1"}},
        "tf_keras 2.20.1 with TensorFlow 2.21.0",
        [{"versions": VERSIONS | {"tf-keras": "2.21.9"}}],
    ),
    (
        "requirement-not-met",
        GOOD,
        {"versions": VERSIONS | {"protobuf": "5.29.1"}},
        "protobuf 5.29.1",
        [{"versions": VERSIONS | {"protobuf": "7.99.0"}}, {"versions": without("protobuf")}],
    ),
    ("requirement-not-met", GOOD, {"versions": VERSIONS | {"keras": "2.15.0"}}, "keras 2.15.0", []),
    (
        "dead-package",
        GOOD,
        {"versions": VERSIONS | {"tensorflow-addons": "0.23.0"}},
        "tensorflow-addons 0.23.0",
        [{"versions": VERSIONS | {"nvidia-ml-py": "12.0"}}],
    ),
    ("dead-package", GOOD, {"versions": VERSIONS | {"tensorflow-estimator": "2.15.0"}}, "tensorflow-estimator", []),
    ("little-memory", GOOD, {"free_mb": 900.0}, "enough for 0 of 1 process", [{"free_mb": 10000.0}, {"free_mb": None}]),
    ("little-memory", GOOD, {"free_mb": 5000.0}, "enough for 4 processes", []),
    ("small-shm", GOOD, {"shm_mb": 64.0}, "/dev/shm has 64 MiB", [{"shm_mb": 65.0}, {"shm_mb": None}]),
    ("few-open-files", GOOD, {"open_files": (256, 4096)}, "256 files", [{"open_files": (-1, -1)}]),
    (
        "gpus-hidden",
        NO_CARD,
        {"environment": {"CUDA_VISIBLE_DEVICES": ""}},
        "hides 1 GPU",
        [{"all_gpus": (), "environment": {"CUDA_VISIBLE_DEVICES": ""}}],
    ),
    ("gpus-hidden", NO_CARD, {"environment": {"CUDA_VISIBLE_DEVICES": "-1"}}, "'-1' hides", []),
    (
        "gpu-not-there",
        NO_CARD,
        {"environment": {"CUDA_VISIBLE_DEVICES": "3"}},
        "names '3', and there is 1 GPU",
        [{"machine": Machine((CARD,), 8, "NVML"), "environment": {"CUDA_VISIBLE_DEVICES": "0"}}],
    ),
    ("gpu-not-there", WITH_GPU, {"environment": {"CUDA_VISIBLE_DEVICES": "0,1"}}, "names '1'", []),
    ("gpu-without-cuda", WITH_GPU, {"cuda_libraries": False}, "cuDNN", [{"all_gpus": (), "machine": Machine()}]),
    (
        "gpu-without-cuda",
        WITH_GPU,
        {"versions": without("tensorflow") | {"tensorflow-cpu": "2.21.0"}},
        "tensorflow-cpu is installed",
        [],
    ),
    ("old-driver", WITH_GPU, {"driver": "470.82.01"}, "470.82.01", [{"driver": "525.60.13"}, {"driver": None}]),
    (
        "gpu-memory-held",
        WITH_GPU,
        {"machine": Machine((FULL,), 8, "NVML")},
        "14000 of 16000 MiB of GPU 0 are held by python train.py (42, 13000 MiB), x (7, 1000 MiB)",
        [],
    ),
    (
        "threads-variable",
        GOOD,
        {"environment": {"OMP_NUM_THREADS": "64"}},
        "OMP_NUM_THREADS=64",
        [
            {"environment": {"OMP_NUM_THREADS": "8"}},
            {"environment": {"OMP_NUM_THREADS": "many"}},
            {"environment": {"OMP_NUM_THREADS": "9\u00b2"}},
        ],
    ),
    (
        "legacy-keras-off",
        GOOD,
        {"environment": {"TF_USE_LEGACY_KERAS": "0"}},
        "TF_USE_LEGACY_KERAS=0",
        [{"environment": {"TF_USE_LEGACY_KERAS": "1"}}],
    ),
    (
        "onednn-on",
        GOOD,
        {"environment": {"TF_ENABLE_ONEDNN_OPTS": "1"}},
        "TF_ENABLE_ONEDNN_OPTS=1",
        [{"environment": {"TF_ENABLE_ONEDNN_OPTS": "0"}}],
    ),
    (
        "slow-protobuf",
        GOOD,
        {"environment": {"PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python"}},
        "=python",
        [{"environment": {"PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "upb"}}],
    ),
    (
        "launch-blocking",
        WITH_GPU,
        {"environment": {"CUDA_LAUNCH_BLOCKING": "1"}},
        "CUDA_LAUNCH_BLOCKING=1",
        [{"environment": {"CUDA_LAUNCH_BLOCKING": "0"}}],
    ),
    (
        "tf2-behavior-off",
        GOOD,
        {"environment": {"TF2_BEHAVIOR": "0"}},
        "TF2_BEHAVIOR=0",
        [{"environment": {"TF2_BEHAVIOR": "1"}}],
    ),
]


@pytest.mark.parametrize("good", [GOOD, WITH_GPU])
def test_of_a_good_machine_nothing_is_reported(good: Facts) -> None:
    assert examine(good) == []


@pytest.mark.parametrize(("rule", "base", "change", "title", "near"), CASES, ids=lambda value: str(value)[:30])
def test_what_bites_is_reported(
    rule: str, base: Facts, change: dict[str, Any], title: str, near: list[dict[str, Any]]
) -> None:
    (finding,) = examine(dataclasses.replace(base, **change))
    assert finding.rule == rule
    assert title in finding.title
    assert (finding.source, finding.place) == (FindingSource.MACHINE, None)
    assert finding.why and finding.fix
    for other in near:
        assert examine(dataclasses.replace(base, **other)) == [], other


def test_memory_is_for_as_many_processes_as_are_asked_for() -> None:
    seen = dataclasses.replace(GOOD, free_mb=12000.0)
    assert examine(seen, processes=4) == []
    (finding,) = examine(seen, processes=20)
    assert finding.severity is Severity.WARNING
    assert "enough for 10 of 20 processes" in finding.title


@pytest.mark.parametrize(
    ("version", "line", "met"),
    [
        ("2.1.0", "numpy<2.2.0,>=1.26.0", True),
        ("2.2.0", "numpy<2.2.0,>=1.26.0", False),
        ("1.25.9", "numpy (>=1.26.0)", False),
        ("3.0", "a==3.0.0", True),
        ("3.1", "a!=3.1", False),
        ("4.21.2", "protobuf!=4.21.0,!=4.21.1,<6.0.0dev,>=3.20.3", True),
        ("4.21.1", "protobuf!=4.21.0,!=4.21.1,<6.0.0dev,>=3.20.3", False),
        ("1.4.9", "gast~=1.4.2", True),
        ("1.5.0", "gast~=1.4.2", False),
        ("2.21.7", "a==2.21.*", True),
        ("2.20.0", "a==2.21.*", False),
        ("2.20.0", "a", True),
        ("2.21.0rc1", "a[x]>=2.21", True),
    ],
)
def test_requirements(version: str, line: str, met: bool) -> None:
    assert machine._meets(version, machine._requirement(line)[1]) is met


@pytest.mark.parametrize(
    ("marker", "applies"),
    [
        ("", True),
        (' python_version >= "3.9"', True),
        (" python_version > '3.9' and python_version < '4'", True),
        (' python_version < "3.9"', False),
        (' extra == "and-cuda"', False),
        (' platform_system != "Darwin"', False),
        (' python_version >= "3.9" and extra == "and-cuda"', False),
    ],
)
def test_requirements_of_this_python(marker: str, applies: bool) -> None:
    assert machine._applies(marker) is applies


# -- looking ----------------------------------------------------------------------------------------------------------


def look(root: Path, installed: Mapping[str, str] = VERSIONS, environ: Mapping[str, str] | None = None) -> Facts:
    return facts(environ=environ or {}, installed=installed.get, machine=Machine((CARD,), 4, "NVML"), root=root)


def test_what_is_seen_of_another_root(tmp_path: Path) -> None:
    (tmp_path / "proc/driver/nvidia").mkdir(parents=True)
    (tmp_path / "proc/meminfo").write_text("MemTotal:       2048000 kB\nMemAvailable:    1024000 kB\n")
    (tmp_path / "proc/driver/nvidia/version").write_text(
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023\nGCC version:  x\n"
    )
    environ = {"OMP_NUM_THREADS": "2", "HOME": "/home/user"}
    seen = look(tmp_path, VERSIONS | {"tensorflow-addons": "0.23.0"}, environ)
    assert (seen.memory_mb, seen.free_mb, seen.driver) == (2000.0, 1000.0, "535.104.05")
    assert seen.environment == {"OMP_NUM_THREADS": "2"}
    assert seen.versions == VERSIONS | {"tensorflow-addons": "0.23.0"}
    assert seen.tensorflow == "2.21.0"
    assert seen.shm_mb is None
    assert seen.all_gpus == (CARD,)
    rows = dict(seen.rows())
    assert rows["Memory"] == "1000 of 2000 MiB free"
    assert rows["GPU 0"] == "A card, 15800 of 16000 MiB free"
    assert rows["OMP_NUM_THREADS=2"] == machine.VARIABLES["OMP_NUM_THREADS"]
    assert json.loads(json.dumps(seen.to_json()))["machine"]["gpus"][0]["name"] == "A card"


def test_what_is_seen_here() -> None:
    seen = facts()
    assert seen.tensorflow is not None
    assert seen.cores >= 1
    assert seen.versions["tf1sessions"]
    assert any(line.startswith("numpy") for line in seen.required)
    names = {name for name, _ in seen.rows()}
    assert {"Python", "System", "Cores", "Open files", "numpy"} <= names
    assert all(finding.source is FindingSource.MACHINE for finding in examine(seen))


def test_gpus_that_a_variable_hides_are_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    smi = tmp_path / "nvidia-smi"
    smi.write_text("#!/bin/sh\ncase $1 in --query-gpu*) echo '0, A card, GPU-1, 16000, 15800';; esac\n")
    smi.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setitem(__import__("sys").modules, "pynvml", None)
    seen = facts(environ={"CUDA_VISIBLE_DEVICES": "-1"})
    assert seen.machine.gpus == ()
    assert [gpu.name for gpu in seen.all_gpus] == ["A card"]
    assert "gpus-hidden" in {finding.rule for finding in examine(seen)}


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({}, "nearly all of the 15800 MiB"),
        ({"TF_FORCE_GPU_ALLOW_GROWTH": "true"}, "memory as it is needed, up to the 15800 MiB"),
        ({"TF_FORCE_GPU_ALLOW_GROWTH": "false"}, "nearly all of the 15800 MiB"),
        ({"TF_GPU_ALLOCATOR": "cuda_malloc_async"}, "CUDA's pool"),
    ],
)
def test_what_a_session_on_a_gpu_gets(environ: dict[str, str], words: str) -> None:
    lines = dataclasses.replace(WITH_GPU, environment=environ).gpu_session()
    assert words in lines[0]
    assert lines[0].startswith("GPU:0 A card: ")
    assert GOOD.gpu_session() == []


def test_libraries_of_cuda_are_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctypes.util.find_library", lambda name: None)
    monkeypatch.setattr("sys.prefix", str(tmp_path / "prefix"))
    assert not look(tmp_path).cuda_libraries
    assert look(tmp_path, VERSIONS | {"nvidia-cudnn-cu12": "9.1"}).cuda_libraries
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/libcudnn.so.9").touch()
    assert look(tmp_path, environ={"LD_LIBRARY_PATH": f"/nowhere:{tmp_path / 'lib'}"}).cuda_libraries


def test_the_versions_are_those_of_the_package() -> None:
    """machine.py must not import TensorFlow, and runtime.py does; so they are written twice."""
    text = (PACKAGE / "runtime.py").read_text("utf-8")
    for name in ("OLDEST_TENSORFLOW", "NEWEST_TENSORFLOW"):
        found = re.search(rf"^{name} = \((\d+), (\d+)\)", text, re.MULTILINE)
        assert found is not None
        assert getattr(machine, name) == (int(found[1]), int(found[2]))
    settings = (ROOT / "setup.cfg").read_text("utf-8")
    found = re.search(r"python_requires = >=3\.(\d+), <3\.(\d+)", settings)
    assert found is not None
    assert ((3, int(found[1])), (3, int(found[2]) - 1)) == machine.PYTHONS
