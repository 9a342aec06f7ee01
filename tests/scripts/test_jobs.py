"""Jobs and their settings: what is accepted, what is refused and how that reads."""

from __future__ import annotations

import math
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tf1sessions.errors import ConfigError, ScriptUsageError
from tf1sessions.scripts.jobs import Job, JobSettings, check_job, check_setting


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("memory_fraction", 0),
        ("memory_fraction", 0.0),
        ("memory_fraction", -0.5),
        ("memory_fraction", 1.01),
        ("memory_fraction", math.nan),
        ("memory_fraction", math.inf),
        ("memory_fraction", "0.5"),
        ("memory_fraction", True),
        ("memory_limit_mb", 0),
        ("memory_limit_mb", 1.5),
        ("threads", 0),
        ("threads", True),
        ("visible_devices", 0),
        ("visible_devices", "x"),
        ("time_limit", 0),
        ("time_limit", math.nan),
        ("time_limit", math.inf),
        ("retries", -1),
        ("retries", 1.0),
        ("fast_kernels", 1),
        ("seeds", "tf3"),
        ("fast_path", "yes"),
        ("queue_grace", -0.1),
        ("queue_grace", math.nan),
        ("queue_grace", math.inf),
        ("queue_grace", True),
    ],
)
def test_wrong_setting_is_named_with_its_value(key: str, value: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        JobSettings(**{key: value})
    assert key in str(caught.value)
    assert repr(value) in str(caught.value)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("memory_fraction", 1),
        ("memory_fraction", 0.001),
        ("memory_limit_mb", 1),
        ("threads", 1),
        ("visible_devices", ""),
        ("time_limit", 0.1),
        ("retries", 0),
        ("fast_kernels", False),
        ("seeds", "tf2"),
        ("fast_path", True),
        ("queue_grace", 0),
    ],
)
def test_setting_at_the_edge_of_its_range_is_kept(key: str, value: Any) -> None:
    assert getattr(JobSettings(**{key: value}), key) == value


def test_unknown_setting_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match="no such setting.*memory_fraction"):
        check_setting("memory", 1)


def test_settings_that_say_nothing_leave_the_others() -> None:
    above, below = JobSettings(retries=0, fast_path=False), JobSettings(retries=3, threads=2, fast_path=True)
    assert above.over(below) == JobSettings(retries=0, threads=2, fast_path=False)
    assert JobSettings().given() == {}


def test_job_is_complete_in_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    job = Job(script="sub/train.py", args=["--x"])  # type: ignore[arg-type]  # a list is taken too
    assert (job.path, job.cwd, job.name) == (f"{tmp_path}/sub/train.py", str(tmp_path), "train")
    assert job.args == ("--x",)
    assert job.identity() == {
        "script": f"{tmp_path}/sub/train.py",
        "module": None,
        "args": ["--x"],
        "env": {},
        "cwd": str(tmp_path),
    }


@pytest.mark.parametrize(
    ("job", "shown"),
    [
        (Job(script="a.py"), "a.py"),
        (Job(script="./a.py"), "./a.py"),
        (Job(script="a.py", cwd="/"), os.path.abspath("a.py")),
        (Job(script="a.py", path="/elsewhere/a.py"), "/elsewhere/a.py"),
        (Job(module="pack.mod"), "pack.mod"),
    ],
)
def test_path_is_shown_as_typed_unless_the_job_runs_elsewhere(job: Job, shown: str) -> None:
    assert job.shown == shown


@pytest.mark.parametrize(
    ("job", "kind"),
    [(Job(script="a.py"), "script"), (Job(script="a.ipynb"), "notebook"), (Job(module="a"), "module")],
)
def test_kind(job: Job, kind: str) -> None:
    assert job.kind == kind


@pytest.mark.parametrize("given", [{}, {"script": "a.py", "module": "a"}])
def test_job_needs_one_program(given: dict[str, str]) -> None:
    with pytest.raises(ScriptUsageError, match="a script or a module"):
        Job(**given)  # type: ignore[arg-type]


def test_deleted_current_folder_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(ScriptUsageError, match="current folder was deleted"):
        Job(script="a.py")


def test_files_are_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("good.py", "empty file é.py"):
        Path(name).touch()
        check_job(Job(script=name))
    Path("folder").mkdir()
    os.mkfifo("fifo.py")
    with zipfile.ZipFile("program.pyz", "w") as archive:
        archive.writestr("__main__.py", "print(1)")
    Path("loop.py").symlink_to("loop.py")
    for job, words in [
        (Job(script="none.py"), ["'none.py'", "No such file", str(tmp_path)]),
        (Job(script="folder"), ["'folder'", "a folder", "-m"]),
        (Job(script="fifo.py"), ["'fifo.py'", "not a regular file"]),
        (Job(script="program.pyz"), ["'program.pyz'", "a zip archive", "__main__.py"]),
        (Job(script="loop.py"), ["'loop.py'", "symbolic links"]),
        (Job(script="good.py/x.py"), ["'good.py/x.py'", "Not a directory"]),
        (Job(script="good.py", cwd="nowhere"), ["nowhere", "does not exist"]),
        (Job(script="a\0b.py"), ["zero byte"]),
        (Job(script="good.py", env={"A=B": "1"}), ["'A=B'", "environment variable"]),
        (Job(script="good.py", env={"A": "1\0"}), ["environment variable"]),
    ]:
        with pytest.raises(ScriptUsageError) as caught:
            check_job(job)
        for word in words:
            assert word in str(caught.value)


def test_unreadable_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "secret.py"
    path.touch(mode=0)
    if os.access(path, os.R_OK):  # root may read everything: then the answer of the system is played

        def refuse(*args: Any, **kwargs: Any) -> None:
            raise PermissionError(13, "Permission denied", str(path))

        monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(ScriptUsageError, match="secret.py.*Permission denied"):
        check_job(Job(script=str(path)))
