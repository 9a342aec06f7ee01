"""What the machine has: NVML and nvidia-smi as data, CUDA_VISIBLE_DEVICES, descriptions in JSON. No GPU is needed.

The fake of NVML has the functions and errors of nvidia-ml-py 13.615 as its ``pynvml.py`` defines them (sizes in bytes,
``usedGpuMemory`` None where the driver does not tell). The lines of nvidia-smi are what
``--query-gpu=... --format=csv,noheader,nounits`` prints, by its own manual page and ``--help-query-gpu``, with
``[N/A]`` and ``[Not Supported]`` for what it does not tell.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tf1sessions.errors import MemoryPlanError
from tf1sessions.sessions import gpus
from tf1sessions.sessions.gpus import Gpu, Machine, MemoryHolder, look

MIB = 2**20
UUIDS = ("GPU-1a2b0000-aaaa", "GPU-1a2c0000-bbbb", "GPU-77770000-cccc")


class NVMLError(Exception):
    """As pynvml's."""


def fake_nvml(cards: Sequence[tuple[Any, int, int, list[tuple[int, int | None]]]], **broken: str) -> Any:
    """A module ``pynvml`` with cards of (name, total MiB, free MiB, processes); ``broken`` is function -> its error."""
    module: Any = types.ModuleType("pynvml")
    module.NVMLError = NVMLError
    module.opened = 0

    def init() -> None:
        module.opened += 1

    def shutdown() -> None:
        module.opened -= 1

    answers: dict[str, Callable[..., Any]] = {
        "nvmlInit": init,
        "nvmlShutdown": shutdown,
        "nvmlDeviceGetCount": lambda: len(cards),
        "nvmlDeviceGetHandleByIndex": lambda number: number,
        "nvmlDeviceGetName": lambda card: cards[card][0],
        "nvmlDeviceGetUUID": lambda card: UUIDS[card],
        "nvmlDeviceGetMemoryInfo": lambda card: types.SimpleNamespace(
            total=cards[card][1] * MIB, free=cards[card][2] * MIB, used=(cards[card][1] - cards[card][2]) * MIB
        ),
        "nvmlDeviceGetMigMode": lambda card: [int(str(cards[card][0]).endswith("MIG")), 0],
        "nvmlDeviceGetComputeRunningProcesses": lambda card: [
            types.SimpleNamespace(pid=pid, usedGpuMemory=None if used is None else used * MIB)
            for pid, used in cards[card][3]
        ],
    }
    for name, answer in answers.items():
        if name in broken:
            text = broken[name]

            def fail(*args: Any, text: str = text) -> Any:
                raise NVMLError(text)

            answer = fail
        setattr(module, name, answer)
    return module


