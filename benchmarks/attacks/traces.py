"""Attacks on traces: bytes and indexes that no recorder wrote. Such a file is read or refused, at once."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from attacks.trial import Trial

GOLDEN = Path(__file__).resolve().parents[2] / "tests" / "golden" / "data" / "recorded.npz"
READ = "read, or refused"


def _read(path: Path) -> str:
    """All of a trace, and the comparison with the one that it was."""
    from tf1sessions.errors import Tf1SessionsError
    from tf1sessions.porting import traces
    from tf1sessions.porting.trace_comparison import compare

    try:
        with traces.read(path) as trace, traces.read(GOLDEN) as whole:
            for _ in traces.steps(trace):
                pass
            str(compare(whole, trace))
    except Tf1SessionsError as error:
        return READ if path.name in str(error) else f"an error that does not name the file: {error}"
    return READ


def damaged(folder: Path, rng: random.Random) -> str:
    """Some bytes are cut off, flipped, zero, left out or added."""
    data = bytearray(GOLDEN.read_bytes())
    place = rng.randrange(len(data))
    how = rng.choice(["cut", "flip", "zero", "lack", "more"])
    if how == "cut":
        del data[place:]
    elif how == "flip":
        data[place] ^= 1 << rng.randrange(8)
    elif how == "zero":
        data[place : place + 20] = bytes(len(data[place : place + 20]))
    elif how == "lack":
        del data[place : place + 4]
    else:
        data += b"more"
    path = folder / "damaged.npz"
    path.write_bytes(data)
    return _read(path)


def _places(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [found for key in keys for found in ((*place, key), *_places(value[key], (*place, key)))]


def edited(folder: Path, rng: random.Random) -> str:
    """One value of the index is another, or one array is."""
    import numpy as np

    with np.load(GOLDEN) as file:
        arrays = {name: file[name] for name in file.files}
    index = json.loads(arrays["index"].tobytes())
    if rng.random() < 0.7:
        place = rng.choice(_places(index))
        owner = index
        for key in place[:-1]:
            owner = owner[key]
        owner[place[-1]] = rng.choice([None, "zz", -1, 0, 10**18, 0.5, [[]], {"a": None}])
    else:
        name = rng.choice(sorted(set(arrays) - {"index"}))
        array = arrays[name]
        arrays[name] = rng.choice([np.zeros(0, array.dtype), array[:-1], array[None], array.astype("S1"), np.zeros([])])
    arrays["index"] = np.frombuffer(json.dumps(index).encode(), np.uint8)
    path = folder / "edited.npz"
    np.savez(path, **arrays)
    return _read(path)


TRIALS = [
    Trial("the bytes of a trace are others", READ, damaged, times=150),
    Trial("the index or an array of a trace is another", READ, edited, times=150),
]
