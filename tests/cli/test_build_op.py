"""``tf1sessions build-op``: help and wrong calls, without a compiler; test_custom_op_build.py has what it builds."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support import PythonRun, wait_for

from tf1sessions.porting.custom_ops.toolchain import run_compiler

#: Calls the command as the shell would, many times in one process.
CODE = """
import os, pathlib, tempfile
from click.testing import CliRunner
from tf1sessions.cli.main import cli

def call(name, *args):
    done = CliRunner().invoke(cli, ["build-op", *args], prog_name="tf1sessions")
    report(**{name: [done.exit_code, done.stdout, done.stderr]})

pathlib.Path("op.cc").write_text("using namespace tensorflow;\\nStatus f() { return Status::OK(); }\\n")
pathlib.Path("plain.cc").write_text("int x;\\n")
pathlib.Path("k.cu").write_text("")
pathlib.Path("full").mkdir()
pathlib.Path("full/file").touch()
call("diff", "op.cc", "--diff")
call("plain", "plain.cc", "--diff")
call("keep", "op.cc", "--keep-sources", "kept")
report(kept=pathlib.Path("kept/op.cc").read_text())
call("full", "op.cc", "--keep-sources", "full")
call("no_out", "op.cc")
call("no_source")
call("missing", "gone.cc", "-o", "a.so")
call("folder", "op.cc", "-o", "no/such/a.so")
call("source", "op.cc", "-o", "op.cc")
call("directory", "op.cc", "-o", "full")
os.environ["PATH"] = ""
os.environ.pop("CXX", None)
call("compiler", "op.cc", "-o", "a.so")
os.environ["CXX"] = "/bin/false"
os.environ.pop("NVCC", None)
call("nvcc", "k.cu", "-o", "a.so")
call("fails", "op.cc", "-o", "a.so", "--", "-O3")
report(files=sorted(os.listdir(".")))

tempfile.tempdir = os.environ["TMPDIR"] = os.path.abspath("temporary")
os.mkdir("temporary")
pathlib.Path("compiler").write_text(COMPILER)
os.chmod("compiler", 0o755)
os.environ["CXX"] = os.path.abspath("compiler")
pathlib.Path("old.so").write_text("old")
before = sorted(os.listdir("."))
call("link", "op.cc", "-o", "old.so", "--", "-DFAIL")
call("load", "op.cc", "-o", "old.so")
report(left=[sorted(os.listdir(".")) == before, os.listdir("temporary"), pathlib.Path("old.so").read_text()])
call("unchecked", "op.cc", "-o", "old.so", "--no-check")
report(made=[sorted(os.listdir(".")) == before, os.listdir("temporary"), pathlib.Path("old.so").read_text()])
"""

#: A compiler that writes what it is to write, also before it fails.
COMPILER = """#!/bin/sh
for each; do
    [ "$before" = -o ] && echo made > "$each" && echo cut off > "$TMPDIR/cc1.s"
    before=$each
done
case " $* " in *" -shared "*" -DFAIL "*) exit 1;; esac
"""


def test_calls(run_python: Callable[..., PythonRun]) -> None:
    found = run_python(f"COMPILER = {COMPILER!r}\n{CODE}", env={"CUDA_HOME": None, "CUDA_PATH": None}).results
    code, out, error = found["diff"]
    assert (code, error) == (0, "") and out.startswith("Status::OK() → absl::OkStatus()  (op.cc:2)\n--- /")
    assert out.endswith("-Status f() { return Status::OK(); }\n+Status f() { return absl::OkStatus(); }\n")
    assert found["plain"] == [0, "nothing to rewrite\n", ""]
    assert found["keep"][0] == 0 and found["keep"][1].endswith("the rewritten sources are in kept\n")
    assert found["kept"] == "using namespace tensorflow;\nStatus f() { return absl::OkStatus(); }\n"
    for name, exit_code, words in (
        ("full", 2, "not an empty folder"),
        ("no_out", 2, "Name the library to write: -o my_op.so"),
        ("no_source", 2, "SRC"),
        ("missing", 2, "gone.cc: No such file or directory. Name a C++ or CUDA source."),
        ("folder", 2, "is not a folder that can be written (from -o)"),
        ("source", 2, "is one of the sources"),
        ("directory", 2, "is not a file (from -o)"),
        ("compiler", 1, "Install one: apt-get install g++"),
        ("nvcc", 1, "Install NVIDIA's CUDA toolkit"),
        ("fails", 1, "it failed without a word"),
        ("link", 1, "it failed without a word"),
        ("load", 1, "old.so would not load"),
        ("unchecked", 0, ""),
    ):
        code, _, error = found[name]
        assert code == exit_code and words in error, (name, found[name])
    assert found["files"] == ["full", "k.cu", "kept", "op.cc", "plain.cc"]
    assert found["left"] == [True, [], "old"] and found["made"] == [True, [], "made\n"]


def test_help_needs_no_tensorflow(tmp_path: Path) -> None:
    (tmp_path / "tensorflow.py").write_text("raise SystemExit('tensorflow is imported')")
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, "-m", "tf1sessions", "build-op", "--help"],
        capture_output=True, text=True, timeout=60, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "") and "SRC... [-- FLAGS]" in done.stdout


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_leaves_nothing(tmp_path: Path, signum: signal.Signals) -> None:
    (tmp_path / "op.cc").write_text("int x;\n")
    (tmp_path / "temporary").mkdir()
    compiler = tmp_path / "compiler"
    compiler.write_text(
        '#!/bin/sh\ntouch "$TMPDIR/cc1.s"\necho $$ > "$STARTED.new"\nmv "$STARTED.new" "$STARTED"\nexec sleep 600\n'
    )
    compiler.chmod(0o755)
    started = tmp_path / "started"
    process = subprocess.Popen(
        [sys.executable, "-m", "tf1sessions", "build-op", "op.cc", "-o", "op.so"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
        env={**os.environ, "CXX": str(compiler), "STARTED": str(started), "TMPDIR": str(tmp_path / "temporary")},
    )  # fmt: skip
    wait_for(started.exists, "the compiler to start", deadline=100.0)
    process.send_signal(signum)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 128 + signum and said.strip() == ""
    assert os.listdir(tmp_path / "temporary") == [] and not (tmp_path / "op.so").exists()
    assert not Path(f"/proc/{started.read_text().strip()}").exists()  # the compiler has ended too


def test_interrupt_while_the_compiler_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(subprocess.Popen[str]):
        def __init__(self, *args: object, **options: object) -> None:
            super().__init__(*args, **options)  # type: ignore[call-overload]
            pids.append(self.pid)
            os.kill(os.getpid(), signal.SIGUSR1)

    def raise_error(signum: int, frame: object) -> None:
        raise KeyboardInterrupt

    pids: list[int] = []
    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    before = signal.signal(signal.SIGUSR1, raise_error)
    try:
        with pytest.raises(KeyboardInterrupt):
            run_compiler(["sleep", "600"], frozenset(), "/")
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert len(pids) == 1 and not Path(f"/proc/{pids[0]}").exists()
