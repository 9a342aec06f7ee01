"""What is found in a program's process reaches another one, whatever the program has done, or is said to be lost."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tf1sessions.testing import findings

VALUES = {"reports": [{"kind": "deadlock", "times": 2, "made": None}, "é \udcff"], "forked": False, "unused": [0, 1]}
NAMES = "open isinstance len str type dict list set tuple getattr repr print OSError Exception".split()
#: What a program may do to what is called here.
BREAKS = {
    **{f"builtins.{name}": f"builtins.{name} = None" for name in NAMES},
    "json": "import json; json.dump = json.dumps = json.encoder = None",
    "marshal": "import marshal; marshal.dumps = marshal.loads = None",
    "os": "os.open = os.write = os.replace = os.close = os.fchmod = os.symlink = os.path = os.fspath = None",
    "modules": "sys.modules.clear()",
    "umask": "os.umask(0o777)",
    "descriptors": "os.closerange(0, 100)",
}


def run(path: Path, before: str) -> subprocess.CompletedProcess[str]:
    text = f"""
    import builtins, os, resource, sys
    from tf1sessions.testing import findings
    path, values = {str(path)!r}, {VALUES!r}
    {before}
    try:
        findings.write(path, values)
    except BaseException as error:
        findings.lose(path, error)
        findings.lose(path, ValueError("the second time"))
    """
    command = [sys.executable, "-c", textwrap.dedent(text)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("name", BREAKS)
def test_what_is_written_by_a_program_that_has_replaced_python(tmp_path: Path, name: str) -> None:
    path = tmp_path / "found"
    done = run(path, BREAKS[name])
    assert not done.returncode, done.stderr
    assert findings.read(str(path)) == VALUES and findings.lost(str(path)) is None
    assert path.stat().st_mode & 0o777 == 0o600 and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        ("resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))", "OSError(24, 'Too many open files')"),
        ("builtins.open = None; values = object()", "ValueError('unmarshallable object')"),
        ("os.mkdir(path + '.new')", "IsADirectoryError(21, 'Is a directory')"),
    ],
)
def test_what_could_not_be_written_is_said(tmp_path: Path, before: str, reason: str) -> None:
    path = tmp_path / "found"
    findings.write(str(path), "before")
    done = run(path, before)
    assert not done.returncode, done.stderr
    assert findings.read(str(path)) == "before" and findings.lost(str(path)) == reason


def test_an_error_that_cannot_be_shown(tmp_path: Path) -> None:
    class OddError(Exception):
        def __repr__(self) -> str:
            raise KeyError

    findings.lose(str(tmp_path / "a"), OddError())
    findings.lose(str(tmp_path / "b"), ValueError("\0é" * 9999))
    assert findings.lost(str(tmp_path / "a")) == "an error that cannot be shown"
    assert (findings.lost(str(tmp_path / "b")) or "").startswith("ValueError('\\x00é")
    assert findings.read(str(tmp_path / "c")) is findings.lost(str(tmp_path / "c")) is None
