"""The command itself: help, version, wrong calls, and that these load nothing heavy."""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from support import PythonRun

import tf1sessions
from tf1sessions.cli.main import cli


def call(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "tf1sessions", *args], capture_output=True, text=True, timeout=60)


def test_help_names_each_command_and_shows_an_example() -> None:
    done = call("--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "tf1sessions run train_a.py train_b.py -j 2" in done.stdout
    assert "  run  " in done.stdout


def test_help_of_run_names_each_option() -> None:
    done = call("run", "-h")
    assert (done.returncode, done.stderr) == (0, "")
    for option in (
        "-m", "-j", "--out", "--resume", "--time-limit", "--retries", "--keep-going", "--fail-fast", "--grace",
        "--queue-grace",
        "--threads", "--memory-fraction", "--memory-limit-mb", "--gpus", "--visible-devices", "--fast-kernels",
        "--dry-run", "--json",
    ):  # fmt: skip
        assert option in done.stdout
    assert "SCRIPT... [-- ARGS]" in done.stdout


@pytest.mark.parametrize(
    "args", ["--help", "run --dry-run scripts/train.py", "run scripts/train.py", "warm status", "port --help"]
)
def test_files_in_the_working_directory_are_no_modules_of_the_command(args: str, tmp_path: Path) -> None:
    """``python -m`` has that folder first on its path. What it imports before us is as it finds it."""
    before = "import sys, runpy, tf1sessions; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", before], capture_output=True, text=True, timeout=60, check=True)
    for name in sys.stdlib_module_names - {loaded.partition(".")[0] for loaded in done.stdout.split()}:
        (tmp_path / f"{name}.py").write_text("raise SystemExit(f'{__name__} of the working directory')\n")
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts/train.py").write_text("print('trained')\n")
    command = [sys.executable, "-m", "tf1sessions", *args.split()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "of the working directory" not in done.stdout + done.stderr


def test_no_number_is_nan_or_infinite() -> None:
    """No bound keeps ``nan`` out: each comparison with it is false."""
    waiting: list[tuple[str, click.Command]] = [("tf1sessions", cli)]
    accepted, numbers = [], 0
    while waiting:
        path, command = waiting.pop()
        if isinstance(command, click.Group):
            context = click.Context(command)
            found = [(name, command.get_command(context, name)) for name in command.list_commands(context)]
            waiting += [(f"{path} {name}", each) for name, each in found if each is not None]
        for param in (each for each in command.params if each.type.name.startswith("float")):
            numbers += 1
            for text in ("nan", "inf", "-inf"):
                with contextlib.suppress(click.UsageError):
                    param.process_value(click.Context(command), text)
                    accepted.append(f"{path} {param.opts[0]} {text}")
    assert not accepted and numbers > 15


def test_version() -> None:
    done = call("--version")
    assert (done.returncode, done.stdout) == (0, f"tf1sessions, version {tf1sessions.__version__}\n")


@pytest.mark.parametrize("args", [["--help"], ["run", "--help"], ["--version"]])
def test_help_loads_nothing_heavy(run_python: Callable[..., PythonRun], args: list[str]) -> None:
    done = run_python(
        f"""
        import sys
        from tf1sessions.cli.main import main
        sys.argv[1:] = {args!r}
        try:
            main()
        except SystemExit as error:
            report(code=error.code, loaded=sorted(name.partition(".")[0] for name in sys.modules))
        """,
        fresh=True,
    )
    assert done.results["code"] in (0, None)
    heavy = {"tensorflow", "tf_keras", "keras", "numpy", "rich", "tomllib", "tomli"}
    assert heavy & set(done.results["loaded"]) == set()


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["nonsense"], ["No such command 'nonsense'"]),
        (["train.py", "--x"], ["tf1sessions run train.py"]),
        (["--nonsense"], ["--nonsense"]),
    ],
)
def test_wrong_call(args: list[str], words: list[str]) -> None:
    done = call(*args)
    assert (done.returncode, done.stdout) == (2, "")
    for word in words:
        assert word in done.stderr


def test_without_a_command_the_help_is_shown() -> None:
    done = call()
    assert "Commands:" in done.stdout + done.stderr


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_output_that_cannot_be_written_is_one_line(option: str) -> None:
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "tf1sessions", option]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1), done.stderr
    assert "No space left on device" in done.stderr


