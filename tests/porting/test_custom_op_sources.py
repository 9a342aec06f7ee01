"""Reading sources of operations with what they include, what compilers say, and calls of build-op that are wrong."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path

import pytest

from tf1sessions.errors import UnsupportedEnvironmentError, UsageError
from tf1sessions.porting.custom_ops.sources import is_cuda, read_sources
from tf1sessions.porting.custom_ops.toolchain import CompilerFlags, Compilers, first_error, run_compiler

FLAGS = CompilerFlags(("-I/tf/include", "--std=c++17"), ("-L/tf", "-l:libtensorflow_framework.so.2"))


def write(path: Path, text: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_included_files_are_rewritten_too(tmp_path: Path) -> None:
    source = write(tmp_path / "src/op.cc", '#include "../lib/a.h"\n#include "tensorflow/core/framework/op.h"\n')
    header = write(tmp_path / "lib/a.h", '#include "b.h"\n#include <c.h>\nusing namespace tensorflow;\nlong long x;\n')
    beside = write(tmp_path / "lib/b.h", "#pragma once\n")
    given = write(tmp_path / "include/c.h", "inline tensorflow::Status f() { return tensorflow::Status::OK(); }\n")
    write(tmp_path / "lib/unused.h", "using namespace tensorflow; long long y;\n")
    before = {path: Path(path).read_bytes() for path in (source, header, beside, given)}

    found = read_sources([source], [str(tmp_path / "include")])
    assert set(found.files) == before.keys()
    assert sorted(file.path for file in found.changed) == sorted([header, given])
    assert "-long long x;\n+::tensorflow::int64 x;\n" in found.diff() and "absl::OkStatus()" in found.diff()

    copies = tmp_path / "copies"
    found.write(str(copies), numbered=True)
    assert (copies / header[1:]).read_text("utf-8").splitlines()[1] == f'#line 1 "{header}"'
    assert (copies / source[1:]).read_text("utf-8") == f'#line 1 "{source}"\n' + before[source].decode()
    kept = tmp_path / "kept"
    found.export(str(kept))
    assert "#line" not in (kept / "lib/a.h").read_text("utf-8") and (kept / "src/op.cc").is_file()
    assert {path: Path(path).read_bytes() for path in before} == before


def test_headers_of_tensorflow_are_left(tmp_path: Path) -> None:
    write(tmp_path / "tf/tensorflow/core/op.h", "long long tensorflow;\n")
    source = write(tmp_path / "op.cc", "#include <tensorflow/core/op.h>\n")
    folder = str(tmp_path / "tf")
    assert list(read_sources([source], [folder], leave=[folder]).files) == [source]


def test_includes_in_a_circle_are_read_once(tmp_path: Path) -> None:
    source = write(tmp_path / "op.cc", '#include "a.h"\n')
    write(tmp_path / "a.h", '#include "op.cc"\n#include "a.h"\n#include "gone.h"\n')
    assert len(read_sources([source, source]).files) == 2


def test_any_bytes_are_kept(tmp_path: Path) -> None:
    source = tmp_path / "op.cc"
    source.write_bytes(b"// \xff\xfe tensorflow\r\nusing namespace tensorflow;\r\nlong long x;")
    read_sources([str(source)]).export(str(tmp_path / "out"))
    assert (
        (tmp_path / "out/op.cc")
        .read_bytes()
        .endswith(b"// \xff\xfe tensorflow\r\nusing namespace tensorflow;\r\n::tensorflow::int64 x;")
    )


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("gone.cc", None, "No such file"),
        ("op.so", b"", "not a source"),
        ("op.py", b"", "does not end in .cc"),
        ("op.h", b"", "headers that they include are found"),
        ("op.cc", b"\x7fELF\0", "is not text"),
    ],
)
def test_what_is_no_source(tmp_path: Path, name: str, data: bytes | None, words: str) -> None:
    if data is not None:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(UsageError, match=words) as raised:
        read_sources([str(tmp_path / name)])
    assert raised.value.next_step and str(tmp_path / name) in str(raised.value)


def test_folder_as_a_source_or_without_headers(tmp_path: Path) -> None:
    (tmp_path / "op.cc").mkdir()
    with pytest.raises(UsageError, match="is not a file"):
        read_sources([str(tmp_path / "op.cc")])
    with pytest.raises(UsageError, match="there is no folder"):
        read_sources([write(tmp_path / "a.cc", "")], [str(tmp_path / "gone")])
    with pytest.raises(UsageError, match="there is no source"):
        read_sources([])


def test_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "op.cc")
    with pytest.raises(UsageError, match="is not a file"):
        read_sources([str(tmp_path / "op.cc")])


def test_pipe_that_is_included_is_named(tmp_path: Path) -> None:
    """The compiler would wait for it. A folder of a header's name it passes over, as it does what is not there."""
    source = write(tmp_path / "a.cc", '#include "pipe.h"\n')
    os.mkfifo(tmp_path / "pipe.h")
    with pytest.raises(UsageError, match=f"{tmp_path}/pipe.h is not a file.*from #include in {source}"):
        read_sources([source])
    other = write(tmp_path / "b.cc", '#include "folder.h"\n')
    (tmp_path / "folder.h").mkdir()
    header = write(tmp_path / "include/folder.h", "")
    assert list(read_sources([other], [str(tmp_path / "include")]).files) == [other, header]


