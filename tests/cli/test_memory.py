"""``tf1sessions memory``: its tables, its JSON, what it shows while it watches, how it fails. No GPU is needed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tf1sessions.cli import memory as command
from tf1sessions.cli.main import cli
from tf1sessions.sessions import gpus
from tf1sessions.sessions.gpus import Gpu, Machine, MemoryHolder

A100 = Gpu(
    0,
    "NVIDIA A100",
    40960.0,
    40300.0,
    0,
    "GPU-1",
    (MemoryHolder(77, 500.0, "python [train].py"), MemoryHolder(78, None)),
)
MACHINE = Machine((A100,), 32, "NVML")


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    for name in ("TF_FORCE_GPU_ALLOW_GROWTH", "TF_GPU_ALLOCATOR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Says what this machine has, look after look; then it stays so."""

    def install(*machines: Machine) -> None:
        left = list(machines)
        monkeypatch.setattr(gpus, "look", lambda: left.pop(0) if len(left) > 1 else left[0])

    return install


def call(*args: str) -> Result:
    return CliRunner().invoke(cli, ["memory", *args], prog_name="tf1sessions")


def cells(text: str) -> list[list[str]]:
    """The rows of all tables."""
    return [[cell.strip() for cell in line.strip("│┃\n").split("│")] for line in text.splitlines() if line[:1] == "│"]


def test_help_names_each_option() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tf1sessions", "memory", "--help"], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    for option in (
        "--workers", "--gpus", "--fraction", "--limit-mb", "--growth", "--reserve", "--strategy", "--lanes",
        "--describe", "--json", "--watch", "--every",
    ):  # fmt: skip
        assert f" {option} " in done.stdout or f" {option}\n" in done.stdout, option
    assert "tf1sessions memory -n 4" in done.stdout


def test_plan_as_tables(here: Callable[..., None]) -> None:
    here(MACHINE)
    done = call("-n", "2", "--fraction", "0.25", "--growth")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "GPUs (by NVML)" in done.stdout and "2 workers on 32 cores" in done.stdout
    assert cells(done.stdout) == [
        ["0", "NVIDIA A100", "40960", "40300", "21680"],
        ["0", "0", "10240", "0.250", "yes", "16"],
        ["1", "0", "10240", "0.250", "yes", "16"],
    ]
    assert "lanes" not in done.stdout and "MPS" not in done.stdout  # columns that nothing needs
    assert "\x1b" not in done.stdout


def test_lanes_and_mps_have_columns(here: Callable[..., None], tmp_path: Path) -> None:
    path = tmp_path / "machine.json"
    path.write_text('{"cores": 1, "mps": true, "gpus": [{"total_mb": 20000, "name": "T4"}]}')
    done = call("--limit-mb", "8000", "--lanes", "2", "--describe", str(path))
    assert "MPS runs" in done.stdout and "1 worker on 1 core\n" in done.stdout
    assert cells(done.stdout)[1] == ["0", "0", "8000", "0.400", "2 x 4000", "all", "100 %"]
    assert "Note: MPS runs: a worker's part of a GPU is a hard cap" in done.stdout


def test_growth_without_a_limit(here: Callable[..., None]) -> None:
    here(MACHINE)
    done = call("--growth")
    assert cells(done.stdout)[1] == ["0", "0", "no limit", "yes", "all"]
    assert "Note: growth without fraction or limit_mb has no upper end" in done.stdout


def test_machine_without_a_gpu(here: Callable[..., None]) -> None:
    here(Machine((), 4, "none", notes=("no GPU: NVML: not found",)))
    done = call("-n", "4", "--fraction", "0.9")
    assert done.exit_code == 0
    assert "GPUs (by" not in done.stdout
    assert cells(done.stdout) == [[str(number), "CPU", "1"] for number in range(4)]
    assert "Note: no GPU: NVML: not found." in done.stdout
    assert "Note: there is no GPU to share: the memory options have no effect." in done.stdout


def test_json_can_be_planned_with_elsewhere(here: Callable[..., None], tmp_path: Path) -> None:
    here(MACHINE)
    done = call("-n", "3", "--json")
    printed = json.loads(done.stdout)
    assert [share["gpu"] for share in printed["shares"]] == [0, 0, 0]
    assert printed["machine"]["gpus"][0]["holders"][0] == {"pid": 77, "used_mb": 500.0, "name": "python [train].py"}
    (tmp_path / "there.json").write_text(done.stdout)
    here(Machine())
    again = json.loads(call("-n", "3", "--json", "--describe", str(tmp_path / "there.json")).stdout)
    assert again["shares"] == printed["shares"]


