"""Attacks on porting.checkpoints: names, values and arguments that a checkpoint cannot have."""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path
from typing import Any

from attacks.trial import Trial

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests" / "porting"))

NAMES = [
    "", "/", "a//b", "../x", "a" * 3000, "ü", "a\nb", "a\0b", ".ATTRIBUTES", "x/.ATTRIBUTES/VARIABLE_VALUE", "%s",
    "_CHECKPOINTABLE_OBJECT_GRAPH", "a/part_0", "a:0", " ", "save_counter", "a.Sb", "\ud800", 3, None, b"x", "step",
]  # fmt: skip
RULES = [None, 3, "a", {"a": 3}, {3: "a"}, [("(", "x")], [("(.*)", r"\9")], [("a",)], lambda name: 3, lambda: "a"]


def _values() -> list[Any]:
    import numpy as np

    return [
        np.ones(2, "f"), np.zeros([0, 3]), np.array([None], object), [1, [2]], np.datetime64("2020"), {}, None,
        np.longdouble(1), 10**30, "\ud800", b"\xff", np.array(["a", 3], object), np.zeros(2, [("a", "f4")]),
    ]  # fmt: skip


def written(folder: Path, rng: random.Random) -> str:
    """A value under a name: read again as it was, or an error of ours with nothing left."""
    import numpy as np

    from tf1sessions.errors import Tf1SessionsError
    from tf1sessions.porting import checkpoints

    name, value = rng.choice(NAMES), rng.choice(_values())
    path = folder / f"x{rng.randrange(10**9)}"
    try:
        with checkpoints.CheckpointWriter(path) as writer:
            writer.add(name, value)  # type: ignore[arg-type]
        found = np.asarray(checkpoints.read(path)[name])  # type: ignore[index]
    except Tf1SessionsError:
        left = [each for each in os.listdir(folder) if path.name in each]
        return f"{name!r}: left {left}" if left else "as it was, or an error and nothing left"
    if not np.array_equal(found, np.asarray(value, found.dtype)):
        return f"{name!r}: {value!r} became {found!r}"
    return "as it was, or an error and nothing left"


def called(folder: Path, rng: random.Random) -> str:
    """Objects and rules that are none: done as asked, or an error of ours."""
    import numpy as np

    from tf1sessions.errors import Tf1SessionsError
    from tf1sessions.porting import checkpoints
    from tf1sessions.runtime import tf

    source = folder / f"x{rng.randrange(10**9)}"
    with checkpoints.CheckpointWriter(source) as writer:
        writer.add("a", np.ones(2, "f"))
        writer.add("b", np.zeros(2, "f"))

    def variable() -> Any:
        return tf.Variable([5.0, 5.0], use_resource=True)

    shared, name = variable(), rng.choice(NAMES)
    target = rng.choice([
        {"a": variable(), "b": variable()}, {"a": shared, "b": shared}, {"a": None}, {"a": {"b": variable()}},
        {"a": np.ones(2)}, {name: variable()}, [variable()], None, 3,
    ])  # fmt: skip
    options: dict[str, Any] = {"names": rng.choice(RULES)}
    options[rng.choice(["unused", "kept", "averages", "step", "forget_bias"])] = rng.choice([3, "a", {3: "x"}, None])
    call = rng.choice(["restore", "plan", "save_named"])
    try:
        if call == "save_named":
            checkpoints.save_named(target, folder / f"y{rng.randrange(10**9)}", **options)
        else:
            getattr(checkpoints, call)(source, target, **options)
    except Tf1SessionsError:
        pass
    if list(folder.glob(".*")):
        return f"{call}({target}, {options}) left {list(folder.glob('.*'))}"
    if call == "restore" and shared.numpy().tolist() != [5.0, 5.0]:
        return f"one variable was set twice, to {shared.numpy()}"
    return "done, or an error"


def claimed(folder: Path, rng: random.Random) -> str:
    """An index that claims anything of one value."""
    import checkpoint_tables

    from tf1sessions.errors import Tf1SessionsError
    from tf1sessions.porting import checkpoints

    sizes = [-(2**63), -4, -1, 0, 1, 2, 3, 4, 2**31, 2**32, 2**62, 2**63 - 1]
    path = str(folder / f"x{rng.randrange(10**9)}")
    entry = checkpoint_tables.entry(
        dtype=rng.choice([1, 1, 1, *range(25), 101, 5000]),
        dims=rng.choice([[4], [2, 2], [], [1] * 300, [rng.choice(sizes) for _ in range(rng.randrange(5))]]),
        size=rng.choice([0, 4, 16, 16, 64]),
    )
    if rng.random() < 0.3:
        entry.offset, entry.shard_id = rng.choice(sizes), rng.choice([-1, 0, 1, 2**31 - 1])
    for _ in range(rng.choice([0, 0, 1, 2])):
        part = entry.slices.add()
        for _ in range(rng.randrange(4)):
            extent = part.extent.add(start=rng.choice(sizes))
            if rng.random() < 0.7:
                extent.length = rng.choice(sizes)
    checkpoint_tables.write(path, [(rng.choice([b"w", b"\xff", b"a/\x1b"]), entry.SerializeToString())])
    try:
        dict(checkpoints.read(path))
    except Tf1SessionsError:
        pass
    return "done, or an error"


TRIALS = [
    Trial("an index that claims anything", "done, or an error", claimed, times=400),
    Trial("a name and a value of a checkpoint", "as it was, or an error and nothing left", written, times=80),
    Trial("objects and rules that are none", "done, or an error", called, times=80),
]
