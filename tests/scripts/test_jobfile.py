"""Job files: what they stand for, and that each mistake is named with file, key and value."""

from __future__ import annotations

import os
import random
import re
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
        (
            "[[job]]\nscript='a'\n[job.grid]\nrate=0.1",
            ["job 1: grid.rate", "0.1 is not a list", "Write it as [0.1, 0.01]"],
        ),
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


# ------------------------------------------------------------------------------------------------------------- bounds


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[[job]]\nscript='a'\n\nrepeat=2000000", 4, "there is no room for 2000000 jobs more: a run may have 10,000"),
        ("[defaults]\nrepeat=0x" + "f" * 900 + "\n[[job]]\nscript='a'", 2, "a number of 3600 bits"),
        ("[[job]]\nscript='a'\n[job.grid]\na=[1,2]\nb=" + str(list(range(5001))), 5, "10,002 jobs so far"),
        (
            "[[job]]\nscript='a'\n[job.grid]\n" + "\n".join(f"k{n}={list(range(10))}" for n in range(9)),
            8,
            "100,000 jobs",
        ),
        ("[[job]]\nscript='a'\nrepeat=9999\n[[job]]\nscript='a'\nrepeat=2", 6, "no room for 2 jobs more"),
        ("[[job]]\nscript='a'\nargs=['" + "x" * 2000 + "']\nrepeat=9000", 1, "more than 10,000,000 characters"),
        (f"[[job]]\nscript='a'\nargs=['{'{a}' * 1000}']\ngrid={{a=['{'x' * 20_000}']}}", 1, "10,000,000 characters"),
        (
            f"[[job]]\nscript='a'\nrepeat=9000\ngrid={{{','.join(f'a{n}=[1]' for n in range(99))}}}",
            1,
            "10,000,000 char",
        ),
        ("\n[[job]]\nscript='" + "x" * 5000 + "'", 3, "has 5,000 characters, more than 4,096"),
        ("\n[[job]]\nscript='a'\nname='" + "x" * 400_000 + "'", 4, "has 400,000 characters, more than 200"),
        ("[[job]]\nscript='a'\nname=\"a\\u0000\"", 3, "has a NUL character in it"),
        ('[[job]]\nscript="a\\u0000"', 2, "has a NUL character in it"),
        ("[[job]]\nscript='a'\ncwd=\"a\\u0000\"", 3, "has a NUL character in it"),
        ("[[job]]\nscript='a'\nargs=[\"a\\u0000\"]", 3, "args[0]: 'a\\x00' has a NUL character in it"),
        ("[[job]]\nscript='a'\nenv={A=\"a\\u0000\"}", 3, "env.A: 'a\\x00' has a NUL character in it"),
        ("[[job]]\nscript='a'\nenv={\"A=B\"='x'}", 3, "cannot be the name of an environment variable"),
        ("[[job]]\nscript='a'\nenv.''='x'", 3, "cannot be the name of an environment variable"),
        ("[[job]]\nscript='a'\ngrid.\"a\\u0000\"=[1]", 3, "no argument can have this name"),
        ("x=" + "[" * 100_000, 1, "brackets are nested more than 16 deep"),
        ("x=" + "{a=" * 100_000, 1, "brackets are nested more than 16 deep"),
        ("\n" + "a." * 100_000 + "a=1", 2, "a key has more than 16 parts"),
        ("[[job]]\nscript='a'\nargs=[" + "9" * 5000 + "]", 3, "more than 1,000 characters, and no quotes"),
        ("[[job]]\nscript='a'\n[[job]]\nscript='b'\nsettings.threads=0", 5, "0 is not a whole number of 1 or more"),
        ("[[job]]\nscript='a'\n[job.settings]\n\nthreads=99999999999", 5, "99999999999 is more than 10,000"),
        ("[[job]]\nscript='a'\nsettings={" + "x" * 900 + "=1}", 3, "there is no such setting"),
        ("[defaults]\n\n[[job]]\nscript='a'\nscript='b'", 5, "not a TOML file"),
        ("[[job]]\nscript='a'\nname='", 3, "not a TOML file"),
        ("[[job]]\nscript='a'\ndate=1979-99-99", 3, "not a TOML file"),
        ("job = [\n{script='a'},\n{script=3},\n]", 1, "job 2: script: 3 is not a text"),
    ],
)
def test_bounds_and_lines(tmp_path: Path, text: str, line: int, words: str) -> None:
    path = tmp_path / "jobs.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(JobFileError) as caught:
        read_job_file(path)
    assert f"(from line {line} of the job file {path})" in str(caught.value)
    assert words in str(caught.value) and len(str(caught.value)) < 600


