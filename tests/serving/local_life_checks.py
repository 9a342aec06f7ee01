"""How servers of SessionServer start and end, in processes of their own: see `test_local_life.py`."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from local_checks import Notes, all_requests
from served_models import export
from support import raises, wait_for

import tf1sessions as t1
from tf1sessions.errors import DeadlineError, PeerGoneError, UsageError, WorkerStartError
from tf1sessions.serving import session_server

if not os.path.exists("half"):
    export("half/1")


def check_a_server_whose_owner_is_killed_beside_a_forked_child() -> None:
    program = (
        "import os, signal, sys, tf1sessions as t1\n"
        "server = t1.SessionServer({'half': 'half'})\n"
        "child = os.fork()\n"
        "if child:\n"
        "    print(server.pid, child, flush=True)\n"
        "signal.pause()\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        pid, child = map(int, owner.stdout.readline().split())
        owner.kill()
    try:
        wait_for(lambda: not os.path.exists(f"/proc/{pid}"), "the server to end")
    finally:
        os.kill(child, signal.SIGKILL)


def check_nothing_is_left_of_a_group_of_processes_that_is_ended() -> None:
    """As Jupyter ends a kernel, and a terminal that is closed what runs in it."""
    program = (
        "import signal, tf1sessions as t1\n"
        "server = t1.SessionServer({'half': 'half'})\n"
        "print(server.pid, server.address, flush=True)\n"
        "signal.pause()\n"
    )
    command = [sys.executable, "-c", program]
    for signum in (signal.SIGTERM, signal.SIGKILL):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as owner:
            assert owner.stdout is not None
            pid, address = owner.stdout.readline().split()
            os.killpg(owner.pid, signum)
        wait_for(lambda pid=pid: not os.path.exists(f"/proc/{pid}"), "the server to end")
        assert not os.path.exists(address)


def check_modules_in_the_working_directory_are_not_the_server_s() -> None:
    """``python program.py`` does not look there either, and it may be a folder in which others can write."""
    os.mkdir("of_others")
    for name in ("json", "numpy", "tf1sessions"):
        with open(f"of_others/{name}.py", "w") as file:
            file.write("raise ImportError('this is of others')")
    with open("program.py", "w") as file:
        file.write(
            "import sys, tf1sessions as t1\n"
            "with t1.SessionServer(sys.argv[1]) as server, server.client() as client:\n"
            "    print(client(x=[1.0])['y'].tolist())\n"
        )
    program, model = os.path.abspath("program.py"), os.path.abspath("half/1")
    command = [sys.executable, program, model]
    done = subprocess.run(command, cwd="of_others", capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stdout) == (0, "[2.5]\n"), done.stderr


def check_an_owner_whose_standard_streams_are_closed() -> None:
    """What TensorFlow writes to stderr goes into none of the connections, which have other numbers on all sides."""
    program = (
        "import json, os, sys, tf1sessions as t1\n"
        "def streams(process):\n"
        "    paths = [f'/proc/{process}/fd/{fd}' for fd in range(3)]\n"
        "    return [os.readlink(path) if os.path.lexists(path) else None for path in paths]\n"
        "with t1.SessionServer({'half': 'half'}) as server, server.client() as client:\n"
        "    found = [client(x=[1.0])['y'].tolist(), streams('self'), streams(server.pid)]\n"
        "    with open(sys.argv[1], 'w') as file:\n"
        "        json.dump(found, file)\n"
    )
    null = os.devnull
    for closed, mine, theirs in (
        ("0<&- 2>&-", [None, null, None], [null, null]),
        ("0<&- 1>&- 2>&-", [None, None, None], [null, null]),
    ):
        command = f'exec "$@" 0<{null} 1>{null} {closed}'
        subprocess.run(["sh", "-c", command, "sh", sys.executable, "-c", program, "found"], check=True, timeout=100)
        answer, own, servers = json.loads(Path("found").read_text())
        assert (answer, own, servers[1:]) == ([2.5], mine, theirs), (closed, answer, own, servers)
        assert servers[0].startswith("pipe:"), (closed, servers)  # from its owner


def check_a_function_that_goes_on_after_its_deadline() -> None:
    """Its client hears of it from the server, on a connection that stays; the server says what still runs."""

    def requests(gs: Any) -> dict[str, Any]:
        notes = Notes()
        logging.getLogger("tf1sessions.serving").addHandler(notes)
        return {
            "hold": lambda: wait_for(lambda: os.path.exists("let go"), "the client", 60) and None,
            "notes": lambda: np.array(notes.texts),
        }

    with t1.SessionServer(requests=requests) as server, server.client() as client:
        error = raises(DeadlineError, lambda: client.request("hold")(deadline_secs=0.2))
        assert "'hold' did not end within 0.2 s, and goes on" in str(error), error
        error = raises(DeadlineError, lambda: client.request("notes")(deadline_secs=0.2))
        assert "waited for 'hold', which has run for" in str(error), error
        assert len(client._free) == 1
        Path("let go").touch()
        first, last = client.request("notes")().tolist()
        assert b"'hold' goes on after its 0.2 s" in first and b"'hold' has ended after" in last, (first, last)


def check_a_server_without_shared_memory_and_one_that_dies() -> None:
    with t1.SessionServer({"half": "half"}, requests=all_requests) as server, server.client() as client:
        client.request("limit")()
        large = np.arange(1 << 20, dtype=np.float32)
        assert np.array_equal(client(x=large)["y"], large / 2 + 2)
        assert b"no shared memory can be had" in client.request("notes")().item()
        asked = [client.request("wait").submit() for _ in range(3)]
        wait_for(lambda: len(client._used) == 3, "the requests to be sent")
        os.kill(server.pid, signal.SIGKILL)
        for each in asked:
            assert "whether it was run is not known" in str(raises(PeerGoneError, each.result, 30))
        assert "cannot be reached" in str(raises(PeerGoneError, lambda: client(x=[1.0])))


def check_a_server_that_is_started_again() -> None:
    with (
        t1.SessionServer({"half": "half"}, requests=all_requests, restart=True) as server,
        server.client(connect_secs=90.0) as client,
    ):
        before = server.pid
        for channel in [client._connection(time.monotonic() + 30)[0] for _ in range(3)]:
            client._give_back(channel)  # connections of the first server, all but one of which no call finds out about
        raises(PeerGoneError, client.request("die"))
        assert len(client._free) == 2
        # its other connections end with it, which may be a little later: a request in between is lost with it
        wait_for(lambda: not os.path.exists(f"/proc/{before}"), "the end of the first server")
        assert client(x=[1.0], deadline_secs=90)["y"].tolist() == [2.5]
        assert (server.starts, server.pid != before, len(client._free)) == (2, True, 1)


def check_a_server_that_is_killed_before_it_is_ready_again() -> None:
    """And then once more, where that is too often."""
    lines: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = lines.append  # type: ignore[assignment]
    logging.getLogger("tf1sessions.serving").addHandler(handler)
    with t1.SessionServer("half", restart=True) as server, server.client(connect_secs=90.0) as client:
        for start in (2, 3):  # the second kill is before it is ready
            os.kill(server.pid, signal.SIGKILL)
            wait_for(lambda start=start: server.starts == start, f"start {start}")
        assert client(x=[1.0], deadline_secs=90)["y"].tolist() == [2.5]
        with mock.patch.multiple(session_server, _MOST_QUICK=1, _QUICK_SECS=1e6):
            os.kill(server.pid, signal.SIGKILL)
            server._watcher.join(60)
        with t1.SessionClient(server.address) as other:  # whose connection is none of the last server's
            assert "soon after three starts" in str(raises(PeerGoneError, lambda: other(x=[1.0])))
        assert server.starts == 3
    logging.getLogger("tf1sessions.serving").removeHandler(handler)
    assert any("has ended soon after" in line.getMessage() for line in lines), lines


def check_servers_that_do_not_start() -> None:
    def fails(gs: Any) -> Any:
        raise RuntimeError("no graph today")

    assert "no graph today" in str(raises(WorkerStartError, lambda: t1.SessionServer(requests=fails)))
    assert "nowhere.pb" in str(raises(WorkerStartError, lambda: t1.SessionServer("nowhere.pb")))
    assert "neither" in str(raises(UsageError, t1.SessionServer))
    wrong = raises(WorkerStartError, lambda: t1.SessionServer(requests=lambda gs: None))
    assert "the function of requests= returned None" in str(wrong)
    wrong = raises(WorkerStartError, lambda: t1.SessionServer(requests=lambda gs: {"a": 1}))
    assert "'a' is 1" in str(wrong)
