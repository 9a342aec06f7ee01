"""What the fixture ``plain`` gives a test: jobs without TensorFlow, in this process or through the command."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import plain_program
import pytest

from tf1sessions.scripts.events import Event, RunSummary
from tf1sessions.scripts.jobs import Job
from tf1sessions.scripts.runner import Run, RunSettings

HERE = Path(__file__).resolve().parent
DEADLINE = 60.0
MARK = "TF1SESSIONS_TEST_MARK"


def python_path() -> str:
    """The PYTHONPATH of jobs, which find the modules beside this one."""
    entries = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    return os.pathsep.join(entries if str(HERE) in entries else [str(HERE), *entries])


def marked(mark: str) -> dict[int, str]:
    """The processes, besides this one, that have the mark of a test in their environment."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes() and int(folder.name) != os.getpid():
                found[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()[:200]
        except (OSError, ValueError):  # it ended while we looked, or belongs to something else
            continue
    return found


class Command(subprocess.Popen[bytes]):
    """A process that does not outlive a test that failed."""

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        if kind is not None:
            self.kill()
        super().__exit__(kind, value, traceback)


@dataclasses.dataclass
class Plain:
    """What a test does with jobs, in an empty folder that is the current one."""

    folder: Path
    mark: str

    def script(self, name: str, code: str = "") -> str:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(code), encoding="utf-8")
        return name

    def make(self, jobs: Sequence[Job] | None, listener: Callable[[Event], None] | None = None, **settings: Any) -> Run:
        given = RunSettings(**{"server": plain_program.server, "target": "plain_program:execute"} | settings)
        return Run(jobs, given, listener)

    def run(self, *jobs: Job, **settings: Any) -> tuple[RunSummary, list[Event]]:
        events: list[Event] = []
        return self.make(jobs, events.append, **settings).run(), events

    def start(self, *args: str, program: Sequence[str] = (), **options: Any) -> subprocess.Popen[bytes]:
        command = [sys.executable, *(program or [str(HERE / "plain_program.py")]), *args]
        ways: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        # as a shell starts it, also when these tests run under nohup
        ways["preexec_fn"] = functools.partial(signal.signal, signal.SIGHUP, signal.SIG_DFL)
        return Command(command, cwd=self.folder, **ways | options)

    def cli(self, *args: str, input: bytes | None = None, **options: Any) -> subprocess.CompletedProcess[bytes]:
        if input is not None:
            options["stdin"] = subprocess.PIPE
        with self.start(*args, **options) as process:
            try:
                stdout, stderr = process.communicate(input, timeout=DEADLINE)
            except subprocess.TimeoutExpired:
                process.kill()
                pytest.fail(f"still running after {DEADLINE:g} s: {process.args!r}")
        return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)

    def records(self, run: str = "run") -> list[dict[str, Any]]:
        return json.loads((self.folder / run / "jobs.json").read_text())

    def states(self, run: str = "run") -> list[str]:
        return [record["state"] for record in self.records(run)]

    def log(self, index: int = 0, run: str = "run") -> bytes:
        return (self.folder / run / self.records(run)[index]["log"]).read_bytes()

    def strays(self) -> dict[int, str]:
        return marked(self.mark)