@pytest.mark.parametrize("key", sorted(JobSettings.__dataclass_fields__))
def test_each_setting_has_bounds(tmp_path: Path, key: str) -> None:
    refused = []
    for value in ("1e400", "-1e400", "nan", "-1", "-0.5", str(2**80), f"0x{'f' * 900}", "1979-05-27", "''", "[]", "{}"):
        path = write(tmp_path, f"[[job]]\nscript = 'a'\nsettings.{key} = {value}")
        try:
            (job,) = read_job_file(path)
        except JobFileError as error:
            refused.append(value)
            assert f"settings.{key}: " in str(error) and "line 3 of" in str(error) and len(str(error)) < 400
        else:
            assert (key, value, getattr(job.settings, key)) == ("visible_devices", "''", "")
    assert len(refused) >= 10


def test_what_is_near_the_bounds_is_taken(tmp_path: Path) -> None:
    path = write(
        tmp_path, f"[[job]]\nscript='a'\nargs=['{'x' * 900}']\n[job.grid]\na={list(range(100))}\nb={list(range(100))}"
    )
    assert len(read_job_file(path)) == 10_000
    (job,) = read_job_file(write(tmp_path, f"[[job]]\nscript='{'x' * 4096}'\ngrid={{a=['{'y' * 1000}']}}"))
    assert len(job.name) == 200 and job.args == (f"--a={'y' * 1000}",)


def test_files_that_are_no_files_or_too_large(tmp_path: Path) -> None:
    path = tmp_path / "jobs.toml"
    with open(path, "wb") as file:
        file.truncate(100_000_000)
    with pytest.raises(JobFileError, match=r"jobs.toml': it has more than 500,000 bytes"):
        read_job_file(path)
    os.mkfifo(tmp_path / "pipe.toml")
    with pytest.raises(JobFileError, match="pipe.toml': it is not a regular file"):
        read_job_file(tmp_path / "pipe.toml")
    with pytest.raises(JobFileError, match="no file has such a name"):
        read_job_file("a\0.toml")


GOOD = """\
[defaults]
args = ["--data=digits.npz", 3, true, 0.5]
env = {SEED = "{repeat}", "A B" = '''x'''}
settings = {time_limit = 600, retries = 1, visible_devices = "0,1"}
repeat = 2

[[job]]
script = "train.py"  # a comment
args = ["--out=model_{rate}", \"\"\"two
lines\"\"\"]
cwd = "work"
[job.grid]
rate = [0.1, 1e-2, 0x10, inf]
[[job]]
module = "package.rnn"
name = "rnn \\u00e9"
settings.threads = 2
"""
PIECES = [*"[]{}\"'\\.,=#\n\0\x1b\r\ufeffé", *"\\u202e \\ud800 \"\"\" ''' {rate} [[job]] [job.grid]".split()]
PIECES += "script grid repeat env settings true 9 -1 1e400 nan 1979-05-27 0xff".split()


def broken(rng: random.Random) -> bytes:
    """A job file with some damage."""
    text = GOOD
    for _ in range(rng.randint(0, 4)):
        begin = rng.randrange(len(text) + 1)
        end = min(len(text), begin + rng.choice([0, 0, 1, 3, 20]))
        piece = rng.choice([rng.choice(PIECES), GOOD[begin : begin + 30], ""]) * rng.choice([1, 1, 1, 2, 5000])
        text = text[:begin] + piece + text[end:]
    data = text.encode("utf-8")
    if rng.random() < 0.1:
        data = data[: rng.randrange(len(data) + 1)] + bytes([rng.randrange(256)])
    return data


def test_any_input_gives_jobs_or_an_error_with_its_line(tmp_path: Path) -> None:
    rng, path = random.Random(19), tmp_path / "jobs.toml"
    read = 0
    for _ in range(400):
        data = broken(rng)
        path.write_bytes(data)
        try:
            read += bool(read_job_file(path))
        except JobFileError as error:
            found = re.search(r"\(from line (\d+) of the job file ", str(error))
            assert found and 1 <= int(found[1]) <= max(1, data.count(b"\n") + 1), (str(error), data)
            assert len(str(error)) < 800
    assert 20 < read < 380
