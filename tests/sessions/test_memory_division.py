"""The arithmetic of a plan: who goes where, what fits, what is said. Pure; no GPU and no TensorFlow is needed."""

from __future__ import annotations

import itertools
import json
import math
import random
from typing import Any

import pytest

from tf1sessions.errors import MemoryPlanError
from tf1sessions.sessions.division import CONTEXT_MB, LEAST_MB, divide
from tf1sessions.sessions.gpus import Gpu, Machine, MemoryHolder


def machine(*sizes: tuple[float, float], cores: int = 16, **more: Any) -> Machine:
    """A machine with GPUs of (total, free) MiB."""
    gpus = tuple(Gpu(index, "A100", total, free, index) for index, (total, free) in enumerate(sizes))
    return Machine(gpus, cores, "NVML", **more)


ONE = machine((16000, 15000))
TWO = machine((16000, 16000), (16000, 16000))
UNLIKE = machine((40000, 39000), (16000, 15000))


def split(there: Machine, workers: int, **arguments: Any) -> list[tuple[int | None, float | None]]:
    """The GPU and the size of each worker."""
    arguments.setdefault("environ", {})
    return [(share.gpu, share.memory_mb) for share in divide(there, workers, **arguments).shares]


def test_equal_parts_of_what_is_free() -> None:
    (share,) = divide(ONE, environ={}).shares
    assert share.fraction is not None and share.memory_mb is not None
    assert 14380 < share.memory_mb <= 14400  # of the 15000 free, without CUDA's own; rounded down to a thousandth
    assert share.memory_mb == pytest.approx(share.fraction * 16000) and not share.by_limit
    assert split(ONE, 3) == [(0, pytest.approx(4400))] * 3
    assert split(ONE, 3, reserve=3000) == [(0, pytest.approx(3392))] * 3
    assert split(TWO, 4) == [(gpu, pytest.approx(7392)) for gpu in (0, 1, 0, 1)]
    assert [gpu for gpu, _ in split(UNLIKE, 4)] == [0, 0, 1, 0]  # each where it gets most
    assert [gpu for gpu, _ in split(UNLIKE, 3, strategy="pack")] == [0, 0, 0]
    assert [gpu for gpu, _ in split(UNLIKE, 2, gpus=(1,))] == [1, 1]


def test_given_sizes_are_spread_or_packed() -> None:
    assert split(TWO, 4, fraction=0.25) == [(0, 4000), (1, 4000), (0, 4000), (1, 4000)]
    assert split(TWO, 4, fraction=0.25, strategy="pack") == [(0, 4000), (0, 4000), (0, 4000), (1, 4000)]
    assert split(TWO, 3, limit_mb=7000) == [(0, 7000), (1, 7000), (0, 7000)]
    shares = divide(TWO, 2, limit_mb=4000, environ={}).shares
    assert all(share.by_limit and share.fraction == 0.25 for share in shares)


def test_a_share_at_the_edge() -> None:
    there = machine((10000, 8000 + 2 * CONTEXT_MB))
    assert len(split(there, 2, fraction=0.4)) == 2
    with pytest.raises(MemoryPlanError):
        split(there, 2, limit_mb=4001)
    with pytest.raises(MemoryPlanError):
        split(there, 2, fraction=0.4, reserve=1)


def test_what_does_not_fit_is_reported_with_what_would() -> None:
    with pytest.raises(MemoryPlanError) as caught:
        split(ONE, 4, fraction=0.25)
    assert str(caught.value) == (
        "only 3 of 4 workers fit at 600 MiB of CUDA each beside their share (in MiB, GPU 0: 4000 of 15000 free) "
        "(from MemoryPlan). Up to fraction=0.19 fits 4; or plan fewer workers, or end what holds memory."
    )
    assert len(split(ONE, 4, fraction=0.19)) == 4
    with pytest.raises(MemoryPlanError):
        split(ONE, 4, fraction=0.2)
    with pytest.raises(MemoryPlanError, match="Not even small shares fit 40"):
        split(ONE, 40, fraction=0.25)