@pytest.fixture
def nvml(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    def install(*args: Any, **kwargs: Any) -> Any:
        module = fake_nvml(*args, **kwargs)
        monkeypatch.setitem(sys.modules, "pynvml", module)
        return module

    return install


@pytest.fixture
def smi(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[list[str]]]:
    """Installs answers of nvidia-smi, by the beginning of the query, and hides NVML; returns the commands."""

    def install(answers: dict[str, str | int | Exception]) -> list[list[str]]:
        asked = []

        def run(command: list[str], **options: Any) -> Any:
            assert options["timeout"] == gpus.SMI_SECS and command[0] == "nvidia-smi"
            asked.append(command)
            answer = next(value for start, value in answers.items() if command[1].startswith(start))
            if isinstance(answer, Exception):
                raise answer
            if isinstance(answer, int):
                return types.SimpleNamespace(returncode=answer, stdout="NVIDIA-SMI has failed\nmore\n", stderr="")
            return types.SimpleNamespace(returncode=0, stdout=answer, stderr="")

        monkeypatch.setattr(subprocess, "run", run)
        monkeypatch.setitem(sys.modules, "pynvml", None)  # an import of it fails
        return asked

    return install


TWO = [("NVIDIA A100", 40960, 40000, [(os.getpid(), 500), (4_000_000, None)]), ("NVIDIA A100", 40960, 39000, [])]


def test_nvml_gives_cards_and_holders(nvml: Callable[..., Any]) -> None:
    module = nvml(TWO)
    machine = look({})
    assert (machine.source, machine.is_here, machine.notes) == ("NVML", True, ())
    assert [(gpu.index, gpu.number, gpu.uuid) for gpu in machine.gpus] == [(0, 0, UUIDS[0]), (1, 1, UUIDS[1])]
    first = machine.gpus[0]
    assert (first.name, first.total_mb, first.free_mb) == ("NVIDIA A100", 40960.0, 40000.0)
    assert first.holders[0].pid == os.getpid() and first.holders[0].used_mb == 500.0
    assert "py" in first.holders[0].name  # its command, from /proc
    assert first.holders[1] == MemoryHolder(4_000_000, None, "")
    assert module.opened == 0


def test_old_nvml_gives_bytes(nvml: Callable[..., Any]) -> None:
    nvml([(b"Tesla K80", 11441, 11441, [])])
    assert look({}).gpus[0].name == "Tesla K80"


def test_what_nvml_may_lack(nvml: Callable[..., Any]) -> None:
    for broken in ("nvmlDeviceGetMigMode", "nvmlShutdown"):
        nvml(TWO, **{broken: "Not Supported"})
        assert [gpu.free_mb for gpu in look({}).gpus] == [40000.0, 39000.0], broken


def test_divided_gpus_are_left_out(nvml: Callable[..., Any]) -> None:
    nvml([("A100 with MIG", 40960, 40000, []), ("A100", 40960, 39000, [])])
    machine = look({"CUDA_DEVICE_ORDER": "PCI_BUS_ID"})
    assert [(gpu.name, gpu.index, gpu.number) for gpu in machine.gpus] == [("A100", 0, 1)]
    assert machine.notes == ("GPU 0 is divided by MIG, and left out: describe its instances in JSON",)


def test_processes_may_be_secret(nvml: Callable[..., Any]) -> None:
    module = nvml(TWO, nvmlDeviceGetComputeRunningProcesses="Insufficient Permissions")
    assert [gpu.holders for gpu in look({}).gpus] == [(), ()]
    assert module.opened == 0


GPU_LINES = f"""0, NVIDIA A100-SXM4-40GB, {UUIDS[0]}, 40960, 40300
1, Tesla T4, {UUIDS[1]}, 16384, 16000
"""
APP_LINES = f"{UUIDS[1]}, 4000001, 350\n{UUIDS[1]}, 4000002, [N/A]\n"


def test_nvidia_smi_where_nvml_is_missing(smi: Callable[..., Any]) -> None:
    asked = smi({"--query-gpu": GPU_LINES, "--query-compute-apps": APP_LINES})
    machine = look({"CUDA_DEVICE_ORDER": "PCI_BUS_ID"})
    assert (machine.source, machine.notes) == ("nvidia-smi", ())
    assert machine.gpus == (
        Gpu(0, "NVIDIA A100-SXM4-40GB", 40960.0, 40300.0, 0, UUIDS[0]),
        Gpu(1, "Tesla T4", 16384.0, 16000.0, 1, UUIDS[1], (MemoryHolder(4000001, 350.0), MemoryHolder(4000002, None))),
    )
    assert all("--format=csv,noheader,nounits" in command for command in asked)


def test_nvidia_smi_without_its_list_of_processes(smi: Callable[..., Any]) -> None:
    smi({"--query-gpu": GPU_LINES, "--query-compute-apps": 6})
    assert [gpu.holders for gpu in look({}).gpus] == [(), ()]


def test_nvml_that_fails_is_followed_by_nvidia_smi(
    nvml: Callable[..., Any], smi: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    smi({"--query-gpu": GPU_LINES, "--query-compute-apps": APP_LINES})
    for broken in ("nvmlInit", "nvmlDeviceGetCount", "nvmlDeviceGetMemoryInfo"):
        module = nvml(TWO, **{broken: "Unknown Error"})
        assert look({}).source == "nvidia-smi", broken
        assert module.opened == 0, broken


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (FileNotFoundError(2, "No such file"), "nvidia-smi is not installed"),
        (subprocess.TimeoutExpired("nvidia-smi", 30), "timed out after 30 seconds"),
        (PermissionError(13, "Permission denied"), "Permission denied"),
        (9, "nvidia-smi: NVIDIA-SMI has failed"),
        (f"0, A100, {UUIDS[0]}, [Not Supported], [Not Supported]\n", "does not give the memory of A100"),
    ],
)
def test_no_gpu_has_a_reason(smi: Callable[..., Any], answer: Any, reason: str) -> None:
    smi({"--query-gpu": answer, "--query-compute-apps": ""})
    machine = look({})
    assert (machine.gpus, machine.source, machine.mps) == ((), "none", False)
    (note,) = machine.notes
    assert note.startswith("no GPU: nvidia-ml-py is not installed") and reason in note


THREE = [("A", 100, 90, []), ("A", 200, 190, []), ("A", 300, 290, [])]


