"""``tf1sessions launch``: what it refuses before anything starts, and what ``--print`` prints."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner, Result

from tf1sessions.cli.main import cli
from tf1sessions.cluster import task_main
from tf1sessions.cluster.marks import Marks
from tf1sessions.errors import ConfigError

PROGRAM = """
import tensorflow as tf
tf.app.flags.DEFINE_string("job_name", "", "")
tf.app.flags.DEFINE_integer("task_index", 0, "")
tf.app.flags.DEFINE_string("ps_hosts", "", "")
tf.app.flags.DEFINE_string("worker_hosts", "", "")
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(PROGRAM)
    (tmp_path / "config.py").write_text("import os\nprint(os.environ['TF_CONFIG'])\n")
    (tmp_path / "old.py").write_text("print 'two'\n")
    return tmp_path


def call(*args: str) -> Result:
    return CliRunner().invoke(cli, ["launch", *args], prog_name="tf1sessions")


@pytest.mark.parametrize(
    "args, text",
    [
        ([], "Nothing to run"),
        (["gone.py"], "cannot run 'gone.py'"),
        (["jobs.toml"], "launch takes a script or a module, not jobs.toml"),
        (["train.py", "config.py"], "2 programs are named"),
        (["--workers", "0", "train.py"], "no task trains"),
        (["--workers", "-1", "train.py"], "-1 is not in the range"),
        (["--chief", "train.py"], "its chief is worker 0"),
        (["train.py", "--", "--task_index", "7"], "launch gives each task its own --task_index"),
        (["--flag", "rank=x", "train.py"], "is not ROLE=NAME"),
        (["--tf2", "--ps", "1", "config.py"], "Give --chief, or for MultiWorkerMirroredStrategy --ps 0"),
        (["--tf2", "--threads", "2", "config.py"], "Leave out --threads and --memory-fraction"),
        (["--tf2", "--horovod", "2", "config.py"], "--tf2 is not for ranks of Horovod"),
        (["--first-port", "65534", "train.py"], "port 65536 is above 65535"),
        (["--start-limit", "0", "train.py"], "is not a number of seconds above 0"),
        (["--hosts", "a,b,c", "train.py"], "--hosts is for --print commands"),
        (["--insecure-bind", "", "train.py"], "the name is empty"),
        (["--insecure-bind", "192.0.2.1", "train.py"], "no server of this machine can be reached at '192.0.2.1'"),
        (["--insecure-bind", "no host", "train.py"], "no server of this machine can be reached at 'no host'"),
        (["--print", "commands", "--hosts", "a", "train.py"], "1 hosts are named, and 3 tasks have an address"),
    ],
)
def test_wrong_calls_start_nothing(folder: Path, args: list[str], text: str) -> None:
    done = call(*args)
    assert done.exit_code == 2
    assert text in " ".join(done.stderr.split())
    assert not (folder / "runs").exists()


def test_a_program_of_python_two_is_named() -> None:
    done = call("old.py")
    assert done.exit_code == 1 and "Python 2" in done.stderr


def test_print_starts_nothing(folder: Path) -> None:
    done = call("--print", "commands", "train.py", "--", "--rate=1")
    assert done.exit_code == 0
    assert "tf1sessions run train.py -- --job_name=ps --task_index=0 --ps_hosts=HOST1:2222" in done.stdout
    assert done.stdout.count("--rate=1") == 3
    assert call("--print", "slurm", "--chief", "config.py").stdout.count("srun ") == 4
    shown = call("--print", "slurm", "--tf2", "--ps", "1", "--chief", "config.py", "--", "x").stdout
    assert shown.count("python config.py x &") == 4 and shown.count("workers+=") == 1
    assert call("--print", "commands", "--tf2", "config.py").stdout.count("' python config.py\n") == 2
    assert not (folder / "runs").exists()


def test_workers_look_often_whether_their_chief_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    class SessionManager:
        def __init__(self, recovery_wait_secs: float) -> None:
            self._recovery_wait_secs = recovery_wait_secs

        def wait_for_session(self, master: str) -> float:
            return self._recovery_wait_secs

    class Server:
        join = None

    monkeypatch.setitem(sys.modules, "tensorflow.python.client.session", SimpleNamespace(BaseSession=type("", (), {})))
    optimizer = type("", (), {"apply_gradients": None})
    train = SimpleNamespace(Server=Server, SessionManager=SessionManager, SyncReplicasOptimizer=optimizer)
    task_main._Servers(True, {}, Marks("marks"), "worker:1").watch(SimpleNamespace(train=train))
    assert [SessionManager(secs).wait_for_session("grpc://") for secs in (30.0, 0.1)] == [0.5, 0.1]


def test_addresses_in_the_source_become_those_of_the_cluster() -> None:
    own = {"ps": ["127.0.0.1:1"], "worker": ["127.0.0.1:2", "127.0.0.1:3"]}
    given = {"ps": ["a:9"], "worker": ["b:9", "c:9"]}
    assert task_main.own_addresses(given, own) == {"a:9": "127.0.0.1:1", "b:9": "127.0.0.1:2", "c:9": "127.0.0.1:3"}
    assert task_main.own_addresses(own, own) == {}
    assert task_main.own_addresses({"worker": own["worker"]}, own) == {}  # a part of it, as device filters want
    assert task_main.own_addresses({"local": ["localhost:0"]}, own) == {}  # create_local_server()
    for other in ({"ps": ["a:9"], "worker": ["b:9"]}, {"worker": ["b:9", "c:9"]}):
        with pytest.raises(ConfigError, match="Launch it with --ps [01] --workers [12]"):
            task_main.own_addresses(other, own)


def test_a_session_on_an_address_outside_the_cluster_is_named(caplog: pytest.LogCaptureFixture) -> None:
    servers = task_main._Servers(True, {"worker": ["127.0.0.1:4001"]}, Marks("marks"), "worker:0")
    servers.made.append(SimpleNamespace(target="grpc://localhost:5000"))  # create_local_server()
    asked = []
    init = servers._before_session(lambda session, target, graph, config: asked.append(target))
    fine = ["", "grpc://127.0.0.1:4001", "grpc://localhost:4001", "grpc://localhost:5000"]
    for target in [*fine, "grpc://localhost:2223"]:
        init(None, target)
    assert asked == [*fine, "grpc://localhost:2223"]
    (said,) = caplog.messages
    assert said.startswith("a session is on grpc://localhost:2223, which is no task of this cluster")
