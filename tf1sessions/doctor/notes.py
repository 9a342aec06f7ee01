"""Notes of the probes of a watched program, written so that it outlives a crash of the program.

Two files: ``events.jsonl`` grows by a line for each thing that happened, ``state.json`` is replaced by each later count
of what goes on. Both are complete at every moment, also after ``kill -9``; no file stays open in the program.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

__all__ = ["NoteWriter", "read"]

#: How many events of one kind are kept. Arbitrary: more places than a program has, and a bound for one that loops.
KEPT = 200


class NoteWriter:
    """Writes notes into a folder. Any thread may use it; the caller orders what must be ordered.

    A disk that is full, or a folder that is gone, ends the writing and not the program: what was written counts.
    """

    def __init__(self, folder: str) -> None:
        self._events = os.path.join(folder, "events.jsonl")
        self._state = os.path.join(folder, "state.json")
        self._written: dict[str, int] = {}
        self.broken = False

    def event(self, kind: str, **values: Any) -> None:
        """Adds a line; past :data:`KEPT` of a kind they are left out."""
        count = self._written[kind] = self._written.get(kind, 0) + 1
        if count > KEPT or self.broken:
            return
        line = json.dumps({"kind": kind, **values}) + "\n"
        try:
            file = os.open(self._events, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.write(file, line.encode())
            finally:
                os.close(file)
        except OSError:
            self.broken = True

    def state(self, values: Any) -> None:
        """Replaces the counts."""
        if self.broken:
            return
        beside = f"{self._state}.new"
        try:
            with open(beside, "w", encoding="utf-8") as file:
                json.dump(values, file)
            os.replace(beside, self._state)
        except OSError:
            self.broken = True


def read(folder: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The events, and the last counts; both are empty when the program never got so far."""
    events, state = folder / "events.jsonl", folder / "state.json"
    lines = events.read_text("utf-8").splitlines() if events.exists() else []
    return [json.loads(line) for line in lines], json.loads(state.read_text("utf-8")) if state.exists() else {}