@pytest.mark.parametrize(("name", "cuda"), [("a.cu", True), ("a.cu.cc", True), ("a.cc", False), ("cu.cc", False)])
def test_sources_of_cuda(name: str, cuda: bool) -> None:
    assert is_cuda(name) is cuda


def test_missing_compilers_say_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("CXX", "NVCC", "CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UnsupportedEnvironmentError, match="apt-get install g"):
        Compilers.found()
    monkeypatch.setenv("CXX", "my-g++")
    with pytest.raises(UnsupportedEnvironmentError, match=r"my-g\+\+.*from \$CXX"):
        Compilers.found()
    compiler = tmp_path / "my-g++"
    compiler.write_text("#!/bin/sh\n")
    compiler.chmod(0o755)
    assert Compilers.found() == Compilers(str(compiler))
    with pytest.raises(UnsupportedEnvironmentError, match="no nvcc, which k.cu needs.*CUDA toolkit"):
        Compilers.found(["k.cu"])


def test_compiler_that_a_limit_keeps_from_starting(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*args: object, **named: object) -> None:
        raise error

    monkeypatch.setattr(subprocess, "Popen", refused)
    error = OSError(errno.EMFILE, os.strerror(errno.EMFILE))
    with pytest.raises(
        UnsupportedEnvironmentError, match="g.. cannot be started: Too many open files.*Raise the limit"
    ):
        run_compiler(["g++"], frozenset(), "/")
    error = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    with pytest.raises(UnsupportedEnvironmentError, match="Install a C"):
        run_compiler(["g++"], frozenset(), "/")


def test_commands_have_the_flags_of_tensorflow_and_of_the_user() -> None:
    compilers = Compilers("/bin/g++", "/cuda/bin/nvcc", "/cuda")
    user = ["-I/mine", "-iquote", "/beside", "-DNAME", "-fopenmp", "-arch=sm_80"]
    plain = compilers.compile("a.cc", "a.o", FLAGS, user, cuda=False)
    assert plain[0] == "/bin/g++" and "-fPIC" in plain and not any("CUDA" in flag for flag in plain)
    assert plain.index("-I/mine") < plain.index("-I/tf/include")  # the user's headers are found first
    assert plain[-2:] == list(FLAGS.compile)
    assert {"-DGOOGLE_CUDA=1", "-I/cuda/include"} <= set(compilers.compile("a.cc", "a.o", FLAGS, user, cuda=True))
    gpu = compilers.compile_cuda("a.cu", "a.o", FLAGS, user)
    assert gpu[0] == "/cuda/bin/nvcc" and "-Xcompiler=-fopenmp" in gpu and "-iquote" not in gpu
    assert gpu[gpu.index("/beside") - 1] == "-I" and "-arch=sm_80" in gpu and "-arch=sm_80" not in plain
    linked = compilers.link(["a.o"], "a.so", FLAGS, ["-lx", "-arch=sm_80"], cuda=True)
    assert "-arch=sm_80" not in linked
    assert {"-shared", "-lcudart", "-lx", *FLAGS.link} <= set(linked)


OWN = frozenset({"/me/op.cc", "/me/op.h"})


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("/me/op.cc:7:3: error: no 'x'\n/me/op.cc:9:1: error: more\n", "/me/op.cc:7: no 'x'"),
        ("/me/op.cc:2:10: fatal error: a.h: No such file\n", "/me/op.cc:2: a.h: No such file"),
        ("/me/op.cc(12): error: identifier \"y\" is undefined\n", '/me/op.cc:12: identifier "y" is undefined'),
        (
            "In file included from /tf/tensor.h:3,\n                 from /me/op.h:4,\n"
            "                 from /me/op.cc:1:\n/tf/types.h:30:5: error: static assertion failed\n",
            "/me/op.cc:1: static assertion failed (in /tf/types.h:30)",
        ),
        (
            "In file included from /me/op.cc:1:\n/tf/types.h: In instantiation of 'f':\n"
            "/tf/types.h:30:5: error: no type\n"
            "/me/op.cc:44:12:   required from here\n",
            "/me/op.cc:44: no type (in /tf/types.h:30)",
        ),
        ("/tf/a.h:1:1: error: first\n/me/op.cc:5:1: error: second\n", "/me/op.cc:5: second"),
        ("/tf/a.h:1:1: error: no one of yours\n", "/tf/a.h:1: no one of yours"),
        ("/usr/bin/ld: cannot find -lwarp: No such file\ncollect2: error: ld returned 1 exit status\n",
         "cannot find -lwarp: No such file"),
        ("/me/op.cc:3:1: warning: error: none\nnvcc fatal   : Unsupported gpu\n", "nvcc fatal   : Unsupported gpu"),
        ("", "it failed without a word"),
    ],
)  # fmt: skip
def test_first_error(said: str, shown: str) -> None:
    assert str(first_error(said, OWN)) == shown
