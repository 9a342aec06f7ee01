"""Attacks by arguments: everything of the library gets a value that is none, and computes or says what is wrong."""

from __future__ import annotations

import inspect
import logging
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attacks.trial import Trial

END_SECS = 30.0

#: What a user might give, or a file might hold.
ODD: list[Callable[[], Any]] = [
    *(lambda value=value: value for value in (None, True, False, -1, 0, 1, 1.5, -0.0, 10**30, 2**31, 2**63)),
    *(lambda value=value: value for value in ("", "x", "0", "-1", "\x1b[2J", b"b", float("nan"), float("inf"), len)),
    *(list, tuple, dict, set, object, threading.Lock),
    *(lambda: [None], lambda: {"a": 1}, lambda: [[]], lambda: iter(()), lambda: range(3)),
]


def _model(t1: Any, name: str, value: Any) -> None:
    tf = t1.tf1
    with tf.Graph().as_default() as graph:
        tf.identity(tf.placeholder(tf.float32, [None, 2], name="x") * 2.0, name="y")
    Path("m.pb").write_bytes(graph.as_graph_def().SerializeToString())
    with t1.load(**{"path": "m.pb", "inputs": ["x"], "outputs": ["y"], name: value}) as model:
        model([[1.0, 2.0]])


def _batcher(t1: Any, name: str, value: Any) -> None:
    tf = t1.tf1
    with t1.GraphSession() as gs:
        x = tf.placeholder(tf.float32, [None, 2])
        with t1.Batcher(**{"session": gs, "feeds": {"x": x}, "fetches": {"y": x * 2.0}, name: value}) as batcher:
            batcher([[1.0, 2.0]])


def _pool(t1: Any, name: str, value: Any) -> None:
    with t1.ThreadSessionPool(**{name: value}) as pool:
        pool.submit(lambda session: 1).result(10)


def _pipeline(method: str) -> Callable[[Any, str, Any], None]:
    def act(t1: Any, name: str, value: Any) -> None:
        tf = t1.tf1
        with t1.GraphSession() as gs, t1.QueuePipeline(gs) as pipe:
            asked = {"name": "q", "capacity": 4, "dtypes": [tf.float32], "shapes": [()]}
            queue = pipe.queue(**(asked | ({name: value} if method == "queue" else {})))
            source = {"queue": queue, "producer": range(3)} | ({name: value} if method == "source" else {})
            pipe.source(**source)
            if method == "stage":
                queue = pipe.stage(**{"name": "s", "function": tf.square, "inputs": queue, name: value})
            for _ in zip(range(5), pipe.items(queue), strict=False):
                pass

    return act


def _made(kind: str) -> Callable[[Any, str, Any], None]:
    def act(t1: Any, name: str, value: Any) -> None:
        made = getattr(t1, kind)(**{name: value})
        end = getattr(made, "close", None) or getattr(made, "shutdown", None)
        if end is not None:
            end()

    return act


TARGETS: dict[str, tuple[str, Callable[[Any, str, Any], None], tuple[str, ...]]] = {
    # The name of what has the parameters, what to do with one of them, those that are left alone
    "GraphSession": ("GraphSession", _made("GraphSession"), ()),
    "SessionConfig": ("SessionConfig", _made("SessionConfig"), ()),
    "MemoryPlan": ("MemoryPlan", _made("MemoryPlan"), ()),
    "ProcessSessionPool": ("ProcessSessionPool", _made("ProcessSessionPool"), ()),
    "ThreadSessionPool": ("ThreadSessionPool", _pool, ()),
    "Batcher": ("Batcher", _batcher, ()),
    "load": ("load", _model, ("trial",)),  # a process each
    "QueuePipeline.queue": ("QueuePipeline.queue", _pipeline("queue"), ()),
    "QueuePipeline.source": ("QueuePipeline.source", _pipeline("source"), ()),
    "QueuePipeline.stage": ("QueuePipeline.stage", _pipeline("stage"), ()),
}


def odd(folder: Path, rng: random.Random) -> str:
    """One parameter of something has one odd value."""
    import tf1sessions as t1

    logging.disable(logging.CRITICAL)
    target = rng.choice(sorted(TARGETS))
    path, act, left_alone = TARGETS[target]
    found: Any = t1
    for part in path.split("."):
        found = getattr(found, part)
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    names = [each.name for each in inspect.signature(found).parameters.values() if each.kind in kinds]
    name = rng.choice([each for each in names if each != "self" and each not in left_alone])
    value = rng.choice(ODD)()
    about = f"{target}({name}={value!r:.40})"
    ends: list[str] = []

    def go() -> None:
        try:
            act(t1, name, value)
        except (t1.errors.Tf1SessionsError, TypeError, ValueError):
            pass
        except BaseException as error:
            ends.append(f"{about} raised {type(error).__name__}: {error!s:.200}")
            return
        ends.append("computed, or refused")

    thread = threading.Thread(target=go, daemon=True)
    thread.start()
    thread.join(END_SECS)
    return ends[0] if ends else f"{about} has not ended"


TRIALS = [Trial("a parameter has an odd value", "computed, or refused", odd, times=600)]
