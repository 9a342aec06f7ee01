"""benchmarks/attack.py: its table of trials, and that it sees what goes wrong in one."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from support import ROOT

FAKE_TRIALS = """
import os, signal, subprocess, time
from attacks.trial import Trial

def chooses(folder, rng):
    return rng.choice(["heads", "tails"])

def aborts_once(folder, rng):
    if folder.name == "1":
        os.kill(os.getpid(), signal.SIGKILL)
    return "fine" if not os.listdir(folder) else "not empty"

def hangs(folder, rng):
    time.sleep(60)

def raises(folder, rng):
    raise ValueError(3)

def leaves_a_process(folder, rng):
    subprocess.Popen(["sleep", "60"])
    return "fine"

def ends_badly(folder, rng):
    import atexit
    atexit.register(os._exit, 5)
    return "fine"

TRIALS = [
    Trial(act.__name__, "fine", act, times, 0.5)
    for act, times in [(chooses, 20), (aborts_once, 3), (hangs, 1), (raises, 1), (leaves_a_process, 1), (ends_badly, 2)]
]
"""


@pytest.fixture
def attack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """benchmarks/attack.py as a module, with an area ``fake`` beside the real ones."""
    (tmp_path / "attacks").mkdir()
    (tmp_path / "attacks" / "fake.py").write_text(FAKE_TRIALS, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setattr(sys, "path", [str(ROOT / "benchmarks"), str(tmp_path), *sys.path])
    module = importlib.import_module("attack")
    monkeypatch.setattr(module, "START_SECS", 10.0)
    monkeypatch.setattr(module, "SETTLE_SECS", 0.3)
    yield module
    for name in [name for name in sys.modules if name.split(".")[0] in ("attack", "attacks")]:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("name", "seen", "left"),
    [
        ("aborts_once", {"fine": 2, "signal 9": 1}, []),
        ("hangs", {"hangs": 1}, []),
        ("raises", {"raised ValueError: 3": 1}, []),
        ("leaves_a_process", {"fine": 1}, ["process sleep 60 "]),
        ("ends_badly", {"fine": 2, "exit 5 after the last try": 1}, []),
    ],
)
def test_what_goes_wrong_in_a_trial_is_seen(
    name: str, seen: dict[str, int], left: list[str], attack: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "hangs":
        monkeypatch.setattr(attack, "START_SECS", 1.0)
    (trial,) = (trial for trial in attack.trials_of("fake") if trial.name == name)
    outcome = attack.attack("fake", trial, 0, trial.times)
    assert (dict(outcome.seen), outcome.left) == (seen, left)
    assert outcome.wrong and attack.report(outcome).startswith("WRONG")


def test_the_seed_decides_what_is_tried(attack: ModuleType) -> None:
    (trial,) = (trial for trial in attack.trials_of("fake") if trial.name == "chooses")
    first, again, other = (attack.attack("fake", trial, seed, 20).seen for seed in (0, 0, 1))
    assert first == again != other and set(first) == {"heads", "tails"}


def test_each_trial_says_what_is_expected(attack: ModuleType) -> None:
    loaded = "tensorflow" in sys.modules  # by another test of this process
    areas = set(attack.areas()) - {"fake"}
    for area in areas:
        for trial in attack.trials_of(area):  # raises where two have one name
            assert trial.name and trial.expected and trial.times >= 1 and trial.deadline_secs > 0
    assert loaded or "tensorflow" not in sys.modules  # a list of trials is there at once
