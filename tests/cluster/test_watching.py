"""Decisions of a launch without processes, by marks and a stand-in run: which tasks it ends, names or lets go."""

from __future__ import annotations

import json
import os
import shutil
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import wait_for

from tf1sessions.cluster import launching, task_main
from tf1sessions.cluster import marks as marks_module
from tf1sessions.cluster.flags import TaskFlags
from tf1sessions.cluster.launching import Launch, LaunchSettings, task_jobs
from tf1sessions.cluster.marks import TASK_VARIABLE, Marks
from tf1sessions.cluster.ports import HeldPorts
from tf1sessions.cluster.tasks import Cluster
from tf1sessions.errors import ConfigError
from tf1sessions.scripts.events import JobEnded
from tf1sessions.scripts.folder import JobRecord
from tf1sessions.scripts.jobs import Job

CLUSTER = Cluster.at(["h:1", "h:2", "h:3"], ps=1, workers=2)
PS, FIRST, SECOND = range(3)


class StandIn:
    """Keeps what a run was asked for."""

    def __init__(self) -> None:
        self.notes: list[tuple[int | None, str]] = []
        self.completed: list[tuple[int, str]] = []
        self.failed: list[str] = []

    def note(self, text: str, index: int | None = None) -> None:
        self.notes.append((index, text))

    def complete(self, index: int, reason: str) -> None:
        self.completed.append((index, reason))

    def fail(self, reason: str) -> None:
        self.failed.append(reason)


@pytest.fixture
def run() -> StandIn:
    return StandIn()


@pytest.fixture
def marks(tmp_path: Path) -> Marks:
    return Marks(tmp_path)


@pytest.fixture
def watcher(run: StandIn, marks: Marks) -> Any:
    """A watcher of which all tasks run. Its ports are not in use."""
    found = launching._ServerWatcher(run, CLUSTER.tasks, frozenset({FIRST, SECOND}), [1, 2, 3], 1000.0)  # type: ignore[arg-type]
    found.marks = marks
    for index in range(3):
        found.begin(index)
    return found


def is_released(folder: Path) -> bool:
    return (folder / "released").exists()


def test_tasks_may_end_when_the_last_one_is_through(watcher: Any, run: StandIn, marks: Marks, tmp_path: Path) -> None:
    marks.set_through("worker:0")
    watcher._release_those_through()
    watcher._release_those_through()
    assert run.notes == [(FIRST, "is through; its server stays for the other workers")]
    assert not is_released(tmp_path)
    marks.set_through("worker:1")
    watcher._release_those_through()
    assert is_released(tmp_path) and len(run.notes) == 1 and run.completed == []


@pytest.mark.parametrize("what", ["server", "joined", "through", "released"])
def test_marks_in_a_folder_that_the_program_has_removed(tmp_path: Path, what: str) -> None:
    """They are set all the same, and those that the process had set are there again."""
    folder = tmp_path / "run" / ".claims"
    folder.mkdir(parents=True)
    mine = Marks(folder)
    mine.set_server("worker:1")
    shutil.rmtree(tmp_path / "run")
    {
        "server": lambda: mine.set_server("worker:0"),
        "joined": lambda: mine.set_joined("worker:0"),
        "through": lambda: mine.set_through("worker:0"),
        "released": mine.release,
    }[what]()
    assert sorted(os.listdir(folder)) == sorted([what if what == "released" else f"{what}-worker:0", "server-worker:1"])
    mine.forget("worker:1")
    mine.repeat()
    assert not mine.has_server("worker:1")


def test_a_task_that_waits_sets_its_marks_again_if_another_removes_them(tmp_path: Path) -> None:
    """It waits on: without its server the others could not go on."""
    mine = Marks(tmp_path / "run" / ".claims")
    mine.set_through("worker:0")
    waiting = threading.Thread(target=mine.wait_for_release, daemon=True)
    waiting.start()
    (tmp_path / "run").rename(tmp_path / "removed")  # at once: a mark that is set meanwhile would keep rmtree from it
    wait_for(lambda: mine.is_through("worker:0"), lambda: "the mark")
    assert waiting.is_alive()
    mine.release()
    waiting.join(30)
    assert not waiting.is_alive()


def test_marks_that_cannot_be_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """As where the program has put a file in the place of the run folder, or the disk is full."""
    monkeypatch.setattr(marks_module, "_POLL_SECS", 0.01)
    (tmp_path / "run").write_text("mine")
    mine = Marks(tmp_path / "run" / ".claims")
    mine.set_server("worker:0")
    mine.set_last("worker:0")
    mine.forget("worker:0")
    mine.set_through("worker:0")
    assert not mine.is_through("worker:0")
    mine.wait_for_release()
    assert caplog.messages == [caplog.messages[0]] and "marks for the other tasks cannot be set" in caplog.messages[0]


