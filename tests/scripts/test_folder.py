"""The run folder: its names, its jobs.json at every moment, its lock, and what may be resumed."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import os
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tf1sessions.cli.formatting import summary_table
from tf1sessions.errors import ScriptUsageError
from tf1sessions.pools.fork_server import WorkerResult, WorkerSpec
from tf1sessions.scripts.claims import Claims
from tf1sessions.scripts.folder import JobRecord, RunFolder, plan_resume, read_records
from tf1sessions.scripts.jobs import Job, JobSettings
from tf1sessions.scripts.runner import RunSettings, run_jobs


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


JOBS = [Job(script="a.py", args=("--x", "é"), env={"A": "1"}), Job(module="pack.mod"), Job(script="a.py", args=("2",))]


def test_fresh_folders_have_the_date_and_never_meet() -> None:
    folders = [RunFolder.create(None, JOBS) for _ in range(3)]
    names = [str(folder.path) for folder in folders]
    assert len(set(names)) == 3
    for folder in folders:
        assert re.fullmatch(r"runs/\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d(-\d)?", str(folder.path))
        folder.close()


def test_logs_of_any_name_are_distinct_files(tmp_path: Path) -> None:
    names = ["train", "train", "../../etc/x", "", "a b\nc", "é 名前", "-rf", "x" * 300, ".", "rate=0.1 units=32"]
    jobs = [Job(script=f"{name}.py", name=name) for name in names]
    with RunFolder.create("run", jobs) as folder:
        logs = [record.log for record in folder.records]
        assert len(set(logs)) == len(names)
        for index, log in enumerate(logs):
            assert folder.log_path(index).parent == Path("run")
            assert re.fullmatch(rf"{index + 1:02}-[^\s/]+\.log", log)
            folder.log_path(index).touch()
        assert logs[0] == "01-train.log"
        assert logs[5] == "06-é_名前.log"


def test_records_are_read_back_as_they_were() -> None:
    jobs = [*JOBS, Job(script="n.ipynb", cwd="/", settings=JobSettings(threads=2, memory_fraction=0.5))]
    with RunFolder.create("run", jobs) as folder:
        folder.update(0, state="done", exit_code=0, seconds=1.5, peak_memory_mb=3.0, attempts=1)
        folder.update(1, state="killed", exit_code=-9, signal="SIGKILL", leftovers=("12 sleep",), warnings=("w",))
        assert read_records("run") == folder.records
        assert [record.job() for record in read_records("run")] == jobs


def test_a_byte_name_that_is_no_text_survives() -> None:
    job = Job(script=os.fsdecode(b"\xff.py"), args=(os.fsdecode(b"\xfe"),))
    with RunFolder.create("run", [job]) as folder:
        assert read_records("run")[0].job() == job
        folder.log_path(0).touch()


def test_list_is_whole_when_writing_it_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    with RunFolder.create("run", JOBS) as folder:
        before = Path("run/jobs.json").read_bytes()

        def fail(fd: int) -> None:
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", fail)
            assert folder.update(0, state="running").state == "running"  # the jobs go on
        assert folder.unwritten is not None and folder.unwritten.errno == 28
        assert Path("run/jobs.json").read_bytes() == before
        folder.update(0, state="done")
        assert folder.unwritten is None
        assert read_records("run")[0].state == "done"


def test_folder_that_a_job_deletes_is_made_again() -> None:
    with RunFolder.create("run", JOBS) as folder:
        shutil.rmtree("run")
        folder.update(0, state="done")
        os.close(folder.open_log(1))
        assert read_records("run")[0].state == "done"
        assert sorted(os.listdir("run")) == [".claims", ".jobs", ".lock", folder.records[1].log, "jobs.json"]
        with pytest.raises(ScriptUsageError, match="another run uses"):  # the new folder is locked, too
            RunFolder.resume("run", None)
        shutil.rmtree("run")
        Path("run").touch()
        folder.update(1, state="done")
        assert folder.unwritten is not None
    assert os.listdir(".") == ["run"]


def test_a_folder_that_another_run_has_made_again_is_left_to_it() -> None:
    with RunFolder.create("run", JOBS) as folder:
        shutil.rmtree("run")
        with RunFolder.create("run", JOBS[:1]) as other:
            folder.update(0, state="done")
            assert folder.unwritten is not None and "another run" in str(folder.unwritten)
            with pytest.raises(BlockingIOError):
                folder.open_log(0)
            folder.close()
            assert other.claims.exists() and len(read_records("run")) == 1


def test_a_resume_that_is_refused_later_has_changed_nothing() -> None:
    with RunFolder.create("run", JOBS) as folder:
        folder.update(0, state="failed", exit_code=3, error="line")
    before = Path("run/jobs.json").read_bytes()
    with RunFolder.resume("run", None) as folder:
        assert folder.records[0].state == "pending"
    assert Path("run/jobs.json").read_bytes() == before


def test_pipes_and_devices_in_place_of_its_files() -> None:
    with RunFolder.create("run", JOBS) as folder:
        os.mkfifo(folder.log_path(0))
        with pytest.raises(OSError, match="No such device"):
            folder.open_log(0)
        folder.log_path(0).unlink()
        Path("mine").write_text("mine")
        folder.log_path(0).symlink_to(os.path.abspath("mine"))
        with pytest.raises(OSError, match="it is a symbolic link"):
            folder.open_log(0)
        assert Path("mine").read_text() == "mine"
        Path("run/jobs.json.new").symlink_to(os.path.abspath("mine"))
        folder.update(0, state="done")
        assert Path("mine").read_text() == "mine" and read_records("run")[0].state == "done"
    Path("run/jobs.json").unlink()
    Path("run/jobs.json").symlink_to("/dev/zero")
    with pytest.raises(ScriptUsageError, match="it is not a regular file"):
        RunFolder.resume("run", None)


@pytest.mark.parametrize("name", [".lock", ".jobs"])
def test_links_of_others_in_place_of_its_locks_make_no_file(name: str) -> None:
    os.mkdir("run")
    Path("run", name).symlink_to(os.path.abspath("elsewhere"))
    with pytest.raises(ScriptUsageError, match=rf"it is a symbolic link \(run/{name}\)"):
        RunFolder.create("run", JOBS)
    assert not os.path.lexists("elsewhere")


@pytest.mark.parametrize("instead", ["pipe", "link", "file", "device"])
def test_what_others_put_in_place_of_the_claims_is_removed(instead: str) -> None:
    os.mkdir("mine")
    Path("mine/claim").touch()
    path = Path("run/.claims")
    put = {
        "pipe": lambda: os.mkfifo(path),
        "link": lambda: path.symlink_to(os.path.abspath("mine")),
        "file": path.touch,
        "device": lambda: path.symlink_to("/dev/null"),
    }[instead]
    os.mkdir("run")
    put()
    with RunFolder.create("run", JOBS) as folder:
        assert folder.claims.is_dir() and not folder.claims.is_symlink()
        assert folder.claims.stat().st_mode & 0o777 == 0o700
        folder.claims.rmdir()
        put()
    assert not os.path.lexists(path) and os.listdir("mine") == ["claim"]


def test_a_claim_is_not_written_through_a_link() -> None:
    """Its name can be foreseen by whoever may write in the folder."""
    os.mkdir("claims")
    Path("mine").write_text("mine")
    name = hashlib.sha256(os.fsencode(os.path.realpath("model"))).hexdigest()
    os.symlink(os.path.abspath("mine"), f"claims/{name}")
    assert Claims("claims", "job", "mark").claim("model") is None
    assert Path("mine").read_text() == "mine"


def test_records_are_not_written_through_a_link_that_comes_late(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("mine").write_text("mine")
    with RunFolder.create("run", JOBS) as folder, monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", lambda path, missing_ok: path.symlink_to(os.path.abspath("mine")))
        folder.update(0, state="done")
        assert isinstance(folder.unwritten, FileExistsError)
    assert Path("mine").read_text() == "mine"


@pytest.mark.parametrize("instead", ["pipe", "link", "folder", "device"])
def test_what_a_job_puts_in_place_of_its_log_is_not_written(instead: str) -> None:
    Path("mine").write_text("mine")
    with RunFolder.create("run", JOBS) as folder:
        log = folder.open_log(0)
        os.write(log, b"said\n")
        path = folder.log_path(0)
        path.unlink()
        {
            "pipe": lambda: os.mkfifo(path),
            "link": lambda: path.symlink_to(os.path.abspath("mine")),
            "folder": path.mkdir,
            "device": lambda: path.symlink_to("/dev/null"),
        }[instead]()
        with pytest.raises(OSError, match="No such device|symbolic link|directory"):
            folder.restore_log(log, path)
        os.close(log)
    assert Path("mine").read_text() == "mine"


def test_reader_sees_the_old_list_or_the_new_one() -> None:
    with RunFolder.create("run", JOBS) as folder, open("run/jobs.json") as reader:
        folder.update(0, state="done")
        assert [entry["state"] for entry in json.load(reader)] == ["pending"] * 3
        assert sorted(os.listdir("run")) == [".claims", ".jobs", ".lock", "jobs.json"]


def test_folder_that_holds_a_run_is_not_used_again() -> None:
    RunFolder.create("run", JOBS).close()
    with pytest.raises(ScriptUsageError, match="'run' holds a run already.*--resume run"):
        RunFolder.create("run", JOBS)


def test_other_files_in_the_folder_stay() -> None:
    Path("out").mkdir()
    Path("out/mine.txt").write_text("kept")
    RunFolder.create("out", JOBS).close()
    assert Path("out/mine.txt").read_text() == "kept"


def test_a_file_with_the_name_of_a_log_is_not_written_to() -> None:
    with RunFolder.create("first", JOBS) as folder:
        names = [folder.log_path(1).name, folder.deprecations_path(1).name]
    Path("out").mkdir()
    for taken in names:
        Path("out", taken).write_text("mine")
        with pytest.raises(ScriptUsageError, match=f"'out' holds no run, and a file '{re.escape(taken)}'.*--out"):
            RunFolder.create("out", JOBS)
        assert os.listdir("out") == [taken] and Path("out", taken).read_text() == "mine"
        Path("out", taken).unlink()


def test_folder_that_cannot_be_made() -> None:
    Path("file").touch()
    with pytest.raises(ScriptUsageError, match="run folder 'file/run'.*--out"):
        RunFolder.create("file/run", JOBS)


def test_two_runs_never_use_one_folder() -> None:
    with RunFolder.create("run", JOBS):
        with pytest.raises(ScriptUsageError, match="another run uses"):
            RunFolder.resume("run", None)
    RunFolder.resume("run", None).close()


def test_a_resume_sees_what_the_run_before_it_wrote_at_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    before = RunFolder.create("run", JOBS)

    def look(path: str) -> list[JobRecord]:
        records = read_records(path)
        if before.records[0].state != "done":  # the other run ends after the first look
            before.update(0, state="done", attempts=1)
            before.close()
        return records

    monkeypatch.setattr("tf1sessions.scripts.folder.read_records", look)
    with RunFolder.resume("run", None, JobSettings(retries=3)) as folder:
        assert (folder.records[0].state, folder.records[0].attempts) == ("done", 1)
        assert folder.records[1].job().settings.retries == 3
    with pytest.raises(ScriptUsageError, match="is another one"):
        RunFolder.resume("run", [*JOBS[:-1], Job(script="other.py")])
    RunFolder.resume("run", None).close()  # what was refused holds no lock


def test_a_resume_waits_for_jobs_of_a_run_that_was_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = RunFolder.create("run", JOBS)
    assert folder.jobs_lock is not None
    of_server = os.dup(folder.jobs_lock)
    folder.close()
    with monkeypatch.context() as patch:
        patch.setattr("tf1sessions.scripts.folder._JOBS_SECS", 0.0)
        with pytest.raises(ScriptUsageError, match="was killed have not ended in 0 s"):
            RunFolder.resume("run")
    monkeypatch.setattr("tf1sessions.scripts.folder.sleep", lambda secs: os.close(of_server))  # the jobs end meanwhile
    RunFolder.resume("run").close()


def test_claims_live_as_long_as_the_run() -> None:
    with RunFolder.create("run", JOBS) as folder:
        (folder.claims / "left").touch()
    assert not folder.claims.exists()
    folder.claims.mkdir()  # of a run that was killed
    (folder.claims / "old").touch()
    with RunFolder.resume("run", None) as folder:
        assert list(folder.claims.iterdir()) == []
    folder.close()


def test_what_was_not_done_is_pending_again() -> None:
    states = ["done", "failed", "killed", "timeout", "cancelled", "skipped", "running", "pending"]
    with RunFolder.create("run", [Job(script=f"{state}.py") for state in states]) as folder:
        for index, state in enumerate(states):
            folder.update(index, state=state, attempts=1, reason="because", seconds=1.0)
        logs = [record.log for record in folder.records]
    with RunFolder.resume("run", None) as folder:
        assert [record.state for record in folder.records] == ["done"] + ["pending"] * 7
        assert folder.records[0].seconds == 1.0
        assert (folder.records[1].seconds, folder.records[1].reason, folder.records[1].attempts) == (None, None, 1)
        assert [record.log for record in folder.records] == logs


@pytest.mark.parametrize(
    ("jobs", "words"),
    [
        (JOBS[:2], ["has 3 jobs, and 2 are given"]),
        ([JOBS[0], JOBS[1], JOBS[0]], ["job 3", "args was ['2'], and is now ['--x', 'é']"]),
        ([Job(script="b.py", args=("--x", "é"), env={"A": "1"}), *JOBS[1:]], ["job 1", "script was", "/b.py'"]),
        ([Job(script="a.py", args=("--x", "é"), env={"A": "2"}), *JOBS[1:]], ["job 1", "env was {'A': '1'}"]),
        ([JOBS[0], Job(module="pack.other"), JOBS[2]], ["job 2", "module was 'pack.mod'"]),
        ([JOBS[0], Job(module="pack.mod", cwd="/"), JOBS[2]], ["job 2", "cwd was", "is now '/'"]),
    ],
)
def test_other_jobs_are_refused_and_the_difference_is_said(jobs: list[Job], words: list[str], tmp_path: Path) -> None:
    def here(job: Job) -> Job:  # the jobs were made before the test's folder was the current one
        return Job(job.script, job.module, job.args, job.env, "/" if job.cwd == "/" else "")

    RunFolder.create("run", [here(job) for job in JOBS]).close()
    before = Path("run/jobs.json").read_bytes()
    with pytest.raises(ScriptUsageError) as caught:
        RunFolder.resume("run", [here(job) for job in jobs])
    for word in [*words, "--resume run"]:
        assert word in str(caught.value)
    assert Path("run/jobs.json").read_bytes() == before


def test_the_same_jobs_may_have_other_settings() -> None:
    RunFolder.create("run", [Job(script="a.py", settings=JobSettings(time_limit=1))]).close()
    (record,) = plan_resume("run", [Job(script="./a.py", settings=JobSettings(time_limit=9))])
    assert record.job().settings == JobSettings(time_limit=9)


@pytest.mark.parametrize(
    "text",
    ["", "{", "3", "[]", "[3]", "[{}]", '[{"name": "a"}]', "\xff", '{"jobs": []}', "[" * 100_000, "9" * 10_000],
)
def test_file_that_no_run_wrote(text: str) -> None:
    Path("run").mkdir()
    Path("run/jobs.json").write_text(text, encoding="latin-1")
    with pytest.raises(ScriptUsageError, match="run/jobs.json.*not the record of a run"):
        read_records("run")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"state": "finished"}, "state is 'finished', not one of pending, running"),
        ({"settings": {"threads": 0}}, "script, module or settings: threads"),
        ({"settings": {"thread": 1}}, "script, module or settings: .*thread"),
        ({"args": 3}, "args is 3, not a list of texts"),
        ({"unknown": 1}, "'unknown' is not a field"),
        ({"script": None}, "script, module or settings: a job needs a script or a module"),
        ({"script": [[]]}, "script is .*, not a text or null"),
        ({"log": "../../x"}, "log is '../../x', not the name of a file"),
        ({"log": "jobs.json"}, "log is 'jobs.json', not the name of a file that ends with .log"),
        ({"log": ""}, "log is ''"),
        ({"env": [1]}, "env is .*, not variables with their texts"),
        ({"env": ""}, "env is '', not variables with their texts"),
        ({"env": {"A": 1}}, "env is .*, not variables with their texts"),
        ({"attempts": True}, "attempts is True, not a whole number"),
        ({"seconds": math.nan}, "seconds is nan, not a number of 0 or more"),
    ],
)
def test_record_that_was_edited_wrongly(change: dict[str, Any], words: str) -> None:
    RunFolder.create("run", [Job(script="b.py"), Job(script="a.py")]).close()
    entries = json.loads(Path("run/jobs.json").read_text())
    Path("run/jobs.json").write_text(json.dumps([entries[0], entries[1] | change]))
    with pytest.raises(ScriptUsageError, match=f"'run/jobs.json' is not the record of a run: job 2: {words}"):
        read_records("run")


class _Done:
    """A server, each of its handles, and how each of its workers ends."""

    pid, cold_reasons = 1, ()

    def __init__(self, env: Mapping[str, str] | None = None) -> None:
        self.spawned = 0

    def start(self) -> None: ...

    def wait_ready(self, timeout: float) -> None: ...

    def spawn(self, spec: WorkerSpec) -> _Done:
        self.spawned += 1
        json.dumps(spec.payload)
        return self

    def wait(self, timeout: float | None = None) -> WorkerResult:
        return WorkerResult(0, None, 1.0, 1.0, True, ())

    def close(self) -> None: ...


ODD = [
    None, True, 0, 1, -1, 0.5, 300, 10**30, -math.inf, math.nan, "", "x", "a.log", "\0", "\ud800", "/", "done", [],
    [[]], [""], ["x", 1], [None], {}, {"": ""}, {"a": 1}, {"a": "b=c"}, {"threads": "1"}, {"time_limit": 10**400},
]  # fmt: skip


@pytest.mark.parametrize("key", [field.name for field in dataclasses.fields(JobRecord)])
def test_every_odd_value_of_every_field_is_refused_or_runs(key: str) -> None:
    """Refused before anything starts, by an error that names the file and the field; else it is run to its end."""
    Path("a.py").touch()
    RunFolder.create("run", [Job(script="a.py")]).close()
    (entry,) = json.loads(Path("run/jobs.json").read_text())
    for value in ODD:
        Path("run/jobs.json").write_text(json.dumps([entry | {key: value}]))
        server = _Done()
        settings = RunSettings(resume="run", server=lambda env, server=server: server)  # type: ignore[misc, arg-type]
        try:
            summary = run_jobs(None, settings)
        except ScriptUsageError as error:
            assert server.spawned == 0 and "Errno" not in str(error)
            named = "run/jobs.json" in str(error) and key in str(error)
            # What only the machine knows: whether there is such a file, folder or variable.
            assert named or key in ("script", "path", "module", "cwd", "env"), (value, str(error))
        else:
            assert [record.state for record in summary.records] == ["done"], value
            assert summary_table(summary.records, colours=False) and json.dumps(summary.to_json())


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (os.mkfifo, "it is not a regular file"),
        (os.mkdir, "Is a directory"),
        (lambda path: os.symlink("/dev/null", path), "it is not a regular file"),
    ],
)
def test_record_that_is_no_regular_file(make: Callable[[str], None], why: str) -> None:
    """A pipe or a device may have no end."""
    Path("run").mkdir()
    make("run/jobs.json")
    with pytest.raises(ScriptUsageError, match=f"'run/jobs.json' is not the record of a run: {why}"):
        read_records("run")


def test_no_run_to_resume() -> None:
    Path("file").touch()
    for path in ("nowhere", ".", "file"):
        with pytest.raises(ScriptUsageError, match="no run to resume"):
            RunFolder.resume(path, None)
