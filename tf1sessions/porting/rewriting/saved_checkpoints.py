"""The checkpoints that a program writes beside itself, before and after a step: the same variables and values.

Data flow: :func:`moved` takes what a run has written out of its copy of the tree; :func:`differences` compares two such
folders in a process of its own, which imports TensorFlow (:func:`main`).
"""

from __future__ import annotations

import glob
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from ...errors import WorkError
from ..parity.measures import measure
from ..parity.tolerances import Tolerances, records_of

__all__ = ["differences", "main", "moved", "prefixes"]

_ENDING = ".index"
_COMPARE = """
import sys
sys.path[:] = [entry for entry in sys.path if entry]
sys.path.append(sys.argv[3])
from tf1sessions.garbage import end_quickly
from tf1sessions.porting.rewriting.saved_checkpoints import main
end_quickly()
main(sys.argv[1], sys.argv[2])
"""


def prefixes(folder: Path) -> dict[str, int]:
    """Return the checkpoints below a folder: prefix, seen from there -> when it was written, in nanoseconds."""
    found = {path: path.stat().st_mtime_ns for path in sorted(folder.rglob(f"*{_ENDING}")) if path.is_file()}
    return {path.relative_to(folder).as_posix().removesuffix(_ENDING): time for path, time in found.items()}


def moved(folder: Path, before: dict[str, int], target: Path) -> None:
    """Move the checkpoints that were written below a folder since ``before``, with their paths, to another folder."""
    for prefix, time in prefixes(folder).items():
        if before.get(prefix) == time:
            continue
        files = folder / prefix
        place = target / prefix
        place.parent.mkdir(parents=True, exist_ok=True)
        for part in [files.with_name(files.name + _ENDING), *files.parent.glob(f"{glob.escape(files.name)}.data-*")]:
            os.replace(part, place.with_name(part.name))


def differences(left: Path, right: Path) -> list[str]:
    """Return what differs between the checkpoints of two folders: those of one path, and how many there are.

    Paths that one side alone has are of folders with a time in their names, mostly: only their number counts.

    Raises:
        WorkError: They cannot be read.
    """
    ours, theirs = prefixes(left), prefixes(right)
    found = [f"{len(ours)} checkpoints before, {len(theirs)} after"] if len(ours) != len(theirs) else []
    if not ours.keys() & theirs.keys():
        return found
    command = [sys.executable, "-c", _COMPARE, os.fspath(left), os.fspath(right), os.fspath(Path(__file__).parents[3])]
    env = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", env=env)
    if done.returncode:
        raise WorkError(f"the checkpoints could not be compared: {done.stderr.strip().rpartition(chr(10))[2]}")
    lines: list[str] = json.loads(done.stdout.splitlines()[-1])
    return found + lines


def main(left: str, right: str) -> None:
    """Print, as JSON, what differs between the checkpoints that both folders have."""
    common = sorted(prefixes(Path(left)).keys() & prefixes(Path(right)).keys())
    print(json.dumps([line for prefix in common for line in _differing(Path(left), Path(right), prefix)]))


def _differing(left: Path, right: Path, prefix: str) -> Iterator[str]:
    from ..checkpoints.reading import read

    ours, theirs = read(left / prefix), read(right / prefix)
    for side, one, other in (("before", ours, theirs), ("after", theirs, ours)):
        for name in sorted(one.keys() - other.keys()):
            yield f"the checkpoint {prefix} has the variable {name} {side} it alone"
    tolerances = Tolerances(records_of(None))
    for name in sorted(ours.keys() & theirs.keys()):
        if (spec := ours.specs[name]) != theirs.specs[name]:
            yield f"the checkpoint {prefix} has {spec} before, {theirs.specs[name]} after"
            continue
        allowed = tolerances.of("output", name, spec.dtype)
        difference = measure(ours[name], theirs[name], allowed.absolute, allowed.relative, allowed.ulps)
        if difference.beyond:
            yield f"the checkpoint {prefix}: {name}: {difference.left!r} before, {difference.right!r} after"
