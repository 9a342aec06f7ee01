"""Compares what programs returned with what they returned on 1.15.5."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from support import PythonRun

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "data" / "contrib"


def golden(name: str) -> dict[str, Any]:
    """What ``tests/golden/make/make_contrib_<name>.py`` kept."""
    found: dict[str, Any] = json.loads(gzip.decompress((GOLDEN / f"{name}.json.gz").read_bytes()))
    return found


_PROGRAM = """
import importlib, sys
folder, module, way = sys.argv[1:]
sys.path.insert(0, folder)
cases = importlib.import_module(f"{module}_cases")
import tf1sessions
from tf1sessions.runtime import tf1

if way == "script":
    tf1sessions.enable_v1_behavior()
from tf1sessions import contrib
report(**cases.run(tf1, getattr(contrib, module)))
"""


def ours(run_python: Callable[..., PythonRun], module: str, way: str) -> dict[str, Any]:
    """What the cases of a module of ``tf.contrib`` return here, in a "script" or in a "TF2 program"."""
    return run_python(_PROGRAM, str(Path(__file__).resolve().parent), module, way).results


def differences(ours: Any, theirs: Any, rtol: float, atol: float, where: str = "") -> list[str]:
    """Where two JSON values differ; numbers within the tolerance are equal, everything else must be."""
    if (isinstance(ours, float) and isinstance(theirs, (int, float))) or isinstance(theirs, float):
        same = isinstance(ours, (int, float)) and (
            math.isclose(ours, theirs, rel_tol=rtol, abs_tol=atol) or (ours != ours and theirs != theirs)
        )
        return [] if same else [f"{where}: {ours!r}, and on 1.15.5 {theirs!r}"]
    if isinstance(ours, dict) and isinstance(theirs, dict) and ours.keys() == theirs.keys():
        return [text for key in ours for text in differences(ours[key], theirs[key], rtol, atol, f"{where}/{key}")]
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        pairs = enumerate(zip(ours, theirs, strict=True))
        return [text for i, pair in pairs for text in differences(*pair, rtol, atol, f"{where}/{i}")]
    return [] if ours == theirs else [f"{where}: {ours!r}, and on 1.15.5 {theirs!r}"]
