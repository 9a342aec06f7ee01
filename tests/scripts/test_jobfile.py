"""Job files: what they stand for, and that each mistake is named with file, key and value."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tf1sessions.errors import JobFileError
from tf1sessions.scripts import jobfile
from tf1sessions.scripts.jobfile import read_job_file
from tf1sessions.scripts.jobs import JobSettings


def write(folder: Path, text: str) -> Path:
    path = folder / "jobs.toml"
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return path


def test_example_of_the_docstring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    jobs = read_job_file(write(tmp_path, (jobfile.__doc__ or "").partition("::\n")[2].partition("Flow:")[0]))
    assert len(jobs) == 2 * 2 * 2
    assert [job.args for job in jobs[:3]] == [
        ("--data=digits.npz", "--epochs=3", "--rate=0.1", "--units=32"),
        ("--data=digits.npz", "--epochs=3", "--rate=0.1", "--units=32"),
        ("--data=digits.npz", "--epochs=3", "--rate=0.1", "--units=64"),
    ]
    assert jobs[0].name == "train rate=0.1 units=32 #0"
    assert {job.path for job in jobs} == {f"{tmp_path}/train.py"}
    assert {job.cwd for job in jobs} == {f"{tmp_path}/work"}
    assert {job.settings for job in jobs} == {JobSettings(time_limit=600)}
    assert {job.env["SEED"] for job in jobs} == {"1"}


def test_placeholders_and_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = write(
        tmp_path,
        """
        [defaults]
        env = {A = "default", B = "{rate}"}
        settings = {retries = 1, threads = 2}
        repeat = 2
        [[job]]
        module = "pack.train"
        name = "search"
        args = ["--dir=out_{rate}_{repeat}", "{other}", "{}", 3, true, 0.5]
        env = {A = 7}
        settings = {threads = 1}
        [job.grid]
        rate = [1e-2]
        flag = [true, "no"]
        [[job]]
        script = "plain.py"
        repeat = 1
        """,
    )
    jobs = read_job_file(path)
    assert [job.args for job in jobs] == [
        ("--dir=out_0.01_0", "{other}", "{}", "3", "true", "0.5", "--flag=true"),
        ("--dir=out_0.01_1", "{other}", "{}", "3", "true", "0.5", "--flag=true"),
        ("--dir=out_0.01_0", "{other}", "{}", "3", "true", "0.5", "--flag=no"),
        ("--dir=out_0.01_1", "{other}", "{}", "3", "true", "0.5", "--flag=no"),
        (),
    ]
    assert jobs[0].env == {"A": "7", "B": "0.01"}
    assert jobs[0].settings == JobSettings(retries=1, threads=1)
    assert jobs[1].name == "search rate=0.01 flag=true #1"
    assert (jobs[4].env, jobs[4].name) == ({"A": "default", "B": "{rate}"}, "plain")
    assert jobs[4].cwd == str(tmp_path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["job: there is none", "[[job]]"]),
        ("job = 3", ["job: there is none"]),
        ("job = [3]", ["job 1", "3 is not a table"]),
        ("[[job]\n", ["not a TOML file"]),
        ("[[jobs]]\nscript='a'", ["jobs: there is no such key", "defaults, job"]),
        ("[[job]]\nname='a'", ["job 1", "either a script or a module"]),
        ("[[job]]\nscript='a'\nmodule='b'", ["job 1", "either a script or a module"]),
        ("[[job]]\nscript=''", ["job 1: script", "empty"]),
        ("[[job]]\nscript=3", ["job 1: script", "3 is not a text"]),
        ("[[job]]\nscript='a'\n[[job]]\nscript='b'\narg=['x']", ["job 2: arg: there is no such key", "args"]),
        ("[[job]]\nscript='a'\nargs='--x'", ["job 1: args", "'--x' is not a list"]),
        ("[[job]]\nscript='a'\nargs=['x', ['y']]", ["job 1: args[1]", "['y']"]),
        ("[[job]]\nscript='a'\nargs=[1979-05-27]", ["job 1: args[0]", "1979"]),
        ("[[job]]\nscript='a'\nenv={A=[1]}", ["job 1: env.A", "[1]"]),
        ("[[job]]\nscript='a'\nenv=['A=1']", ["job 1: env", "not a table"]),
        ("[[job]]\nscript='a'\ncwd=1", ["job 1: cwd", "1"]),
        ("[[job]]\nscript='a'\nrepeat=0", ["job 1: repeat", "0"]),
        ("[[job]]\nscript='a'\nrepeat=true", ["job 1: repeat", "True"]),
        ("[defaults]\nrepeat=-1\n[[job]]\nscript='a'", ["defaults.repeat", "-1"]),
        ("[defaults]\nscript='a'\n[[job]]\nscript='a'", ["defaults.script", "no such key"]),
        ("[defaults]\nsettings={memory_fraction=0}\n[[job]]\nscript='a'", ["defaults.settings.memory_fraction", "0"]),
        ("[[job]]\nscript='a'\nsettings={memory_fraction=nan}", ["job 1: settings.memory_fraction", "nan"]),
        ("[[job]]\nscript='a'\nsettings={speed=1}", ["job 1: settings.speed", "no such setting"]),
        ("[[job]]\nscript='a'\n[job.grid]\nrate=[]", ["job 1: grid.rate", "no values"]),
        ("[[job]]\nscript='a'\n[job.grid]\nrate=0.1", ["job 1: grid.rate", "0.1 is not a list"]),
        ("[[job]]\nscript='a'\n[job.grid]\nrepeat=[1]", ["job 1: grid.repeat", "taken"]),
    ],
)
def test_mistake_is_named(tmp_path: Path, text: str, words: list[str]) -> None:
    path = write(tmp_path, text)
    with pytest.raises(JobFileError) as caught:
        read_job_file(path)
    for word in [*words, str(path)]:
        assert word in str(caught.value)


def test_file_that_is_not_there_or_not_text(tmp_path: Path) -> None:
    with pytest.raises(JobFileError, match="none.toml.*No such file"):
        read_job_file(tmp_path / "none.toml")
    with pytest.raises(JobFileError, match="Is a directory"):
        read_job_file(tmp_path)
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(JobFileError, match="not a TOML file.*bytes.toml"):
        read_job_file(tmp_path / "bytes.toml")
