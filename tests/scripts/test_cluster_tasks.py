"""Tasks of a cluster that are started by hand: versions, and tasks that never come."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from support import ROOT

from tf1sessions.errors import ConfigError, UnsupportedEnvironmentError
from tf1sessions.scripts.cluster_peers import others
from tf1sessions.scripts.cluster_tasks import VARIABLE, HandStarted, read
from tf1sessions.scripts.cluster_watch import begin


def config(*workers: str, index: int = 0) -> str:
    return json.dumps({"cluster": {"worker": list(workers)}, "task": {"type": "worker", "index": index}})


def test_other_versions_are_refused() -> None:
    own = HandStarted()
    begin({VARIABLE: own.variable()})  # equal ones: nothing
    other = HandStarted(versions={**own.versions, "TensorFlow": "1.15.5"})
    with pytest.raises(
        UnsupportedEnvironmentError, match=r"this task has TensorFlow 2[^,]+, and its cluster Tensor\w+ 1.15.5"
    ):
        begin({VARIABLE: other.variable()})
    assert read({VARIABLE: own.variable()}) == own and read({}) is None


@pytest.mark.parametrize("text", ["", "[]", "{", '{"versions": 1}', '{"start_limit_secs": 0}', '{"limit": 1}'])
def test_a_malformed_variable(text: str) -> None:
    with pytest.raises(ConfigError, match=VARIABLE):
        read({VARIABLE: text})


def test_the_other_tasks_of_a_configuration() -> None:
    assert others(config("a:1", "b:2", index=1)) == {"worker:0": "a:1"}
    for text in ("", "{}", "[]", '{"cluster": 1, "task": 2}', config("a:1", index=4)):
        assert others(text) == {}


PROGRAM = """
import time
print("begun", flush=True)
time.sleep(120)
"""


def test_a_task_that_never_comes_ends_what_waits_for_it(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    with socket.socket() as come, socket.socket() as free:
        come.bind(("127.0.0.1", 0))
        come.listen()
        free.bind(("127.0.0.1", 0))
        addresses = [f"127.0.0.1:{each.getsockname()[1]}" for each in (free, come, free)]
        variables = {
            "TF_CONFIG": config("127.0.0.1:1", *addresses[:2]),
            VARIABLE: HandStarted(start_limit_secs=2.0).variable(),
        }
        command = [sys.executable, "-c", RUN, str(tmp_path / "program.py")]
        found = subprocess.run(
            command, env={"PATH": "", "PYTHONPATH": str(ROOT), **variables}, capture_output=True, text=True, timeout=60
        )
    assert found.returncode == 1 and found.stdout == "begun\n", found
    assert f"worker:1 ({addresses[0]}) did not come within 2 s" in found.stderr
    assert f"worker:1 ({addresses[0]}) has not come after" in found.stderr and "worker:2" not in found.stderr


# As program.execute() begins, without TensorFlow, which takes seconds to import.
RUN = """
import logging, runpy, sys
from tf1sessions.scripts import cluster_watch
logging.basicConfig(format="%(message)s")
cluster_watch.begin()
runpy.run_path(sys.argv[1], run_name="__main__")
"""