def test_the_release_is_set_again_while_tasks_are_there(watcher: Any, marks: Marks, tmp_path: Path) -> None:
    for task in ("worker:0", "worker:1"):
        marks.set_through(task)
    watcher._release_those_through()
    (tmp_path / "released").unlink()
    watcher._release_those_through()
    assert is_released(tmp_path)
    for index in range(3):
        watcher.end(index, True)
    shutil.rmtree(tmp_path)
    watcher._release_those_through()
    assert not tmp_path.exists()


def test_a_rank_that_removes_its_run_folder_has_called_init(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def program(payload: Any, end: Callable[[int], None]) -> int:
        for function in task_main.launched.at_init:
            function()
        shutil.rmtree(tmp_path)
        end(0)
        return 0

    monkeypatch.setattr(task_main.program, "execute", program)
    monkeypatch.setattr(task_main.launched, "at_init", [])
    monkeypatch.setenv(TASK_VARIABLE, "rank:0")
    task_main.execute_rank({"settings": {"claims_dir": str(tmp_path)}})
    assert Marks(tmp_path).has_server("rank:0")


def test_a_task_is_quicker_than_the_news_of_its_start(watcher: Any, marks: Marks) -> None:
    marks.set_server("worker:1")
    marks.set_joined("worker:1")
    watcher.begin(SECOND)
    assert marks.has_server("worker:1") and marks.has_joined("worker:1")


def test_a_task_that_starts_again_is_not_through(watcher: Any, marks: Marks, tmp_path: Path) -> None:
    marks.set_through("worker:0")
    watcher._release_those_through()
    watcher.end(FIRST, False)
    watcher.begin(FIRST)
    assert not marks.is_through("worker:0")
    marks.set_through("worker:1")
    watcher._release_those_through()
    assert not is_released(tmp_path)
    marks.set_through("worker:0")
    watcher._release_those_through()
    assert is_released(tmp_path)


@pytest.mark.parametrize("is_done", [True, False])
def test_one_that_waits_for_ever_ends_when_another_is_done(
    watcher: Any, run: StandIn, marks: Marks, is_done: bool
) -> None:
    """A worker that has joined its server, as in graphs that one worker runs; not because another one failed."""
    marks.set_joined("worker:1")
    watcher._release_those_through()
    assert run.completed == []
    watcher.end(FIRST, is_done)
    watcher._release_those_through()
    assert run.completed == [(SECOND, "ended when the workers were done")] * is_done


def test_one_that_joins_and_is_through_ends_with_the_others(watcher: Any, run: StandIn, marks: Marks) -> None:
    marks.set_joined("worker:0")
    marks.set_through("worker:0")
    watcher._release_those_through()
    assert run.completed == []
    marks.set_through("worker:1")
    watcher._release_those_through()
    assert run.completed == [(FIRST, "ended when the workers were done")]


def test_servers_are_known_by_marks_and_by_ports(run: StandIn, marks: Marks) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        ports = [1, server.getsockname()[1], 3]
        watcher = launching._ServerWatcher(run, CLUSTER.tasks, frozenset(), [1, 2, 3], 1000.0)  # type: ignore[arg-type]
        assert not watcher.look()
        marks.set_server("ps:0")
        watcher.marks = marks
        assert watcher.look()
        watcher = launching._ServerWatcher(run, CLUSTER.tasks, frozenset(), ports, 1000.0)  # type: ignore[arg-type]
        assert watcher.look()
    assert watcher.look()  # it was there once


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launching, "_LOOK_SECS", 0.01)
    monkeypatch.setattr(launching, "_NAMED_SECS", 0.05)


@pytest.mark.usefixtures("quick")
def test_tasks_without_a_server_are_named_once_and_end_the_run(watcher: Any, run: StandIn, marks: Marks) -> None:
    marks.set_server("worker:0")
    watcher.end(PS, False)
    watcher._limit_secs = 0.3
    with watcher.watching():
        wait_for(lambda: run.failed, "the end of the run")
        watcher.end_later(FIRST, 0.0)  # when it was looked once more
        wait_for(lambda: run.completed, "another look")
    named = "has built no server after 0.05 s; the other tasks wait for it"
    limit = "worker:1 built no server within 0.3 s"
    assert run.notes == [(SECOND, named), (None, f"{limit} (--start-limit)")]
    assert run.failed == [limit]


@pytest.mark.usefixtures("quick")
def test_the_last_at_work_is_named_once(watcher: Any, run: StandIn, marks: Marks) -> None:
    for task in CLUSTER.tasks:
        marks.set_server(task.name)
    watcher.end(FIRST, True)
    with watcher.watching():
        wait_for(lambda: run.notes, "a note")
        watcher.end_later(PS, 0.1)  # after which it has had time for a second note
        wait_for(lambda: run.completed, "the end of the other")
    ((index, text),) = run.notes
    assert index == SECOND and text.startswith("has been at work for 0.05 s since all others are through")
    assert run.completed == [(PS, "ended: the training was done, and its time was up")]