def test_who_holds_the_memory_is_named() -> None:
    gpu = Gpu(0, "A100", 16000, 900, 0, holders=(MemoryHolder(77, 15000, "python train.py"), MemoryHolder(78, None)))
    for arguments in ({}, {"fraction": 0.5}):
        with pytest.raises(MemoryPlanError, match=r"\(process 77 python train.py, process 78\)"):
            split(Machine((gpu,), 4, "NVML"), 2, **arguments)


def test_too_little_for_equal_parts() -> None:
    enough = machine((16000, 4 * (CONTEXT_MB + LEAST_MB + 16)))
    assert len(split(enough, 4)) == 4
    with pytest.raises(MemoryPlanError, match=r"for 5 workers at 600 MiB of CUDA each that leaves nothing"):
        split(enough, 5)
    nearly = machine((16000, 4 * (CONTEXT_MB + LEAST_MB - 16)))  # something, and too little for TensorFlow to start
    with pytest.raises(MemoryPlanError, match="for 4 workers at 600 MiB of CUDA each that leaves nothing"):
        split(nearly, 4)


def test_plans_always_fit() -> None:
    """Whatever is planned, the shares of a GPU, their contexts and the reserve are within what is free on it."""
    dice = random.Random(0)
    made = 0
    for _ in range(400):
        there = machine(
            *((total, dice.uniform(0, total)) for total in dice.choices([4000, 16000, 80000], k=dice.randint(1, 4)))
        )
        size = dice.choice([{}, {"fraction": dice.uniform(0.01, 1)}, {"limit_mb": dice.uniform(1, 20000)}])
        reserve, strategy = dice.choice([0, 500]), dice.choice(["spread", "pack"])
        try:
            division = divide(there, dice.randint(1, 9), reserve=reserve, strategy=strategy, environ={}, **size)
        except MemoryPlanError:
            continue
        made += 1
        for gpu in there.gpus:
            planned = division.planned_mb(gpu.index)
            assert planned == 0 or planned <= gpu.free_mb - reserve + 1e-6
        assert [share.worker for share in division.shares] == list(range(len(division.shares)))
    assert made > 100


def test_threads_and_multiprocessors() -> None:
    assert [(s.intra_op_threads, s.inter_op_threads) for s in divide(ONE, 1, environ={}).shares] == [(None, None)]
    assert [(s.intra_op_threads, s.inter_op_threads) for s in divide(ONE, 5, environ={}).shares] == [(3, 3)] * 5
    few = divide(machine(cores=2), 3, environ={})
    assert [(s.intra_op_threads, s.inter_op_threads) for s in few.shares] == [(1, 2)] * 3
    assert "3 workers on 2 cores: they take turns" in few.notes
    assert not divide(machine(cores=2), 2, environ={}).notes
    with_mps = divide(machine((16000, 16000), (16000, 16000), mps=True), 3, environ={})
    assert [share.mps_percentage for share in with_mps.shares] == [50, 100, 50]
    assert any("MPS" in note for note in with_mps.notes)
    assert [share.mps_percentage for share in divide(TWO, 3, environ={}).shares] == [None] * 3


def test_growth() -> None:
    division = divide(TWO, 3, growth=True, environ={})
    assert [(share.gpu, share.memory_mb, share.growth) for share in division.shares] == [
        (0, None, True), (1, None, True), (0, None, True)
    ]  # fmt: skip
    assert any("no upper end" in note for note in division.notes)
    limited = divide(TWO, 2, growth=True, fraction=0.5, environ={})
    assert [(share.memory_mb, share.growth) for share in limited.shares] == [(8000, True)] * 2
    assert not limited.notes


def test_environment_variables_that_tensorflow_obeys() -> None:
    with pytest.raises(MemoryPlanError, match="TF_FORCE_GPU_ALLOW_GROWTH=false"):
        divide(ONE, growth=True, environ={"TF_FORCE_GPU_ALLOW_GROWTH": "false"})
    assert not divide(ONE, environ={"TF_FORCE_GPU_ALLOW_GROWTH": "false"}).notes
    (note,) = divide(ONE, environ={"TF_FORCE_GPU_ALLOW_GROWTH": "true"}).notes
    assert "TF_FORCE_GPU_ALLOW_GROWTH=true" in note
    assert not divide(ONE, environ={"TF_FORCE_GPU_ALLOW_GROWTH": "True"}).notes  # TensorFlow knows the small one only
    (note,) = divide(ONE, environ={"TF_GPU_ALLOCATOR": "cuda_malloc_async"}).notes
    assert "no hard cap" in note


