"""The payload of a job goes through JSON unchanged; what is missing has its default, what is unknown is refused."""

from __future__ import annotations

import json
import sys

import pytest

from tf1sessions.scripts.payload import ProgramPayload, ProgramSettings


def test_a_payload_is_the_same_after_json() -> None:
    payload = ProgramPayload(
        kind="script",
        path="/a/b.py",
        path0="/a",
        argv=("--x", "é"),
        display="b.py",
        settings=ProgramSettings(memory_fraction=0.5, fast_path=False, queue_grace=0.0, line_buffered=True),
        extra={"notes": "/a/folder"},
    )
    entries = json.loads(json.dumps(payload.to_json()))
    assert entries["path0"] == "/a"  # the fork server reads it
    assert entries["notes"] == "/a/folder"  # a target's own entry stands beside the others
    assert ProgramPayload.from_json(entries) == payload


def test_optional_entries_have_defaults() -> None:
    payload = ProgramPayload.from_json({"kind": "module", "path": "package.train", "path0": "/a"})
    assert (payload.argv, payload.display, payload.extra) == ((), "package.train", {})
    assert payload.settings == ProgramSettings(fast_path=True, seeds="tf1")


def test_an_unknown_setting_is_refused() -> None:
    entries = {"kind": "script", "path": "/a/b.py", "path0": "/a", "settings": {"fastpath": False}}
    with pytest.raises(TypeError, match="fastpath"):
        ProgramPayload.from_json(entries)


def test_the_folder_of_the_program_comes_first_but_on_a_safe_path(monkeypatch: pytest.MonkeyPatch) -> None:
    payload = ProgramPayload(kind="script", path="/a/b.py", path0="/a")
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    assert payload.module_path(["", "/lib"]) == ["/a", "/lib"]
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    assert payload.module_path(["", "/lib"]) == (["/lib"] if sys.version_info >= (3, 11) else ["/a", "/lib"])
