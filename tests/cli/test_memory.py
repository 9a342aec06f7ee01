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
from tf1sessions.sessions.gpus import Gpu, Holder, Machine

A100 = Gpu(0, "NVIDIA A100", 40960.0, 40300.0, 0, "GPU-1", (Holder(77, 500.0, "python [train].py"), Holder(78, None)))
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
        ["0", "NVIDIA A100", "40960", "40300", "21480"],
        ["0", "0", "10240", "0.250", "yes", "16"],
        ["1", "0", "10240", "0.250", "yes", "16"],
    ]
    assert "lanes" not in done.stdout and "MPS" not in done.stdout  # columns that nobody needs
    assert "\x1b" not in done.stdout


def test_lanes_and_mps_have_columns(here: Callable[..., None], tmp_path: Path) -> None:
    path = tmp_path / "machine.json"
    path.write_text('{"cores": 1, "mps": true, "gpus": [{"total_mb": 20000, "name": "T4"}]}')
    done = call("--limit-mb", "8000", "--lanes", "2", "--describe", str(path))
    assert "MPS runs" in done.stdout and "1 worker on 1 core\n" in done.stdout
    assert cells(done.stdout)[1] == ["0", "0", "8000", "0.400", "2 x 4000", "all", "100 %"]
    assert "Note: MPS runs: each worker gets its part" in done.stdout


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
        (["-n", "0"], ["workers is 0"]),
        (["-n", "9", "--fraction", "0.5"], ["only 1 of 9 workers fit", "Up to fraction=0.09 fits 9"]),
        (["--gpus", "a"], ["--gpus", "'a'", "0,1"]),
        (["--gpus", "4"], ["gpus names 4", "GPUs 0"]),
        (["--fraction", "2"], ["fraction is 2"]),
        (["--describe", "no.json"], ["no.json", "No such file"]),
        (["--strategy", "best"], ["--strategy", "best"]),
        (["--every", "0"], ["--every"]),
        (["--watch", "--describe", "x.json"], ["--watch looks at this machine"]),
    ],
)
def test_wrong_calls_name_the_value(here: Callable[..., None], args: list[str], parts: Sequence[str]) -> None:
    here(MACHINE)
    done = call(*args)
    assert (done.exit_code, done.stdout) == (2, "")
    for part in parts:
        assert part in done.stderr


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
    greedy = Gpu(0, "NVIDIA A100", 40960.0, 20000.0, 0, "GPU-1", (Holder(77, 12000.0, "python [train].py"),))
    here(MACHINE, MACHINE, Machine((greedy,), 32, "NVML"))
    done = call("-n", "2", "--fraction", "0.25", "--watch", "--every", "5")
    assert (done.exit_code, done.stderr, pauses) == (0, "", [5.0, 5.0])
    assert cells(done.stdout)[3:] == [
        ["0", "77", "500", "python [train].py", ""],
        ["0", "78", "not told", "", ""],
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
    here(Machine((), 4, "none"))
    done = call("--watch")
    assert done.exit_code == 0 and done.stdout.endswith("Nothing to watch: there is no GPU.\n")
    done = call("--watch", "--json")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "Nothing to watch: there is no GPU.\n")