@pytest.mark.parametrize(
    ("visible", "numbers"),
    [
        (None, [0, 1, 2]),
        ("0,1,2", [0, 1, 2]),
        ("2, 0", [2, 0]),
        ("", []),
        ("-1", []),
        ("1,-1,0", [1]),  # CUDA ends its list at the first entry that is no GPU
        ("1,7,0", [1]),
        ("1,1,0", [1]),
        ("GPU-7777", [2]),
        ("GPU-1a2c,0", [1, 0]),
        ("GPU-1a2", []),  # two begin so
        ("MIG-1a2b", []),
    ],
)
def test_visible_devices(nvml: Callable[..., Any], visible: str | None, numbers: list[int]) -> None:
    nvml(THREE)
    machine = look({} if visible is None else {"CUDA_VISIBLE_DEVICES": visible})
    assert [gpu.number for gpu in machine.gpus] == numbers
    assert [gpu.index for gpu in machine.gpus] == list(range(len(numbers)))
    hidden = f"CUDA_VISIBLE_DEVICES={visible!r} shows {len(numbers)} of 3 GPUs"
    assert (hidden in machine.notes) == (len(numbers) < 3)
    assert any("parts of a GPU are not planned" in note for note in machine.notes) == (visible == "MIG-1a2b")


def test_different_gpus_have_no_sure_order(nvml: Callable[..., Any]) -> None:
    nvml([("A100", 100, 90, []), ("T4", 200, 190, [])])
    assert any("CUDA_DEVICE_ORDER" in note for note in look({}).notes)
    assert look({"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}).notes == ()
    nvml(THREE)
    assert look({}).notes == ()


def test_mps_is_seen_by_its_pipe(nvml: Callable[..., Any], tmp_path: Path) -> None:
    nvml(TWO)
    environ = {"CUDA_MPS_PIPE_DIRECTORY": str(tmp_path)}
    assert not look(environ).mps
    (tmp_path / "control").touch()
    assert look(environ).mps
    assert not look({**environ, "CUDA_VISIBLE_DEVICES": ""}).mps


# -- descriptions -----------------------------------------------------------------------------------------------------


def test_description(tmp_path: Path) -> None:
    path = tmp_path / "machine.json"
    path.write_text(
        '{"cores": 16, "mps": true, "gpus": [{"total_mb": 100, "count": 2}, {"total_mb": 50, "free_mb": 9}]}'
    )
    machine = Machine.read(path)
    assert (machine.cores, machine.mps, machine.source, machine.is_here) == (16, True, str(path), False)
    assert [(gpu.index, gpu.total_mb, gpu.free_mb) for gpu in machine.gpus] == [
        (0, 100, 100),
        (1, 100, 100),
        (2, 50, 9),
    ]


def test_what_another_machine_printed_is_a_description(nvml: Callable[..., Any], tmp_path: Path) -> None:
    nvml(TWO)
    here = look({})
    for given in (here.to_dict(), {"machine": here.to_dict(), "shares": []}):
        path = tmp_path / "machine.json"
        path.write_text(json.dumps(given))
        there = Machine.read(path)
        assert [(gpu.uuid, gpu.free_mb, gpu.name) for gpu in there.gpus] == [
            (gpu.uuid, gpu.free_mb, gpu.name) for gpu in here.gpus
        ]
        assert not there.is_here and there.cores == here.cores


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is no JSON"),
        ("[]", r"a machine is \[\]"),
        ('{"gpu": []}', "'gpu'"),
        ('{"gpus": 2}', "gpus is 2"),
        ('{"gpus": [4]}', "GPU 0 is 4"),
        ('{"gpus": [{}]}', "total_mb of GPU 0 is None"),
        ('{"gpus": [{"total_mb": 0}]}', "total_mb of GPU 0 is 0"),
        ('{"gpus": [{"total_mb": "16 GB"}]}', "'16 GB'"),
        ('{"gpus": [{"total_mb": 1, "free_mb": 2}]}', "It has 1 MiB in all"),
        ('{"gpus": [{"total_mb": 1, "count": 0}]}', "count of GPU 0 is 0"),
        (
            '{"gpus": [{"total_mb": 1, "count": 1000}, {"total_mb": 1, "count": 1000000000}]}',
            "count of GPU 1000 is 1000",
        ),
        ('{"gpus": [{"total_mb": 1, "size": 0}]}', "'size'"),
        ('{"cores": 0}', "cores is 0"),
        ('{"cores": true}', "cores is True"),
    ],
)
def test_wrong_descriptions_name_what_is_wrong(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "machine.json"
    path.write_text(text)
    with pytest.raises(MemoryPlanError, match=said) as caught:
        Machine.read(path)
    assert str(path) in str(caught.value)


def test_missing_description(tmp_path: Path) -> None:
    with pytest.raises(MemoryPlanError, match="No such file or directory"):
        Machine.read(tmp_path / "none.json")
