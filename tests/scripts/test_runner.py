"""Runs: order, limits, retries, interruption and what is recorded. With a made-up server, and with real processes."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from plain_jobs import Plain
from support import wait_for

from tf1sessions.errors import ConfigError, ScriptUsageError, WorkerStartError
from tf1sessions.pools.fork_server import WorkerResult, WorkerSpec
from tf1sessions.scripts.events import (
    Event,
    Interrupted,
    JobEnded,
    JobStarted,
    Note,
    RunStarted,
    RunSummary,
    ServerReady,
)
from tf1sessions.scripts.folder import JobRecord
from tf1sessions.scripts.jobs import Job, JobSettings
from tf1sessions.scripts.runner import Run, RunSettings, run_jobs
from tf1sessions.sessions import gpus
from tf1sessions.sessions.machine import usable_cores

pytest_plugins = ("plain_fixture",)
DEADLINE = 30.0


# ------------------------------------------------------------------------------------------------ a made-up server


class FakeHandle:
    """A worker that ends when the test says so, or by a signal."""

    def __init__(self, spec: WorkerSpec, stubborn: bool = False) -> None:
        self.spec, self.stubborn = spec, stubborn
        self.pid, self.cold_reasons = 4242, ()
        self.signals: list[int] = []
        self._ended = threading.Event()
        self._returncode = 0

    @property
    def has_ended(self) -> bool:
        return self._ended.is_set()

    def end(self, returncode: int) -> None:
        self._returncode = returncode
        self._ended.set()

    def wait(self, timeout: float | None = None) -> WorkerResult | None:
        assert self._ended.wait(DEADLINE), f"{self.spec.name} was not ended"
        name = signal.Signals(-self._returncode).name if self._returncode < 0 else None
        return WorkerResult(self._returncode, name, 1.25, 10.0, True, (), signalled=bool(self.signals))

    def signal(self, signum: int) -> None:
        self.signals.append(signum)
        if not self.stubborn:
            self.end(-signum)

    def pass_on(self, signum: int) -> None:
        self.signal(signum)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        self.end(-signal.SIGKILL)


class FakeServer:
    """Answers each spawn by ``behave(spec, attempt)``: a return code, a handle, or an exception."""

    def __init__(self, behave: Callable[[WorkerSpec, int], Any] = lambda spec, attempt: 0) -> None:
        self.behave = behave
        self.env: Mapping[str, str] = {}
        self.specs: list[WorkerSpec] = []
        self.handles: list[FakeHandle] = []
        self.closed = False
        self.ready = threading.Event()
        self.ready.set()

    def __call__(self, env: Mapping[str, str]) -> FakeServer:
        self.env = env
        return self

    def start(self) -> None: ...

    def wait_ready(self, timeout: float) -> None:
        assert self.ready.wait(DEADLINE)

    def spawn(self, spec: WorkerSpec) -> FakeHandle:
        self.specs.append(spec)
        attempt = sum(other.name == spec.name for other in self.specs)
        answer = self.behave(spec, attempt)
        if isinstance(answer, BaseException):
            raise answer
        handle = answer if isinstance(answer, FakeHandle) else FakeHandle(spec)
        if not isinstance(answer, FakeHandle):
            handle.end(answer)
        self.handles.append(handle)
        return handle

    def close(self) -> None:
        self.closed = True
        for handle in self.handles:
            handle.kill()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in "abcdef":
        (tmp_path / f"{name}.py").touch()
    return tmp_path


def jobs(names: str, **fields: Any) -> list[Job]:
    return [Job(script=f"{name}.py", **fields) for name in names]


def play(server: FakeServer, given: list[Job] | None, **settings: Any) -> tuple[RunSummary, list[Event]]:
    events: list[Event] = []
    summary = run_jobs(given, RunSettings(**{"server": server, "out": "run"} | settings), events.append)
    assert server.closed or not server.specs
    assert [record.to_json() for record in summary.records] == json.loads(Path(summary.folder, "jobs.json").read_text())
    return summary, events


def states(summary: RunSummary) -> list[str]:
    return [record.state for record in summary.records]


class Background:
    """A run in a thread of its own, so that the test can interrupt it."""

    def __init__(self, server: FakeServer, given: list[Job], **settings: Any) -> None:
        self.events: list[Event] = []
        self.run = Run(given, RunSettings(**{"server": server, "out": "run"} | settings), self.events.append)
        self.summary: RunSummary | None = None
        self._thread = threading.Thread(target=self._play)
        self._thread.start()

    def _play(self) -> None:
        self.summary = self.run.run()

    def started(self, count: int) -> None:
        wait_for(lambda: len(self.of(JobStarted)) >= count, f"{count} jobs to start", DEADLINE)

    def of(self, kind: type) -> list[Any]:
        return [event for event in list(self.events) if isinstance(event, kind)]

    def result(self) -> RunSummary:
        self._thread.join(DEADLINE)
        assert self.summary is not None
        return self.summary


# ---------------------------------------------------------------------------------------------- order and records


def test_jobs_wait_for_others_where_the_system_has_no_more(folder: Path) -> None:
    """Not those whose worker does not start for another reason, nor one that is alone."""
    running: list[FakeHandle] = []
    lock = threading.Lock()  # jobs are started by several threads

    def behave(spec: WorkerSpec, attempt: int) -> Any:
        if spec.name == "d":
            return WorkerStartError("No such folder")
        with lock:
            if any(not handle.has_ended for handle in running):
                return WorkerStartError("it could not be forked: Too many open files")
            running.append(FakeHandle(spec))
            return running[-1]

    server = FakeServer(behave)
    run = Background(server, jobs("abcd"), parallel=4)
    for count in (1, 2, 3):
        run.started(count)
        running[-1].end(0)
    summary = run.result()
    assert states(summary) == ["done", "done", "done", "failed"]
    assert [record.attempts for record in summary.records] == [1, 1, 1, 1]
    (note,) = run.of(Note)
    assert note.text == "fewer jobs run at a time: it could not be forked: Too many open files"
    alone = FakeServer(lambda spec, attempt: WorkerStartError("it could not be forked: Too many open files"))
    summary, events = play(alone, jobs("a"), out="alone")
    assert states(summary) == ["failed"] and not [event for event in events if isinstance(event, Note)]


def test_job_waits_for_others_that_have_ended_by_the_time_that_it_fails_to_start(folder: Path) -> None:
    a_is_over = threading.Event()

    def behave(spec: WorkerSpec, attempt: int) -> Any:
        if spec.name == "b" and attempt == 1:
            assert a_is_over.wait(DEADLINE)
            return WorkerStartError("it could not be forked: Too many open files")
        return 0

    def listener(event: Event) -> None:
        if isinstance(event, JobEnded):
            a_is_over.set()

    summary = run_jobs(jobs("ab"), RunSettings(server=FakeServer(behave), out="run", parallel=2), listener)
    assert states(summary) == ["done", "done"]


def test_all_jobs_run_in_order_and_are_recorded(folder: Path) -> None:
    server = FakeServer(lambda spec, attempt: {"b": 3, "c": -11}.get(spec.name, 0))
    summary, events = play(server, jobs("abcd"), parallel=1)
    assert [spec.name for spec in server.specs] == list("abcd")
    assert states(summary) == ["done", "failed", "killed", "done"]
    assert [record.exit_code for record in summary.records] == [0, 3, -11, 0]
    assert [record.signal for record in summary.records] == [None, None, "SIGSEGV", None]
    assert summary.records[2].reason == "killed by SIGSEGV"
    assert [record.seconds for record in summary.records] == [1.25] * 4
    assert (summary.ok, summary.exit_code, summary.counts()) == (False, 1, {"done": 2, "failed": 1, "killed": 1})
    kinds = [type(event) for event in events]
    assert kinds == [RunStarted, ServerReady, *[JobStarted, JobEnded] * 4]
    assert all(event.record.state == "running" for event in events if isinstance(event, JobStarted))
    assert json.dumps(summary.to_json())


def test_never_more_than_n_at_once_and_a_free_place_is_taken(folder: Path) -> None:
    server = FakeServer(lambda spec, attempt: FakeHandle(spec))
    run = Background(server, jobs("abcdef"), parallel=2)
    for count in range(2, 7):
        run.started(count)
        assert len(server.specs) == count
        server.handles[count - 2].end(0)
    server.handles[5].end(0)
    assert run.result().ok


def test_state_is_on_disk_while_a_job_runs(folder: Path) -> None:
    server = FakeServer(lambda spec, attempt: FakeHandle(spec))
    run = Background(server, jobs("ab"), parallel=1)
    run.started(1)
    assert [entry["state"] for entry in json.loads(Path("run/jobs.json").read_text())] == ["running", "pending"]
    server.handles[0].end(0)
    run.started(2)
    assert [entry["state"] for entry in json.loads(Path("run/jobs.json").read_text())] == ["done", "running"]
    server.handles[1].end(0)
    assert run.result().ok


# ------------------------------------------------------------------------------------------- what a job is given


def test_what_a_job_is_given(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tf1sessions.scripts.runner.usable_cores", lambda: 9)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "7")
    monkeypatch.delenv("TF_ENABLE_ONEDNN_OPTS", raising=False)
    (folder / "sub").mkdir()
    (folder / "sub/link.py").symlink_to(folder / "a.py")
    given = [
        Job(script="sub/link.py", args=("--x", "1 2")),
        Job(module="pack.mod", env={"CUDA_VISIBLE_DEVICES": "0", "MINE": "é"}, cwd="sub"),
        Job(
            script="b.py",
            cwd="/",
            settings=JobSettings(threads=3, memory_fraction=0.25, fast_path=False, queue_grace=0, seeds="tf2"),
        ),
        Job(script="c.py", settings=JobSettings(memory_limit_mb=100, visible_devices="1", fast_kernels=True)),
    ]
    server = FakeServer()
    play(server, given, parallel=4)
    link, module, other, last = sorted(server.specs, key=lambda spec: ["link", "pack.mod", "b", "c"].index(spec.name))
    assert server.env["TF_USE_LEGACY_KERAS"] == "1"
    assert server.env["TF_ENABLE_ONEDNN_OPTS"] == "0"
    assert link.env == dict(server.env)
    assert link.payload | {"settings": None} == {
        "kind": "script",
        "path": f"{folder}/sub/link.py",
        "argv": ["--x", "1 2"],
        "path0": str(folder),  # the folder of the file that the link leads to, as Python has it
        "display": "sub/link.py",
        "settings": None,
    }
    assert link.payload["settings"] == {
        "line_buffered": True,
        "memory_fraction": 0.25,
        "memory_limit_mb": None,
        "intra_op_threads": 2,
        "inter_op_threads": 2,
        "fast_path": True,
        "queue_grace": 10.0,
        "seeds": "tf1",
        "seed_report": f"{folder}/run/01-link.seeds.txt",
        "deprecations": None,
        "claims_dir": f"{folder}/run/.claims",
    }
    assert (link.stdin, link.stdout == link.stderr, link.cwd) == (None, True, str(folder))
    assert (module.payload["path"], module.payload["path0"]) == ("pack.mod", f"{folder}/sub")
    assert {key: module.env[key] for key in ("CUDA_VISIBLE_DEVICES", "MINE", "PWD")} == {
        "CUDA_VISIBLE_DEVICES": "0",
        "MINE": "é",
        "PWD": f"{folder}/sub",
    }
    assert (other.cwd, other.payload["display"], other.payload["path0"]) == ("/", f"{folder}/b.py", str(folder))
    assert other.payload["settings"]["intra_op_threads"] == 3
    assert other.payload["settings"]["fast_path"] is False
    assert other.payload["settings"]["queue_grace"] == 0
    assert other.payload["settings"]["seeds"] == "tf2"
    assert last.payload["settings"]["memory_fraction"] is None
    assert last.payload["settings"]["memory_limit_mb"] == 100
    assert (last.env["CUDA_VISIBLE_DEVICES"], last.env["TF_ENABLE_ONEDNN_OPTS"]) == ("1", "1")


def test_a_target_of_its_own_may_be_given_more(folder: Path) -> None:
    server = FakeServer()
    play(server, jobs("a"), target="package.module:function", more={"notes": "/a/folder"})
    (spec,) = server.specs
    assert spec.target == "package.module:function"
    assert spec.payload["notes"] == "/a/folder"
    assert spec.payload["kind"] == "script"


def test_one_job_at_a_time_has_the_machine_to_itself(folder: Path) -> None:
    server = FakeServer()
    play(server, jobs("ab"), parallel=1)
    for spec in server.specs:
        assert spec.payload["settings"]["intra_op_threads"] is None
        assert spec.payload["settings"]["memory_fraction"] is None


@pytest.mark.parametrize(("exported", "at_once", "value"), [(None, 3, "33"), ("80", 3, "80"), (None, 1, None)])
def test_jobs_under_mps_get_their_part_of_the_multiprocessors(
    folder: Path, monkeypatch: pytest.MonkeyPatch, exported: str | None, at_once: int, value: str | None
) -> None:
    name = "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"
    monkeypatch.setattr(gpus, "look", lambda: gpus.Machine((gpus.Gpu(0, "T4", 16000, 16000),), 4, "NVML", mps=True))
    monkeypatch.delenv(name, raising=False)
    if exported is not None:
        monkeypatch.setenv(name, exported)
    server = FakeServer()
    given = [*jobs("ab"), Job(script="c.py", env={name: "7"})]
    play(server, given, parallel=at_once)
    assert {spec.name: spec.env.get(name) for spec in server.specs} == {"a": value, "b": value, "c": "7"}


def test_a_gpu_is_shared_by_the_jobs_that_see_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside parameter servers, which see none, two workers have a half each."""
    monkeypatch.setattr(gpus, "look", lambda: gpus.Machine((gpus.Gpu(0, "T4", 16000, 16000),), 4, "NVML", mps=True))
    for name in ("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"):
        monkeypatch.delenv(name, raising=False)
    server = FakeServer()
    hidden = JobSettings(visible_devices="-1")
    given = [Job(script="a.py", settings=hidden), Job(script="b.py", env={"CUDA_VISIBLE_DEVICES": ""}), *jobs("cd")]
    play(server, given, parallel=4)
    specs = {spec.name: spec for spec in server.specs}
    for name in "cd":
        assert specs[name].payload["settings"]["memory_fraction"] == pytest.approx(0.462)
        assert specs[name].env["CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"] == "50"
        assert specs[name].env["CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"] == "0=7992M"
        assert specs[name].payload["settings"]["intra_op_threads"] == max(1, usable_cores() // 4)


@pytest.mark.parametrize(
    ("exported", "fast", "value"),
    [(None, None, "0"), (None, True, "1"), ("1", None, "1"), ("1", False, "0"), ("0", True, "1")],
)
def test_choice_of_kernels(
    folder: Path, monkeypatch: pytest.MonkeyPatch, exported: str | None, fast: bool | None, value: str
) -> None:
    if exported is None:
        monkeypatch.delenv("TF_ENABLE_ONEDNN_OPTS", raising=False)
    else:
        monkeypatch.setenv("TF_ENABLE_ONEDNN_OPTS", exported)
    server = FakeServer()
    play(server, jobs("a"), job=JobSettings(fast_kernels=fast))
    assert server.specs[0].env["TF_ENABLE_ONEDNN_OPTS"] == value
    if fast is not False:  # so that the job is warm
        assert server.env["TF_ENABLE_ONEDNN_OPTS"] == value


def test_settings_of_the_run_count_above_those_of_a_job(folder: Path) -> None:
    server = FakeServer()
    summary, _ = play(server, jobs("a", settings=JobSettings(threads=1, retries=3)), job=JobSettings(threads=2))
    assert summary.records[0].settings == {"threads": 2, "retries": 3}


# ------------------------------------------------------------------------------------- failures, retries, limits


def test_retries_end_with_the_first_success(folder: Path) -> None:
    server = FakeServer(lambda spec, attempt: 0 if attempt == 3 else 1 if attempt == 1 else -9)
    summary, events = play(server, jobs("a"), job=JobSettings(retries=5))
    assert states(summary) == ["done"]
    assert summary.records[0].attempts == 3
    ended = [(event.record.state, event.retried) for event in events if isinstance(event, JobEnded)]
    assert ended == [("failed", True), ("killed", True), ("done", False)]
    assert Path("run/01-a.log").read_text() == ""  # nothing was written, so nothing is marked


def test_retries_are_counted(folder: Path) -> None:
    server = FakeServer(lambda spec, attempt: 7)
    summary, _ = play(server, jobs("a"), job=JobSettings(retries=2))
    assert (len(server.specs), summary.records[0].attempts, summary.exit_code) == (3, 3, 7)


def test_attempts_share_a_log_and_are_distinguished(plain: Plain) -> None:
    plain.script(
        "a.py",
        """
        import os, sys
        n = len(os.listdir("."))
        print("run", n)
        open(f"f{n}", "w").close()
        sys.exit(n < 5)
        """,
    )
    summary, _ = plain.run(Job(script="a.py"), job=JobSettings(retries=9), out="run")
    assert summary.ok
    lines = plain.log().decode().splitlines()
    assert [line for line in lines if line.startswith("run")] == [f"run {n}" for n in range(2, 6)]
    assert sum("started again" in line for line in lines) == 3


def test_others_go_on_after_a_failure(folder: Path) -> None:
    server = FakeServer(lambda spec, attempt: 1 if spec.name == "a" else 0)
    summary, _ = play(server, jobs("abc"), parallel=1)
    assert states(summary) == ["failed", "done", "done"]


def test_fail_fast_ends_what_runs_and_skips_the_rest(folder: Path) -> None:
    def behave(spec: WorkerSpec, attempt: int) -> FakeHandle:
        return FakeHandle(spec)

    server = FakeServer(behave)
    run = Background(server, jobs("abcd"), parallel=2, fail_fast=True)
    run.started(2)
    server.handles[1].end(1)
    summary = run.result()
    ended = {handle.spec.name: handle.signals for handle in server.handles}
    failed = server.handles[1].spec.name
    other = server.handles[0].spec.name
    assert {failed, other} == {"a", "b"}
    assert ended[other][0] == signal.SIGTERM
    by_name = {record.name: record for record in summary.records}
    assert by_name[failed].state == "failed"
    assert (by_name[other].state, by_name["c"].state, by_name["d"].state) == ("cancelled", "skipped", "skipped")
    assert by_name["d"].reason == f"{failed} failed (fail fast)"
    assert summary.exit_code == 1


def test_fail_fast_waits_for_the_last_retry(folder: Path) -> None:
    server = FakeServer(lambda spec, attempt: 0 if attempt == 2 else 1)
    summary, _ = play(server, jobs("abc"), parallel=1, fail_fast=True, job=JobSettings(retries=1))
    assert states(summary) == ["done"] * 3


def test_time_limit_asks_first(folder: Path) -> None:
    server = FakeServer(lambda spec, attempt: FakeHandle(spec))
    summary, _ = play(server, jobs("a"), job=JobSettings(time_limit=0.05))
    assert server.handles[0].signals[0] == signal.SIGTERM
    record = summary.records[0]
    assert (record.state, record.signal, record.reason) == ("timeout", "SIGTERM", "ran longer than 0.05 s")
    assert summary.exit_code == 124


def test_time_limit_kills_what_does_not_listen(folder: Path) -> None:
    server = FakeServer(lambda spec, attempt: FakeHandle(spec, stubborn=True))
    summary, _ = play(server, jobs("ab"), parallel=2, job=JobSettings(time_limit=0.05), grace_secs=0.05)
    assert [handle.signals[:2] for handle in server.handles] == [[signal.SIGTERM, signal.SIGKILL]] * 2
    assert states(summary) == ["timeout", "timeout"]
    assert summary.records[0].reason == "ran longer than 0.05 s; killed"
    assert summary.exit_code == 1


def test_process_that_even_sigkill_does_not_end_is_left_behind(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Undead(FakeHandle):
        def kill(self) -> None:
            self.signals.append(signal.SIGKILL)

    monkeypatch.setattr("tf1sessions.scripts.runner._KILL_SECS", 0.05)
    handles: list[Undead] = []

    def behave(spec: WorkerSpec, attempt: int) -> FakeHandle:
        handles.append(Undead(spec, stubborn=True))
        return handles[-1]

    summary, _ = play(FakeServer(behave), jobs("a"), job=JobSettings(time_limit=0.05), grace_secs=0.05)
    assert summary.records[0].state == "timeout"
    for handle in handles:
        handle.end(0)


def test_worker_that_does_not_start_is_one_jobs_failure(folder: Path) -> None:
    server = FakeServer(lambda spec, attempt: WorkerStartError("no room, twice") if spec.name == "a" else 0)
    summary, events = play(server, jobs("ab"), parallel=1)
    assert states(summary) == ["failed", "done"]
    assert summary.records[0].reason == "no room, twice"
    assert summary.records[0].exit_code is None
    assert not any(isinstance(event, JobStarted) and event.index == 0 for event in events)


def test_server_that_does_not_start_is_an_error_of_the_run(folder: Path) -> None:
    class Broken(FakeServer):
        def wait_ready(self, timeout: float) -> None:
            raise WorkerStartError("no TensorFlow")

    with pytest.raises(WorkerStartError, match="no TensorFlow"):
        play(Broken(), jobs("ab"))
    assert [entry["state"] for entry in json.loads(Path("run/jobs.json").read_text())] == ["pending", "pending"]


def test_error_of_the_listener_ends_the_run_and_its_jobs(folder: Path) -> None:
    server = FakeServer(lambda spec, attempt: FakeHandle(spec))

    def listener(event: Event) -> None:
        if isinstance(event, JobStarted):
            raise RuntimeError("cannot show this")

    with pytest.raises(RuntimeError, match="cannot show"):
        run_jobs(jobs("ab"), RunSettings(server=server, out="run", parallel=1), listener)
    assert server.closed
    entries = json.loads(Path("run/jobs.json").read_text())
    assert [(entry["state"], entry["reason"]) for entry in entries] == [
        ("cancelled", "the run ended early"),
        ("pending", None),
    ]


# ---------------------------------------------------------------------------------------------------- interruption


def test_interrupt_gives_jobs_the_signal_and_starts_no_more(folder: Path) -> None:
    server = FakeServer(lambda spec, attempt: FakeHandle(spec))
    run = Background(server, jobs("abc"), parallel=2, job=JobSettings(retries=3))
    run.started(2)
    run.run.interrupt(signal.SIGINT)
    summary = run.result()
    assert states(summary) == ["cancelled", "cancelled", "pending"]
    assert [handle.signals[0] for handle in server.handles] == [signal.SIGINT] * 2
    assert summary.records[0].reason == "interrupted by SIGINT"
    assert (summary.interrupted_by, summary.exit_code) == (signal.SIGINT, 130)
    (event,) = run.of(Interrupted)
    assert (event.signum, event.count, set(event.running)) == (signal.SIGINT, 1, {0, 1})


def test_job_that_ends_by_itself_in_its_grace_is_not_killed(folder: Path) -> None:
    server = FakeServer(lambda spec, attempt: FakeHandle(spec, stubborn=True))
    run = Background(server, jobs("a"), grace_secs=60)
    run.started(1)
    run.run.interrupt(signal.SIGTERM)
    wait_for(lambda: server.handles[0].signals, "the signal", DEADLINE)
    server.handles[0].end(0)
    summary = run.result()
    assert (states(summary), summary.records[0].exit_code, summary.exit_code) == (["cancelled"], 0, 143)
    assert summary.records[0].reason == "interrupted by SIGTERM"


def test_grace_has_an_end(folder: Path) -> None:
    server = FakeServer(lambda spec, attempt: FakeHandle(spec, stubborn=True))
    run = Background(server, jobs("a"), grace_secs=0.05)
    run.started(1)
    run.run.interrupt()
    assert run.result().records[0].reason == "interrupted by SIGINT; killed"


@pytest.mark.parametrize("ends", [True, False])
def test_patient_run_says_how_to_kill_what_goes_on(folder: Path, ends: bool) -> None:
    server = FakeServer(lambda spec, attempt: FakeHandle(spec, stubborn=True))
    run = Background(server, jobs("a"), grace_secs=0.05, patient=True)
    run.started(1)
    run.run.interrupt()
    wait_for(lambda: run.of(Note), "the note", DEADLINE)
    assert [note.text for note in run.of(Note)] == ["still runs 0.05 s after Ctrl-C; Ctrl-C again kills it"]
    if ends:
        server.handles[0].end(0)
    else:
        run.run.interrupt()
    assert run.result().records[0].reason == "interrupted by SIGINT" + ("" if ends else "; killed")


def test_patient_run_kills_what_goes_on_after_its_time_limit(folder: Path) -> None:
    server = FakeServer(lambda spec, attempt: FakeHandle(spec, stubborn=True))
    summary, _ = play(server, jobs("a"), job=JobSettings(time_limit=0.05), grace_secs=0.05, patient=True)
    assert states(summary) == ["timeout"]


def test_second_interrupt_kills_at_once(folder: Path) -> None:
    server = FakeServer(lambda spec, attempt: FakeHandle(spec, stubborn=True))
    run = Background(server, jobs("ab"), parallel=2, grace_secs=1000)
    run.started(2)
    run.run.interrupt()
    run.run.interrupt()
    summary = run.result()
    assert states(summary) == ["cancelled", "cancelled"]
    assert [event.count for event in run.of(Interrupted)] == [1, 2]


def test_interrupt_while_the_server_starts(folder: Path) -> None:
    server = FakeServer()
    server.ready.clear()
    run = Background(server, jobs("ab"))
    wait_for(lambda: run.of(RunStarted), "the run to start", DEADLINE)
    run.run.interrupt()
    summary = run.result()
    server.ready.set()
    assert (states(summary), summary.exit_code) == (["pending", "pending"], 130)
    assert server.closed and not server.specs


def test_interrupt_before_the_process_is_there_reaches_it(folder: Path) -> None:
    spawning, go_on = threading.Event(), threading.Event()

    def behave(spec: WorkerSpec, attempt: int) -> FakeHandle:
        spawning.set()
        assert go_on.wait(DEADLINE)
        return FakeHandle(spec)

    server = FakeServer(behave)
    run = Background(server, jobs("a"), grace_secs=1000)
    assert spawning.wait(DEADLINE)
    run.run.interrupt()
    wait_for(lambda: run.of(Interrupted), "the interrupt to be seen", DEADLINE)
    go_on.set()
    assert states(run.result()) == ["cancelled"]
    assert server.handles[0].signals[0] == signal.SIGINT


def test_keyboard_interrupt_of_the_caller_ends_the_jobs(folder: Path) -> None:
    server = FakeServer(lambda spec, attempt: FakeHandle(spec))

    def listener(event: Event) -> None:
        if isinstance(event, JobStarted):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_jobs(jobs("a"), RunSettings(server=server, out="run"), listener)
    assert server.closed
    assert json.loads(Path("run/jobs.json").read_text())[0]["state"] == "cancelled"


# ---------------------------------------------------------------------------------------------------------- resume


def test_resume_runs_what_was_not_done(folder: Path) -> None:
    play(FakeServer(lambda spec, attempt: 0 if spec.name in "ac" else 1), jobs("abcd"), parallel=1)
    server = FakeServer()
    summary, events = play(server, jobs("abcd"), resume="run", out=None)
    assert sorted(spec.name for spec in server.specs) == ["b", "d"]
    assert summary.ok
    started = events[0]
    assert isinstance(started, RunStarted)
    assert [record.state for record in started.records] == ["done", "pending", "done", "pending"]
    assert started.parallel <= 2


def test_resume_knows_the_jobs_itself(folder: Path) -> None:
    play(FakeServer(lambda spec, attempt: 1), jobs("ab", args=("--x",), env={"A": "1"}), parallel=1)
    server = FakeServer()
    summary, _ = play(server, None, resume="run", out=None, job=JobSettings(retries=1))
    assert [(spec.payload["argv"], spec.env["A"]) for spec in server.specs] == [(["--x"], "1")] * 2
    assert summary.ok
    assert summary.records[0].settings == {"retries": 1}
    assert [record.attempts for record in summary.records] == [2, 2]  # they count on


def test_retries_of_a_resumed_run_are_its_own(folder: Path) -> None:
    play(FakeServer(lambda spec, attempt: 1), jobs("a"))
    summary, _ = play(FakeServer(lambda spec, attempt: 1), None, resume="run", out=None, job=JobSettings(retries=1))
    assert (states(summary), summary.records[0].attempts) == (["failed"], 3)


def test_resume_of_a_finished_run_starts_nothing(folder: Path) -> None:
    play(FakeServer(), jobs("ab"))
    server = FakeServer()
    summary, events = play(server, None, resume="run", out=None)
    assert summary.ok and summary.exit_code == 0
    assert not server.specs and not server.closed
    assert [type(event) for event in events] == [RunStarted]


def test_resume_checks_only_what_it_will_run(folder: Path) -> None:
    play(FakeServer(lambda spec, attempt: int(spec.name == "b")), jobs("ab"))
    os.remove("a.py")
    assert play(FakeServer(), None, resume="run", out=None)[0].ok
    play(FakeServer(lambda spec, attempt: 1), jobs("b"), out="other")
    os.remove("b.py")
    with pytest.raises(ScriptUsageError, match="b.py"):
        play(FakeServer(), None, resume="other", out=None)
    with pytest.raises(ScriptUsageError, match="b.py"):  # and the folder is free again
        play(FakeServer(), None, resume="other", out=None)


# ---------------------------------------------------------------------------------------------------- wrong calls


@pytest.mark.parametrize(
    "settings", [{"parallel": 0}, {"parallel": -1}, {"grace_secs": 0}, {"grace_secs": float("nan")}, {"start_secs": -1}]
)
def test_wrong_settings_are_named(settings: dict[str, Any]) -> None:
    (key,) = settings
    with pytest.raises(ConfigError, match=key):
        RunSettings(**settings)


def test_nothing_is_made_for_a_wrong_call(folder: Path) -> None:
    server = FakeServer()
    for given, settings in [
        (None, {}),
        ([Job(script="none.py")], {}),
        ([Job(script="a.py"), Job(script="none.py")], {}),
        (jobs("a"), {"resume": "nowhere", "out": None}),
        (jobs("a"), {"resume": "x", "out": "y"}),
    ]:
        with pytest.raises((ConfigError, ScriptUsageError)):
            run_jobs(given, RunSettings(**{"server": server, "out": "run"} | settings))
    assert sorted(os.listdir(folder)) == [f"{name}.py" for name in "abcdef"]
    assert not server.specs


@pytest.mark.parametrize(
    ("record", "interrupted_by", "code"),
    [
        ({"state": "done", "exit_code": 0}, None, 0),
        ({"state": "failed", "exit_code": 3}, None, 3),
        ({"state": "failed", "exit_code": None}, None, 1),
        ({"state": "killed", "exit_code": -9}, None, 137),
        ({"state": "timeout", "exit_code": 0}, None, 124),
        ({"state": "cancelled", "exit_code": 0}, 2, 130),
        ({"state": "done", "exit_code": 0}, 15, 143),
    ],
)
def test_exit_code_of_a_single_job_is_its_own(record: dict[str, Any], interrupted_by: int | None, code: int) -> None:
    one = JobRecord(name="a", script="a.py", args=(), **record)
    assert RunSummary(Path("run"), (one,), 1.0, interrupted_by).exit_code == code


# ------------------------------------------------------------------------------------------- with real processes


def test_real_processes(plain: Plain) -> None:
    plain.script("ok.py", "print('fine')")
    plain.script("empty.py")
    plain.script("sp ace é.py", "import sys; print(sys.argv[1:], __file__)")
    plain.script("error.py", "def f():\n    raise ValueError('broken')\nf()")
    plain.script("text.py", "import sys; sys.exit('a text')")
    plain.script("code.py", "import sys; sys.exit(41)")
    plain.script("quit.py", "import os; os._exit(3)")
    plain.script("kill.py", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    plain.script("segv.py", "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    plain.script(
        "late.py",
        """
        import threading, time
        threading.Thread(target=lambda: (time.sleep(0.3), print("late"))).start()
        print("main ends")
        """,
    )
    names = ["ok", "empty", "sp ace é", "error", "text", "code", "quit", "kill", "segv", "ok", "late"]
    summary, _ = plain.run(*(Job(script=f"{name}.py", args=("x y",)) for name in names), parallel=3, out="run")
    got = [(record.name, record.state, record.exit_code, record.signal) for record in summary.records]
    assert got == [
        ("ok", "done", 0, None),
        ("empty", "done", 0, None),
        ("sp ace é", "done", 0, None),
        ("error", "failed", 1, None),
        ("text", "failed", 1, None),
        ("code", "failed", 41, None),
        ("quit", "failed", 3, None),
        ("kill", "killed", -9, "SIGKILL"),
        ("segv", "killed", -11, "SIGSEGV"),
        ("ok", "done", 0, None),
        ("late", "done", 0, None),
    ]
    assert [record.error for record in summary.records if record.state == "failed"] == [
        "ValueError: broken",
        "exit code 1; the last that it wrote: a text",
        "exit code 41; it wrote nothing",
        "exit code 3; it wrote nothing",
    ]
    assert plain.log(0) == plain.log(9) == b"fine\n"
    assert plain.log(2).decode() == f"['x y'] {plain.folder}/sp ace é.py\n"
    assert b"ValueError: broken" in plain.log(3)
    assert plain.log(4) == b"a text\n"
    assert plain.log(10) == b"main ends\nlate\n"
    assert all(record.peak_memory_mb and record.peak_memory_mb > 1 for record in summary.records)
    assert len({record.log for record in summary.records}) == 11


def test_environment_folder_and_stdin_are_each_jobs_own(plain: Plain) -> None:
    plain.script("sub/data.txt", "here")
    plain.script(
        "show.py",
        """
        import os, sys
        print(os.getcwd(), os.environ.get("MINE"), repr(sys.stdin.read()), os.path.exists("data.txt"), sep="|")
        os.chdir("/")
        os.environ["MINE"] = "changed"
        """,
    )
    summary, _ = plain.run(
        Job(script="show.py", env={"MINE": "1"}), Job(script="show.py", cwd="sub"), Job(script="show.py"), out="run"
    )
    assert summary.ok
    assert plain.log(0).decode() == f"{plain.folder}|1|''|False\n"
    assert plain.log(1).decode() == f"{plain.folder}/sub|None|''|True\n"
    assert plain.log(2).decode() == f"{plain.folder}|None|''|False\n"


def test_binary_and_thirty_megabytes_are_logged_whole(plain: Plain) -> None:
    plain.script("bytes.py", "import sys\nfor i in range(30): sys.stdout.buffer.write(bytes([i, 255]) * 500_000)")
    summary, _ = plain.run(Job(script="bytes.py"), Job(script="bytes.py"), out="run")
    assert summary.ok
    assert plain.log(0) == plain.log(1) == b"".join(bytes([i, 255]) * 500_000 for i in range(30))


def test_processes_and_threads_that_a_job_leaves_are_ended(plain: Plain) -> None:
    plain.script(
        "leaves.py",
        """
        import os, subprocess, threading, time
        subprocess.Popen(["sleep", "1000"], start_new_session=True)
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(1000)
            os._exit(0)
        threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
        print("main ends")
        """,
    )
    summary, _ = plain.run(Job(script="leaves.py"), Job(script="leaves.py"), out="run")
    assert [record.state for record in summary.records] == ["done", "done"]
    for record in summary.records:
        assert len(record.leftovers) == 2
        assert any("sleep 1000" in leftover for leftover in record.leftovers)


def test_time_limit_of_a_real_tree(plain: Plain) -> None:
    plain.script(
        "stubborn.py",
        """
        import signal, subprocess, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        subprocess.Popen(["sleep", "1000"])
        print("deaf", flush=True)
        while True:
            time.sleep(1000)
        """,
    )
    summary, _ = plain.run(Job(script="stubborn.py"), job=JobSettings(time_limit=1.0), grace_secs=0.3, out="run")
    record = summary.records[0]
    assert (record.state, record.signal, record.reason) == ("timeout", "SIGKILL", "ran longer than 1 s; killed")
    assert plain.log() == b"deaf\n"


def test_messages_of_ours_in_a_log_become_warnings(plain: Plain) -> None:
    plain.script("warns.py", "print('tf1sessions: mind the gap'); print('tf1sessions: mind the gap')")
    summary, _ = plain.run(Job(script="warns.py"), out="run")
    assert summary.records[0].warnings == ("mind the gap",)


def test_preload_that_fails(plain: Plain, monkeypatch: pytest.MonkeyPatch) -> None:
    plain.script("a.py")
    monkeypatch.setenv("TF1SESSIONS_TEST_PRELOAD_FAILS", "1")
    with pytest.raises(WorkerStartError, match="no TensorFlow here"):
        plain.run(Job(script="a.py"), out="run")
    assert plain.states() == ["pending"]


def test_server_that_is_killed_takes_its_jobs_along_and_they_say_so(plain: Plain) -> None:
    plain.script("waits.py", "import time; print('up'); time.sleep(1000)")
    plain.script(
        "kills.py",
        """
        import glob, os, signal, time
        while "up" not in "".join(open(log).read() for log in glob.glob("run/*waits.log")):
            time.sleep(0.01)
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(1000)
        """,
    )
    plain.script("good.py")
    names = ["waits", "kills", "good"]
    summary, _ = plain.run(*(Job(script=f"{name}.py") for name in names), parallel=2, out="run")
    got = [(record.state, record.exit_code, record.signal) for record in summary.records]
    assert got == [("killed", -9, "SIGKILL")] * 2 + [("done", 0, None)]
    for record in summary.records[:2]:
        words = rf"Worker '{record.name}' \(pid \d+\) died because the fork server \(pid \d+\) was killed by SIGKILL"
        assert re.fullmatch(words, record.reason or ""), record.reason


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1", "SIGALRM", "SIGRTMIN"])
def test_signal_of_a_job_to_its_parent_costs_no_other_job(plain: Plain, name: str) -> None:
    plain.script("waits.py", "import os, time\nwhile not os.path.exists('sent'): time.sleep(0.01)")
    plain.script("sends.py", f"import os, signal; os.kill(os.getppid(), signal.{name}); open('sent', 'w')")
    summary, _ = plain.run(Job(script="waits.py"), Job(script="sends.py"), parallel=2, out="run")
    assert states(summary) == ["done", "done"]


def test_job_that_has_finished_its_script_is_done_though_the_run_is_interrupted(plain: Plain) -> None:
    plain.script(
        "a.py",
        """
        import atexit, os, time
        def wait():
            print("ending")
            while not os.path.exists("go"): time.sleep(0.01)
        atexit.register(wait)
        """,
    )
    running = plain.make([Job(script="a.py")], out="run", grace_secs=DEADLINE)

    def interrupt() -> None:
        wait_for(lambda: (plain.folder / "run/01-a.log").exists() and plain.log() == b"ending\n", "its end", DEADLINE)
        running.interrupt(signal.SIGTERM)
        (plain.folder / "go").touch()

    thread = threading.Thread(target=interrupt)
    thread.start()
    summary = running.run()
    thread.join()
    assert (states(summary), summary.interrupted_by) == (["done"], signal.SIGTERM)


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGUSR1])
def test_a_signal_that_another_thread_takes_is_heard(plain: Plain, signum: int) -> None:
    """It does not wake the main thread, which waits for messages."""
    plain.script("a.py", "import time\nopen('begun', 'w')\nwhile True: time.sleep(0.02)")

    def take() -> None:
        wait_for((plain.folder / "begun").exists, "the job", DEADLINE)
        signal.pthread_kill(threading.get_ident(), signum)

    thread = threading.Thread(target=take)
    running = plain.make([Job(script="a.py")], out="run")
    with running.heeding_signals():
        thread.start()
        summary = running.run()
    thread.join()
    assert (summary.records[0].signal, summary.exit_code) == (signal.Signals(signum).name, 128 + signum)


@pytest.mark.parametrize("names", ["a", "ab"])
def test_server_that_is_stopped_holds_nothing_up(plain: Plain, names: str) -> None:
    for name in names:
        plain.script(f"{name}.py", "import os, signal; os.kill(os.getppid(), signal.SIGSTOP)")
    limited = JobSettings(time_limit=DEADLINE)
    given = [Job(script=f"{name}.py", settings=limited) for name in names]
    summary, events = plain.run(*given, parallel=2, out="run", grace_secs=1.0)
    assert states(summary) == ["done"] * len(names)
    assert [event.index for event in events if isinstance(event, Note) and "stopped by SIGSTOP" in event.text] == [None]


def test_why_a_job_did_not_start_is_said_and_in_its_log(plain: Plain) -> None:
    plain.script("a.py")
    summary, _ = plain.run(Job(script="a.py"), out="run", target="plain_program:not_there")
    (record,) = summary.records
    assert record.state == "failed" and record.reason is not None
    assert record.reason.startswith("its process ended before the script began: AttributeError"), record.reason
    assert "not_there" in record.reason and b"Traceback" in plain.log(0)


def test_cold_start_is_said(plain: Plain) -> None:
    plain.script("a.py")
    summary, events = plain.run(Job(script="a.py", env={"PYTHONHASHSEED": "7"}), Job(script="a.py"), out="run")
    assert summary.ok
    started = {event.index: event.record.cold_reasons for event in events if isinstance(event, JobStarted)}
    assert "PYTHONHASHSEED" in started[0][0]
    assert started[1] == ()
    assert not any(isinstance(event, Note) for event in events)
