"""Libraries of operations of another TensorFlow: what is read of them, and the error of a script that loads one."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from support import PythonRun

from tf1sessions.scripts.shared_libraries import SharedLibrary, read_shared_library

CONSTRUCTOR = "_ZN10tensorflow12OpDefBuilder5InputESs"  # OpDefBuilder::Input(std::string), with the old strings
STATUS = "_ZN10tensorflow15OpKernelContext9SetStatusERKNS_6StatusE"

needs_compiler = pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no C compiler")


def library(needed: list[str], undefined: list[str]) -> SharedLibrary:
    return SharedLibrary("x86-64", tuple(needed), tuple(undefined))


@pytest.mark.parametrize(
    ("needed", "undefined", "tensorflow"),
    [
        (["libtensorflow_framework.so.1"], [], "TensorFlow 1.14 or 1.15"),
        (["libc.so.6", "libtensorflow_framework.so"], [], "TensorFlow 1.4 to 1.13"),
        (["libtensorflow_framework.so.2"], [f"{CONSTRUCTOR}RKNS_6StatusE", "_ZN10tensorflow6Status5ToStrEv"],
         "TensorFlow 2.0 to 2.13"),
        (["libtensorflow_framework.so.2"], ["_ZN10tensorflow6TensorC1Ev"], "another release of TensorFlow 2"),
        ([], ["_ZN10tensorflow6StatusC1Ev"], "TensorFlow 1"),
        ([], ["_ZN10tensorflow6TensorC1Ev"], "another TensorFlow"),
        (["libmytensorflow.so"], ["malloc"], None),
    ],
)  # fmt: skip
def test_release_that_it_was_built_for(needed: list[str], undefined: list[str], tensorflow: str | None) -> None:
    assert library(needed, undefined).tensorflow == tensorflow


def test_form_of_its_strings_and_its_cuda() -> None:
    assert library([], [CONSTRUCTOR]).old_abi is True
    assert library([], ["_ZN10tensorflow1fENSt7__cxx1112basic_stringIcE"]).old_abi is False
    assert library([], ["_ZN10tensorflow1fEv", "_ZSs"]).old_abi is None
    assert library(["libcudart.so.10.0", "libc.so.6"], []).cuda == "libcudart.so.10.0"


@pytest.mark.parametrize(
    "data", [b"", b"\x7fELF\x02\x01", b"\x7fELF\x02\x01" + bytes(58), b"\x7fELF\x01\x01" + bytes(99)]
)
def test_what_is_no_library(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.so"
    path.write_bytes(data)
    found = read_shared_library(str(path))
    assert found is None or found.tensorflow is None
    assert read_shared_library(str(tmp_path)) is None and read_shared_library(str(tmp_path / "gone.so")) is None


PROGRAM = """
import sys
from tf1sessions.scripts import install
install()
import tensorflow as tf
from tensorflow.python.framework import load_library

def error(load, path):
    try:
        load(path)
    except tf.errors.NotFoundError as error:
        return [type(error) is tf.errors.NotFoundError, error.message]

report(
    inner=load_library.load_op_library is tf.load_op_library,
    errors=[error(load, "./old.so") for load in (
        tf.load_op_library, tf.load_library, tf.load_file_system_library, tf.contrib.util.loader.load_op_library)],
    folder=error(tf.load_library, "only"),
    symbol=error(tf.load_op_library, "./unlinked.so"),
    other=error(tf.load_op_library, "./other.so"),
    gone=error(tf.load_op_library, "./gone.so"),
    text=error(tf.load_op_library, "./text.so"),
)
"""


@needs_compiler
def test_error_says_what_it_was_built_for(tmp_path: Path, run_python: Callable[..., PythonRun]) -> None:
    def link(name: str, *flags: str, code: str = "") -> None:
        (tmp_path / "code.c").write_text(code, "utf-8")
        subprocess.run(["gcc", "-shared", "-fPIC", "code.c", "-o", name, *flags], cwd=tmp_path, check=True)

    framework, missing = "libtensorflow_framework.so.1", "libgone.so.7"
    link(framework, f"-Wl,-soname,{framework}")
    link(missing, f"-Wl,-soname,{missing}")
    uses = f"extern void {CONSTRUCTOR}(void); void f(void) {{ {CONSTRUCTOR}(); }}"
    link("old.so", "-Wl,--no-as-needed", framework, code=uses)
    link("unlinked.so", code=f"extern void {STATUS}(void); void* f = {STATUS};")
    link("other.so", "-Wl,--no-as-needed", missing)
    (tmp_path / framework).unlink()
    (tmp_path / missing).unlink()
    (tmp_path / "only").mkdir()
    shutil.copy(tmp_path / "old.so", tmp_path / "only")
    (tmp_path / "text.so").write_text("no library")

    found = run_python(PROGRAM, fresh=True, cwd=tmp_path).results
    assert found["inner"] is True and len(found["errors"]) == 4
    for same_class, message in [*found["errors"], found["folder"]]:
        assert same_class and message.startswith(f"{framework}: cannot open shared object file")
        assert f"it was built for TensorFlow 1.14 or 1.15 (it needs {framework}; its C++ strings are" in message
        assert "tf1sessions build-op SRC.cc... -o old.so" in message, json.dumps(message)
    same_class, message = found["symbol"]
    assert same_class and f"built for TensorFlow 1 (it needs the symbol {STATUS})" in message
    for name in ("other", "gone", "text"):  # TensorFlow's own words say what is wrong
        assert found[name][0] and "\n" not in found[name][1] and "build-op" not in found[name][1]
    assert "libgone.so.7" in found["other"][1]