def test_which_gpus(here: Callable[..., None]) -> None:
    here(Machine(tuple(Gpu(number, "T4", 16000, 16000) for number in range(3)), 4, "NVML"))
    assert [row[1] for row in cells(call("-n", "2", "--gpus", "2,1").stdout)[3:]] == ["2", "1"]
    assert [row[1] for row in cells(call("-n", "2", "--gpus", "none").stdout)[3:]] == ["CPU", "CPU"]
    packed = call("-n", "3", "--strategy", "pack", "--fraction", "0.4", "--reserve", "100")
    assert [row[1] for row in cells(packed.stdout)[3:]] == ["0", "0", "1"]


@pytest.mark.parametrize(
    ("args", "parts"),
    [
        (["-n", "0"], ["'--workers': 0", "x>=1"]),
        (["-n", "-1"], ["'--workers': -1", "x>=1"]),
        (["-n", "x"], ["'--workers': 'x'", "integer"]),
        (["-n", "9" * 30], ["workers is 999999", "More than 100,000"]),
        (["--lanes", "9" * 30], ["lanes is 999999", "More than 100,000"]),
        (["--limit-mb", "1e300"], ["'--limit-mb': '1e300' is more than 1,000,000,000"]),
        (["--every", "1e300"], ["'--every': '1e300' is more than 1,000,000,000"]),
        (["-n", "9", "--fraction", "0.5"], ["only 1 of 9 workers fit", "(from the options", "Up to fraction=0.09"]),
        (["-n", "100000"], ["for 100000 workers", "(from the options", "Plan fewer workers"]),
        (["--gpus", "a"], ["'--gpus': 'a'", "0,1"]),
        (["--gpus", "7"], ["gpus names 7, and there is GPU 0", "(from the options", "as CUDA counts"]),
        (["--gpus", "0,0"], ["gpus is (0, 0)", "(from the options", "different GPU numbers"]),
        (["--gpus", ""], ["'--gpus': ''", "0,1"]),
        (["--fraction", "0"], ["'--fraction': 0", "x>0"]),
        (["--fraction", "2"], ["fraction is 2", "(from the options", "at most 1"]),
        (["--fraction", "nan"], ["'--fraction': 'nan'", "finite number"]),
        (["--limit-mb", "0"], ["'--limit-mb': 0", "x>0"]),
        (["--limit-mb", "inf"], ["'--limit-mb': 'inf'", "finite number"]),
        (["--limit-mb", "50000"], ["0: 50000 of 40300 free", "(from the options", "Up to fraction=0.96 fits 1"]),
        (["--fraction", "0.1", "--limit-mb", "9"], ["fraction is 0.1 and limit_mb is 9", "Give one of the two"]),
        (["--lanes", "0"], ["'--lanes': 0", "x>=1"]),
        (["--lanes", "9999"], ["9999 lanes in", "(from the options", "Use fewer lanes"]),
        (["--lanes", "2", "--growth"], ["growth is True and lanes is 2", "leave growth out"]),
        (["--reserve", "-1"], ["'--reserve': -1", "x>=0"]),
        (
            ["--reserve", "99999"],
            ["99999 MiB in reserve", "(from the options", "Reserve less, or end what holds memory"],
        ),
        (["--strategy", "best"], ["--strategy", "best"]),
        (["--watch", "--every", "0"], ["'--every': 0", "x>=0.1"]),
        (["--watch", "--every", "-1"], ["'--every': -1", "x>=0.1"]),
        (["--watch", "--every", "nan"], ["'--every': 'nan'", "finite number"]),
        (["--watch", "--describe", "x.json"], ["--watch looks at this machine"]),
        (["--wacht"], ["--wacht", "--watch"]),
    ],
)
def test_wrong_calls_name_the_value(here: Callable[..., None], args: list[str], parts: Sequence[str]) -> None:
    here(MACHINE)
    done = call(*args)
    assert (done.exit_code, done.stdout, type(done.exception)) == (2, "", SystemExit)
    for part in parts:
        assert part in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (None, ["cannot be read: No such file or directory"]),
        ("", ["cannot be read: it is no JSON"]),
        ("{bad", ["cannot be read: it is no JSON", "line 1 column 2"]),
        ("\udcff", ["cannot be read: it is no JSON", "decode"]),
        ("[" * 100_000, ["cannot be read: it is no JSON: maximum recursion depth exceeded"]),
        ("[1, 2]", ["a machine is [1, 2]", "an object with the keys cores, gpus"]),
        ('{"cards": 3}', ["a machine has the key 'cards'", "It may have cores, gpus"]),
        ('{"gpus": 7}', ["gpus is 7", "a list of GPUs"]),
        ('{"gpus": [5]}', ["GPU 0 is 5", "an object with the keys"]),
        ('{"gpus": [{}]}', ["total_mb of GPU 0 is None", "a number of MiB"]),
        ('{"gpus": [{"total_mb": -5}]}', ["total_mb of GPU 0 is -5", "a number of MiB"]),
        ('{"gpus": [{"total_mb": 0}]}', ["total_mb of GPU 0 is 0", "It must be more"]),
        ('{"gpus": [{"total_mb": NaN}]}', ["total_mb of GPU 0 is nan", "a number of MiB"]),
        ('{"gpus": [{"total_mb": "16 GB"}]}', ["total_mb of GPU 0 is '16 GB'", "a number of MiB"]),
        ('{"gpus": [{"total_mb": 9, "free_mb": -1}]}', ["free_mb of GPU 0 is -1", "a number of MiB"]),
        ('{"gpus": [{"total_mb": 9, "free_mb": 10}]}', ["free_mb of GPU 0 is 10", "It has 9 MiB in all"]),
        ('{"gpus": [{"total_mb": 9, "count": 0}]}', ["count of GPU 0 is 0", "1 or more"]),
        ('{"cores": 0}', ["cores is 0", "1 or more"]),
        ('{"mps": "no"}', ["mps is 'no'", "true or false"]),
    ],
)
def test_wrong_descriptions_name_file_and_value(tmp_path: Path, text: str | None, parts: Sequence[str]) -> None:
    path = tmp_path / "there.json"
    if text is not None:
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
    done = call("--describe", str(path))
    assert (done.exit_code, done.stdout, type(done.exception)) == (2, "", SystemExit)
    for part in [*parts, f"(from {path})"]:
        assert part in done.stderr


