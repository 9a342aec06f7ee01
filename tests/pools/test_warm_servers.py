"""The fork servers that the process pools of a process share. They preload no TensorFlow here."""

import os
import signal
import sys

import cloudpickle
import pytest
from support import alive, wait_for

from tf1sessions.pools import processes, warm_servers
from tf1sessions.pools.fork_server import WorkerServer
from tf1sessions.pools.processes import ProcessSessionPool

DEADLINE = 60.0
cloudpickle.register_pickle_by_value(sys.modules[__name__])  # a worker need not import pytest


@pytest.fixture
def made(monkeypatch):
    """The shared servers that a test makes."""
    made = []

    def make(mode, method):
        made.append(WorkerServer(["tf1sessions.pools.pool_worker_main:preload"], method=method))
        return made[-1]

    monkeypatch.setattr(warm_servers, "make_server", make)
    yield made
    processes.close_servers()
    assert not any(server.pid and alive(server.pid) for server in made)


def parent_of_a_worker():
    with ProcessSessionPool(1, mode="tf2", method="fork") as pool:
        return pool.submit(os.getppid).result(DEADLINE)


def test_pools_share_a_server_that_outlives_them(made):
    first, second = (ProcessSessionPool(1, mode="tf2", method="fork") for _ in range(2))
    with second:
        pid = second.submit(os.getppid).result(DEADLINE)
    assert first.submit(os.getppid).result(DEADLINE) == pid
    processes.close_servers()
    assert first.submit(os.getppid).result(DEADLINE) == pid, "it is in use"
    first.shutdown()
    assert parent_of_a_worker() == pid and len(made) == 1
    processes.close_servers()
    assert not alive(pid)
    assert parent_of_a_worker() != pid and len(made) == 2


def test_a_server_that_was_killed_is_replaced(made):
    pid = parent_of_a_worker()
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: not alive(pid), "the server's end", DEADLINE)
    assert parent_of_a_worker() != pid and len(made) == 1


def test_another_environment_has_another_server(made, monkeypatch):
    """Where workers could not be forks of the one that is there, which ends, as no pool uses it."""
    pid = parent_of_a_worker()
    monkeypatch.setenv("RATE", "0.5")
    assert parent_of_a_worker() == pid
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    assert parent_of_a_worker() != pid and len(made) == 2 and not alive(pid)


def test_a_forked_child_has_servers_of_its_own(made):
    pid = parent_of_a_worker()
    child = os.fork()
    if not child:
        other = parent_of_a_worker()
        processes.close_servers()
        os._exit(0 if other != pid and alive(pid) else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert parent_of_a_worker() == pid
