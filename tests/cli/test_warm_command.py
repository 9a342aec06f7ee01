"""``tf1sessions warm``: commands that find TensorFlow loaded do what they do without."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support import ROOT, wait_for

from tf1sessions.cli.main import cli
from tf1sessions.pools import user_servers

pytestmark = [
    pytest.mark.timeout(180),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the servers are for Linux"),
]

MODEL = ROOT / "tests" / "golden" / "data" / "models" / "functions.pb"

SCRIPT = """
import os, sys
import tensorflow as tf
print(os.path.basename(sys.argv[0]), sys.argv[1:], hasattr(tf, "left_behind"))
tf.left_behind = True
with tf.Session() as session:
    print(session.run(tf.constant(20.0) + 22.0))
sys.exit(3)
"""

Call = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def call(tmp_path: Path) -> Iterator[Call]:
    environment = dict(os.environ, XDG_RUNTIME_DIR=str(tmp_path))
    del environment["TF1SESSIONS_WARM"]

    def run(*arguments: Any, **changes: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "tf1sessions", *map(str, arguments)]
        return subprocess.run(command, cwd=tmp_path, env=environment | changes, capture_output=True, text=True)

    yield run
    servers = json.loads(run("warm", "status", "--json").stdout)
    run("warm", "stop")
    for server in servers:
        wait_for(lambda pid=server["pid"]: not os.path.exists(f"/proc/{pid}"), f"the end of {server}")


def test_ctrl_c_while_a_server_loads_says_that_it_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(self: user_servers.UserServer, what: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(user_servers.UserServer, "start", lambda self, env, idle_secs: True)
    monkeypatch.setattr(user_servers.UserServer, "ask", ask)
    done = CliRunner().invoke(cli, ["warm", "start"])
    assert (done.exit_code, done.stdout) == (130, "")
    assert done.stderr.endswith("to end it: tf1sessions warm stop\n")


@pytest.mark.slow
def test_commands_use_what_is_warm(call: Call, tmp_path: Path) -> None:
    assert call("warm", "status").stdout == "No server is warm. Start one: tf1sessions warm start\n"
    assert call("warm", "stop").stdout == "No server was warm.\n"
    started = call("warm", "start", "--idle", "5")
    assert started.returncode == 0 and "TensorFlow is loaded, by process" in started.stdout, started
    assert "not used for 5:00" in started.stdout
    assert "loaded already" in call("warm", "start").stdout

    (tmp_path / "train.py").write_text(SCRIPT)
    for number in (1, 2):
        done = call("run", "--out", f"run{number}", "train.py", "--", "--epochs", "3")
        assert (done.returncode, done.stdout) == (3, "train.py ['--epochs', '3'] False\n42.0\n"), done.stderr

    (tmp_path / "draw.py").write_text("import tensorflow as tf\nprint(tf.Session().run(tf.random_uniform([9])))\n")
    drawn = [call("run", "--out", f"draw{number}", "draw.py").stdout for number in (1, 2)]
    assert drawn[0] != drawn[1], "without a seed no job draws what another has drawn"

    cold = call("inspect", MODEL, TF1SESSIONS_WARM="0")
    assert cold.returncode == 0 and "functions.pb" in cold.stdout
    warm = call("inspect", MODEL)
    assert (warm.returncode, warm.stdout, warm.stderr) == (0, cold.stdout, cold.stderr)
    failed = call("convert", "nothing.pb", "out")
    assert failed.returncode == 2 and "there is no model at" in failed.stderr
    assert not (tmp_path / "out").exists()

    servers = {server["for"]: server for server in json.loads(call("warm", "status", "--json").stdout)}
    assert {name: server["callers"] for name, server in servers.items()} == {"scripts": 4, "commands": 2}
    assert servers["scripts"]["idle_secs"] == 300 and servers["scripts"]["python"] == sys.executable
    assert call("warm", "stop").stdout == "Stopped: commands, scripts.\n"
    for server in servers.values():
        wait_for(lambda pid=server["pid"]: not os.path.exists(f"/proc/{pid}"), f"the end of {server}")


@pytest.mark.slow
def test_signals_reach_a_command_in_a_fork(call: Call, tmp_path: Path) -> None:
    (tmp_path / "waits.py").write_text(
        "import time\n\ndef predict(x):\n    open('here', 'w').close()\n    while True: time.sleep(0.02)\n"
    )
    environment = dict(os.environ, XDG_RUNTIME_DIR=str(tmp_path), TF1SESSIONS_WARM="1")
    command = [sys.executable, "-m", "tf1sessions", "verify", str(MODEL), "waits.py:predict"]
    for signum in (signal.SIGINT, signal.SIGTERM):
        with subprocess.Popen(
            command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            wait_for((tmp_path / "here").exists, "the function", 90.0)
            (tmp_path / "here").unlink()
            process.send_signal(signum)
            _, err = process.communicate()
            assert process.returncode == 128 + signum, err
    assert json.loads(call("warm", "status", "--json").stdout)[0]["callers"] == 2