def test_lanes() -> None:
    (share,) = divide(ONE, lanes=3, environ={}).shares
    assert share.memory_mb is not None and share.lane_mb == math.floor(share.memory_mb / 3)
    with pytest.raises(MemoryPlanError, match="40 lanes in 2000 MiB leave 50 MiB for each"):
        divide(ONE, limit_mb=2000, lanes=40, environ={})
    assert [share.lanes for share in divide(machine(), 2, lanes=4, environ={}).shares] == [4, 4]


def test_without_a_gpu() -> None:
    division = divide(machine(notes=("no GPU: why",)), 2, fraction=0.4, environ={})
    assert [(share.gpu, share.memory_mb, share.fraction) for share in division.shares] == [(None, None, None)] * 2
    assert division.notes == ("no GPU: why", "there is no GPU to share: the memory options have no effect")
    assert [share.gpu for share in divide(TWO, 2, gpus=(), environ={}).shares] == [None, None]


def test_idle_gpus_are_named() -> None:
    (note,) = divide(machine(*[(16000, 16000)] * 4), 2, environ={}).notes
    assert note.startswith("no worker uses GPU 2, 3")


@pytest.mark.parametrize(
    "wrong",
    [
        {"workers": 0}, {"workers": True}, {"workers": 1.0}, {"lanes": 0}, {"lanes": "2"},
        {"workers": 10**9}, {"lanes": 10**9}, {"fraction": 10**400}, {"limit_mb": 10**400}, {"reserve": math.nan},
        {"fraction": 0}, {"fraction": -0.1}, {"fraction": 1.01}, {"fraction": math.nan}, {"fraction": "0.5"},
        {"limit_mb": 0}, {"limit_mb": math.inf}, {"limit_mb": True}, {"reserve": -1}, {"reserve": None},
        {"growth": 1}, {"strategy": "best"}, {"gpus": "0"}, {"gpus": 0}, {"gpus": (0, 0)}, {"gpus": (2,)},
        {"gpus": (-1,)}, {"gpus": (True,)}, {"gpus": ("0",)},
    ],
    ids=str,
)  # fmt: skip
def test_wrong_arguments_are_named(wrong: dict[str, Any]) -> None:
    ((name, value),) = wrong.items()
    with pytest.raises(MemoryPlanError) as caught:
        divide(TWO, **{"environ": {}, **wrong})
    assert name in str(caught.value)
    assert repr(value) in str(caught.value) or str(value).strip("(),") in str(caught.value)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    "pair",
    list(itertools.combinations([{"limit_mb": 100}, {"growth": True}, {"lanes": 2}, {"fraction": 0.1}], 2)),
    ids=str,
)
def test_what_goes_together(pair: tuple[dict[str, Any], dict[str, Any]]) -> None:
    arguments = pair[0] | pair[1]
    refused = set(arguments) in ({"limit_mb", "growth"}, {"growth", "lanes"}, {"limit_mb", "fraction"})
    if not refused:
        arguments = {name: 1000 if name == "limit_mb" else value for name, value in arguments.items()}
        divide(TWO, environ={}, **arguments)
        return
    with pytest.raises(MemoryPlanError) as caught:
        divide(TWO, environ={}, **arguments)
    assert all(name in str(caught.value) for name in arguments)


def test_a_plan_is_json_that_describes_its_machine() -> None:
    printed = json.loads(json.dumps(divide(UNLIKE, 2, environ={}).to_dict()))
    again = Machine.from_dict(printed)
    assert [(gpu.total_mb, gpu.free_mb) for gpu in again.gpus] == [(40000, 39000), (16000, 15000)]
    assert printed["shares"][1]["gpu"] == 0
