"""`tf1sessions serve`: what it prints, how it ends, and what it says about wrong calls."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from support import ROOT

from tf1sessions.cli.main import cli

pytest.importorskip("uvicorn")

FROZEN = ROOT / "tests" / "golden" / "data" / "models" / "frozen.pb"


@pytest.mark.slow
@pytest.mark.parametrize("sent", [[signal.SIGTERM], [signal.SIGHUP, signal.SIGHUP]], ids=["SIGTERM", "SIGHUP"])
def test_serves_until_a_signal(sent: list[int], tmp_path: Path) -> None:
    with open(tmp_path / "stderr", "w") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "tf1sessions", "serve", f"named={FROZEN}", "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            cwd=tmp_path,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),  # as the shell does behind `&` in a script
        )
    try:
        assert process.stdout is not None
        first = process.stdout.readline()
        assert first.startswith("Serving named at http://127.0.0.1:"), (first, (tmp_path / "stderr").read_text())
        connection = http.client.HTTPConnection("127.0.0.1", int(first.rpartition(":")[2]), timeout=60)
        connection.request("GET", "/v1/models/named")
        answer = json.loads(connection.getresponse().read())
        assert answer["model_version_status"][0]["state"] == "AVAILABLE"
        if sys.platform == "linux":
            status = Path(f"/proc/{process.pid}/status").read_text()
            ignored = int(status.partition("SigIgn:")[2].split()[0], 16)
            assert ignored & 1 << (signal.SIGINT - 1)
        for signum in sent:
            process.send_signal(signum)
        assert process.wait(60) == 0
        assert process.stdout.read() == "Stopped.\n"
    finally:
        process.kill()
        process.communicate()
    log = (tmp_path / "stderr").read_text()
    assert '"GET /v1/models/named" 200' in log and "is loaded from" in log


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ([], "no model is given"),
        (["a=x.pb", "a=y.pb"], "two models are called 'a'"),
        (["a/b=x.pb"], "'a/b'"),
        (["--config", "nowhere.toml"], "nowhere.toml"),
        (["x.pb", "--tls-cert", "c.pem"], "--tls-key"),
        (["x.pb", "--token-file", "nowhere"], "nowhere"),
        (["x.pb", "--port", "70000"], "70000"),
    ],
)
def test_wrong_calls(args: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli, ["serve", *args])
    assert done.exit_code == 2
    assert said in done.output


def test_tokens_that_others_may_read(tmp_path: Path) -> None:
    token = tmp_path / "token"
    for text, mode, said in (("a" * 32, 0o644, "chmod 600"), ("short", 0o600, "16 or more"), ("", 0o600, "16 or more")):
        token.write_text(text)
        os.chmod(token, mode)
        done = CliRunner().invoke(cli, ["serve", "x.pb", "--token-file", str(token)])
        assert (done.exit_code, said in done.output) == (2, True), done.output


@pytest.mark.slow
def test_a_model_that_is_not_there(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tf1sessions", "serve", "nowhere.pb", "--port", "0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "nowhere.pb" in done.stderr and "Traceback" not in done.stderr