def test_a_reader_that_is_gone_is_no_error_to_speak_of(tmp_path: Path) -> None:
    """As in `tf1sessions launch --print slurm train.py | head`."""
    (tmp_path / "train.py").write_text("import tensorflow as tf\nserver = tf.train.Server({})\n")
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as gone:
        command = [sys.executable, "-m", "tf1sessions", "launch", "--print", "slurm", "train.py"]
        done = subprocess.run(command, cwd=tmp_path, stdout=gone, stderr=subprocess.PIPE, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize(
    ("raised", "words"),
    [
        (MemoryError(), "too little memory for this command. RLIMIT_AS allows 1,048,576 MiB"),
        (MemoryError("of a buffer"), "too little memory for this command (of a buffer). RLIMIT_AS"),
        (ImportError("see:\n  a.so: failed to map segment"), "this command (a.so: failed to map segment). RLIMIT_AS"),
    ],
)
def test_too_little_memory_is_one_line(
    raised: BaseException, words: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refused(*args: object) -> object:
        raise raised

    monkeypatch.setattr("tf1sessions.source.files.read_whole", refused)
    (tmp_path / "a.py").touch()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (1 << 40, hard))
    try:
        done = CliRunner().invoke(cli, ["port", str(tmp_path / "a.py"), "--to", "v1"])
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    assert done.exit_code == 1 and done.stderr.startswith("Error: there is ") and words in done.stderr, done.stderr
    assert done.stderr.count("\n") == 1
    raised = ImportError("no module named a")
    done = CliRunner().invoke(cli, ["port", str(tmp_path / "a.py"), "--to", "v1"])
    assert done.exception is raised


@pytest.mark.parametrize("command", ["port --to v1", "run"])
def test_a_deleted_folder_is_named(command: str, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import tensorflow as tf\nx = tf.placeholder(tf.float32)\n")
    (tmp_path / "here").mkdir()
    script = f'cd "{tmp_path}/here" && rmdir "{tmp_path}/here" && exec "$@"'
    called = [sys.executable, "-m", "tf1sessions", *command.split(), str(tmp_path / "a.py")]
    done = subprocess.run(["sh", "-c", script, "sh", *called], capture_output=True, text=True, timeout=100)
    assert done.returncode in (1, 2)
    last = done.stderr.splitlines()[-1]
    assert last == "Error: the current folder was deleted. Change to one that exists.", done.stderr


# The command itself, where so many threads of Python can be started, as under a limit of the user's processes.
FEW_THREADS = """
import sys, threading
left, begin = int(sys.argv.pop(1)), threading.Thread.start
def start(thread):
    global left
    left -= 1
    if left < 0:
        raise RuntimeError("can't start new thread")
    begin(thread)
threading.Thread.start = start
from tf1sessions.cli.main import main
main()
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="warm servers are for Linux")
@pytest.mark.parametrize("warm", ["0", "1"])
def test_too_few_threads_are_one_line(warm: str, tmp_path: Path) -> None:
    (tmp_path / "a.py").touch()
    env = os.environ | {"TF1SESSIONS_WARM": warm, "XDG_RUNTIME_DIR": str(tmp_path)}
    env.pop("TF1SESSIONS_JOB", None)

    def call(threads: int, *args: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", FEW_THREADS, str(threads), *args]
        return subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=100)

    try:
        assert call(0, "run", "--dry-run", "a.py").returncode == 0
        for threads in range(4):
            done = call(threads, "run", "a.py")
            assert done.returncode == 1 and "can't start new thread" in done.stderr, done.stderr
            assert done.stderr.startswith("Error: ") and done.stderr.count("\n") == 1, done.stderr
    finally:
        assert call(9, "warm", "stop").returncode == 0


@pytest.mark.parametrize("mib", [64, 80, 140])
@pytest.mark.parametrize(
    "command",
    ["inspect a.pb", "convert a.pb out", "verify a.pb b.pb", "serve a.pb", "run --out run a.py"],
    ids=lambda line: line.split()[0],
)
def test_too_little_memory_for_tensorflow_is_one_line(tmp_path: Path, command: str, mib: int) -> None:
    """Its libraries would end the process, or say so in a traceback."""
    for name in ("a.pb", "b.pb", "a.py"):
        (tmp_path / name).touch()
    done = subprocess.run(
        [sys.executable, "-m", "tf1sessions", *command.split()],
        cwd=tmp_path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (mib << 20, mib << 20)),
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 1 and done.stderr.startswith("Error: "), done.stderr
    assert f"RLIMIT_AS allows {mib} MiB of address space a process: raise it (ulimit -v)" in done.stderr
    assert done.stderr.count("\n") == 1