def test_a_folder_is_no_description(tmp_path: Path) -> None:
    done = call("--describe", str(tmp_path))
    assert (done.exit_code, done.stdout, type(done.exception)) == (2, "", SystemExit)
    assert f"{tmp_path} cannot be read: Is a directory" in done.stderr and "Give a description" in done.stderr


# -- watching ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], list[float]]:
    """Presses Ctrl-C in the pause after this many looks; the list gets each pause."""

    def install(number: int) -> list[float]:
        pauses: list[float] = []

        def sleep(seconds: float) -> None:
            pauses.append(seconds)
            if len(pauses) == number:
                raise KeyboardInterrupt

        monkeypatch.setattr(command.time, "sleep", sleep)
        return pauses

    return install


def test_watch_shows_who_holds_what(here: Callable[..., None], looks: Callable[[int], list[float]]) -> None:
    pauses = looks(2)
    greedy = Gpu(0, "NVIDIA A100", 40960.0, 20000.0, 0, "GPU-1", (MemoryHolder(77, 12000.0, "python [train].py"),))
    here(MACHINE, MACHINE, Machine((greedy,), 32, "NVML"))
    done = call("-n", "2", "--fraction", "0.25", "--watch", "--every", "5")
    assert (done.exit_code, done.stderr, pauses) == (0, "", [5.0, 5.0])
    assert cells(done.stdout)[3:] == [
        ["0", "77", "500", "python [train].py", ""],
        ["0", "78", "unknown", "", ""],
        ["0", "all", "660 of 40960", "", ""],
        ["0", "77", "12000", "python [train].py", "more than a share"],
        ["0", "all", "20960 of 40960", "", ""],
    ]


def test_watch_as_json_is_a_line_for_each_look(here: Callable[..., None], looks: Callable[[int], list[float]]) -> None:
    looks(3)
    here(MACHINE)
    done = call("--watch", "--json")
    assert done.exit_code == 0
    seen: list[Any] = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(seen) == 3 and all(line["gpus"][0]["holders"][0]["pid"] == 77 for line in seen)


def test_watch_on_a_terminal_is_drawn_again(
    here: Callable[..., None], looks: Callable[[int], list[float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    import rich.live

    drawn: list[Any] = []

    class Live:
        def __init__(self, table: Any, **options: Any) -> None:
            drawn.append(table)

        def __enter__(self) -> Any:
            return self

        def __exit__(self, *error: Any) -> None:
            pass

        def update(self, table: Any, refresh: bool) -> None:
            drawn.append(table)

    monkeypatch.setattr(rich.live, "Live", Live)
    monkeypatch.setattr(command, "_on_terminal", lambda: True)
    looks(3)
    here(MACHINE)
    assert call("--watch").exit_code == 0
    assert [table.renderables[1].row_count for table in drawn] == [3, 3, 3]


def test_nothing_to_watch(here: Callable[..., None]) -> None:
    here(Machine((), 4, "none", notes=("no GPU: NVML: not found",)))
    for args in (["--watch"], ["--watch", "--json"]):
        done = call(*args)
        assert (done.exit_code, done.stdout) == (2, "")
        assert "there is no GPU to watch; no GPU: NVML: not found (from --watch). Leave it out" in done.stderr