@pytest.mark.usefixtures("quick")
def test_one_that_has_ended_by_itself_is_not_ended(watcher: Any, run: StandIn, marks: Marks) -> None:
    for task in CLUSTER.tasks:
        marks.set_server(task.name)
    watcher.end_later(PS, 0.05)
    watcher.end_later(FIRST, 0.05)
    watcher.end_later(SECOND, 0.2)
    watcher.end(PS, True)
    with watcher.watching():
        wait_for(lambda: SECOND in dict(run.completed), "the end of the last")
    assert [index for index, _ in run.completed] == [FIRST, SECOND]


def test_jobs_of_the_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = LaunchSettings(restart=2)
    job = Job(script="train.py", args=("--place={task_index}",), env={"MINE": "1", "TF_CONFIG": "old"})
    jobs = task_jobs(job, CLUSTER, TaskFlags({"job_name": "kind"}), settings)
    assert [each.name for each in jobs] == ["ps:0", "worker:0", "worker:1"]
    assert jobs[SECOND].args == ("--kind=worker", "--place=1")
    assert [each.settings.visible_devices for each in jobs] == ["-1", None, None]
    assert [each.settings.retries for each in jobs] == [2, 2, 2]
    assert jobs[SECOND].env["MINE"] == "1" and jobs[SECOND].env[launching.TASK_VARIABLE] == "worker:1"
    assert json.loads(jobs[SECOND].env["TF_CONFIG"])["task"] == {"type": "worker", "index": 1}

    monkeypatch.setenv("TF_USE_LEGACY_KERAS", "1")
    monkeypatch.delenv("TF_ENABLE_ONEDNN_OPTS", raising=False)
    target = launching._target(LaunchSettings(ps=0, tf2=True, address="h"))
    assert target["more"] == {"loopback": False, "not_given": ["TF_ENABLE_ONEDNN_OPTS"]}
    assert launching._target(LaunchSettings())["more"] == {"loopback": True}


@pytest.fixture
def launch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Launch]:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text("import os\nprint(os.environ['TF_CONFIG'])\n")
    return lambda listener=None, **settings: Launch(Job(script="train.py"), LaunchSettings(**settings), listener)


def test_ports_are_let_go_of_when_a_run_cannot_be_made(
    launch: Callable[..., Launch], monkeypatch: pytest.MonkeyPatch
) -> None:
    with HeldPorts(1) as held:
        first = held.ports[0]

    def refuse(*args: Any) -> None:
        raise ConfigError("no run")

    with monkeypatch.context() as patch:
        patch.setattr(launching, "Run", refuse)
        with pytest.raises(ConfigError, match="no run") as caught:
            launch(ps=0, workers=1, first_port=first)
    with HeldPorts(1, first=first):
        assert caught.value.__traceback__ is not None  # which keeps the launch, and no port


def finish(launch: Launch, index: int, retried: bool = False, state: str = "done") -> None:
    name = launch.cluster.tasks[index].name
    launch._on_event(JobEnded(index, JobRecord(name, "train.py", (), state=state), retried))


def test_the_end_of_training_ends_the_rest(launch: Callable[..., Launch], marks: Marks) -> None:
    one = launch(evaluator=True, evaluator_limit_secs=7.0)
    run = StandIn()
    one.running = one._watcher._running = run  # type: ignore[assignment]
    one._watcher.marks = marks
    later: list[tuple[int, float]] = []
    one._watcher.end_later = lambda index, seconds: later.append((index, seconds))  # type: ignore[method-assign]
    marks.set_server("ps:0")
    finish(one, FIRST, retried=True, state="failed")
    finish(one, FIRST)
    finish(one, SECOND, retried=True, state="failed")
    assert (run.completed, later, run.failed) == ([], [], [])
    finish(one, SECOND)
    assert (run.completed, later, run.failed) == ([(PS, "ended when the workers were done")], [(3, 7.0)], [])


def test_a_program_without_servers_is_not_distributed(launch: Callable[..., Launch], marks: Marks) -> None:
    notes: list[Any] = []
    one = launch(notes.append)
    run = StandIn()
    one.running = one._watcher._running = run  # type: ignore[assignment]
    one._watcher.marks = marks
    finish(one, SECOND)
    assert run.failed == ["no task has built a server"] and one.is_not_distributed
    assert "worker:1 is done, and no task has built a tf.train.Server" in notes[-1].text


@pytest.mark.parametrize("there", [True, False])
def test_a_variable_of_another_cluster_is_said(
    launch: Callable[..., Launch], monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    monkeypatch.delenv("TF_CONFIG", raising=False)
    if there:
        monkeypatch.setitem(os.environ, "TF_CONFIG", "{")
    notes: list[Any] = []
    launch(notes.append)._say_how_tasks_learn_their_number()
    texts = ["each task learns which it is from TF_CONFIG"]
    texts += ["the TF_CONFIG of the environment is of another cluster, and is replaced"] * there
    assert [note.text for note in notes] == texts
