"""The payload of a job: a :class:`ProgramPayload`, sent as JSON by runner.py and read by program.py."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["ProgramPayload", "ProgramSettings"]


@dataclass(frozen=True)
class ProgramSettings:
    """A job's settings as its process applies them: every choice of the run is made. None is "no limit", or "none".

    Args:
        memory_fraction: Share of each GPU's memory, in (0, 1].
        memory_limit_mb: Cap of each GPU's memory, in MiB.
        intra_op_threads: Threads within an operation.
        inter_op_threads: Threads between operations.
        fast_path: Whether compiled calls stand under every session.
        queue_grace: Seconds for which threads may hang in queues; None keeps TensorFlow's Coordinator.
        seeds: As in :class:`~tf1sessions.scripts.jobs.JobSettings`.
        seed_report: File for the report on seeds.
        claims_dir: Folder in which jobs note which folders they write to.
        deprecations: File for TensorFlow's deprecation warnings; None leaves them on stderr.
        line_buffered: Whether each line of stdout is written at once, though it is a log, so that it can be followed.
    """

    memory_fraction: float | None = None
    memory_limit_mb: int | None = None
    intra_op_threads: int | None = None
    inter_op_threads: int | None = None
    fast_path: bool = True
    queue_grace: float | None = None
    seeds: str = "tf1"
    seed_report: str | None = None
    claims_dir: str | None = None
    deprecations: str | None = None
    line_buffered: bool = False


@dataclass(frozen=True)
class ProgramPayload:
    """A program, and what it runs with.

    Args:
        kind: ``"script"``, ``"module"`` or ``"notebook"``.
        path: The file, or the module's name.
        path0: The folder that comes first on ``sys.path``; the fork server reads it by this name.
        argv: The arguments after the program's name.
        display: The path as the user typed it; by default ``path``.
        settings: The job's settings.
        extra: Further entries, for a target other than :func:`tf1sessions.scripts.program.execute`. In JSON they stand
            beside the other keys.
    """

    kind: str
    path: str
    path0: str
    argv: tuple[str, ...] = ()
    display: str = ""
    settings: ProgramSettings = ProgramSettings()
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.display:
            object.__setattr__(self, "display", self.path)

    def to_json(self) -> dict[str, Any]:
        """Return the payload as a dict that JSON can carry; :meth:`from_json` reads it."""
        return {
            "kind": self.kind,
            "path": self.path,
            "path0": self.path0,
            "argv": list(self.argv),
            "display": self.display,
            "settings": asdict(self.settings),
            **self.extra,
        }

    def module_path(self, entries: list[str]) -> list[str]:
        """Return ``sys.path`` of the program: ``path0``, unless PYTHONSAFEPATH leaves it out as ``python -P`` does, and
        those entries of this process that are no relative folder.
        """
        is_safe = sys.version_info >= (3, 11) and bool(os.environ.get("PYTHONSAFEPATH"))
        return [*([] if is_safe else [self.path0]), *(entry for entry in entries if entry != "")]

    @classmethod
    def from_json(cls, entries: Mapping[str, Any]) -> ProgramPayload:
        """Read what :meth:`to_json` gave. Optional entries may be missing.

        Raises:
            KeyError: ``kind``, ``path`` or ``path0`` is missing.
            TypeError: There is a setting that :class:`ProgramSettings` has not.
        """
        extra = dict(entries)
        return cls(
            kind=extra.pop("kind"),
            path=extra.pop("path"),
            path0=extra.pop("path0"),
            argv=tuple(extra.pop("argv", ())),
            display=extra.pop("display", ""),
            settings=ProgramSettings(**extra.pop("settings", {})),
            extra=extra,
        )
