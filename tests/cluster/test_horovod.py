"""Programs that use Horovod, where it is not installed: ranks that compute as one, that fail, and that wait."""

from __future__ import annotations

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from horovod_programs import KERAS, OPERATIONS, PLAIN, TRAINING
from plain_jobs import Plain

from tf1sessions.cluster.horovod_launch import check_not_installed, uses_horovod
from tf1sessions.errors import ConfigError
from tf1sessions.horovod.launched import VARIABLE, Launched, read
from tf1sessions.scripts.horovod_modules import is_installed
from tf1sessions.source.program import read_script

pytest_plugins = ("plain_fixture", "warm_commands")
pytestmark = pytest.mark.usefixtures("warm_commands")
LAUNCH = ["-m", "tf1sessions", "launch"]
DEADLINE = 120.0


def ended(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    stdout, stderr = process.communicate(timeout=DEADLINE)
    return process.returncode, (stdout + stderr).decode()


def launch(plain: Plain, *args: str) -> tuple[int, str]:
    return ended(plain.start(*args, program=LAUNCH))


def log(plain: Plain, run: str, name: str) -> str:
    (record,) = (record for record in plain.records(run) if record["name"] == name)
    return (plain.folder / run / record["log"]).read_text()


def losses(text: str) -> list[float]:
    return [float(each) for each in re.findall(r"loss ([\d.]+)", text)]


@pytest.mark.slow
def test_two_ranks_train_as_one_that_has_the_whole_batch(plain: Plain) -> None:
    plain.script("train.py", TRAINING)
    code, text = launch(plain, "--horovod", "2", "--out", "two", "train.py")
    assert code == 0, text
    code, text = ended(plain.start("train.py", program=["-m", "tf1sessions", "run"]))
    found = losses(text)
    assert code == 0 and len(found) == 12 and found[-1] < found[0], text
    for rank in range(2):
        np.testing.assert_allclose(losses(log(plain, "two", f"rank:{rank}")), found, rtol=1e-5)


@pytest.mark.slow
def test_operations_and_keras(plain: Plain) -> None:
    plain.script("operations.py", OPERATIONS)
    plain.script("keras_model.py", KERAS)
    with ThreadPoolExecutor(2) as threads:  # two launches at once do not collide
        both = [
            threads.submit(launch, plain, "--horovod", "2", "--out", name, f"{name}.py")
            for name in ("operations", "keras_model")
        ]
        for each in both:
            code, text = each.result()
            assert code == 0, text
    for rank in range(2):
        assert "all as expected" in log(plain, "operations", f"rank:{rank}")
    lines = {re.search(r"weights .*", log(plain, "keras_model", f"rank:{rank}")).group() for rank in range(2)}  # type: ignore[union-attr]
    assert len(lines) == 1, lines


@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "words"),
    [
        ("raise", ["ValueError: on purpose"]),
        ("leave", ["rank 1"]),
        ("skip", ["rank 1", "stall"]),
    ],
)
def test_a_rank_that_fails_leaves_or_waits_ends_all(plain: Plain, way: str, words: list[str]) -> None:
    plain.script("train.py", TRAINING)
    code, text = launch(plain, "--horovod", "2", "--stall-limit", "4", "--out", "run", "train.py", "--", way)
    text += "".join(log(plain, "run", f"rank:{rank}") for rank in range(2))
    assert code == 1 and [word for word in words if word not in text] == [], text
    assert {record["state"] for record in plain.records("run")} <= {"failed", "killed", "cancelled", "done"}


@pytest.mark.slow
def test_a_program_without_horovod_is_said(plain: Plain) -> None:
    plain.script("plain.py", PLAIN)
    code, text = launch(plain, "--horovod", "2", "plain.py")
    assert code == 1 and "has not called hvd.init()" in text, text


@pytest.mark.parametrize(
    ("files", "is_there", "is_used", "is_horovod"),
    [
        ((), False, True, False),
        (("horovod.py",), True, False, False),
        (("horovod/__init__.py", "horovod/tensorflow.py"), True, False, False),
        (("horovod/events.out",), False, True, False),  # a folder of logs
        (("lib/horovod/__init__.py", "lib/horovod/tensorflow/__init__.py"), True, True, True),
    ],
)
def test_whose_horovod_it_is(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    files: tuple[str, ...],
    is_there: bool,
    is_used: bool,
    is_horovod: bool,
) -> None:
    """None at all, a module of the program's own, and one that is installed, which must have its own launcher."""
    for name in ("train.py", *files):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("import horovod.tensorflow as hvd\n" if name == "train.py" else "x = 1\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(tmp_path / "lib"), *sys.path])
    assert is_installed() is is_there
    assert uses_horovod(read_script(tmp_path / "train.py")) is is_used
    if is_horovod:
        with pytest.raises(ConfigError, match=r"lib/horovod.*its own launcher[\s\S]*horovodrun -np 3"):
            check_not_installed(3)
    else:
        check_not_installed(3)


def test_what_a_launch_gives() -> None:
    launched = Launched(1, 4, 2222, "ab", 3.0, 4.0)
    assert read({VARIABLE: launched.variable()}) == launched and read({}) == Launched(0, 1)


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({VARIABLE: "{"}, "the variable TF1SESSIONS_HOROVOD"),
        ({VARIABLE: '{"rank": 2, "size": 2}'}, "rank 2 of 2"),
        ({VARIABLE: '{"rank": 0}'}, "size"),
        ({"OMPI_COMM_WORLD_SIZE": "4"}, "tf1sessions launch --horovod 4"),
    ],
)
def test_wrong_environments_are_named(environment: dict[str, str], words: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(words)):
        read(environment)
