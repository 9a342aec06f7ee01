"""What a RaySessionPool refuses, and the files of stored models; none of it needs Ray."""

from __future__ import annotations

import io
import os
import socket
import sys
import tarfile
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import PythonRun

from tf1sessions.errors import UnsupportedEnvironmentError, UsageError
from tf1sessions.pools import ray_cluster
from tf1sessions.pools.ray_models import put_model, unpacked
from tf1sessions.pools.ray_pool import RaySessionPool
from tf1sessions.pools.ray_versions import version_reader


class Plan:
    """Has what a MemoryPlan has."""

    workers = 1

    def apply(self, worker: int = 0) -> None: ...
    def environment(self, worker: int = 0) -> dict[str, str]:
        return {}


@pytest.mark.parametrize(
    ("options", "reported"),
    [
        ({"max_workers": 0}, "max_workers is 0"),
        ({"num_cpus": -1}, "num_cpus is -1"),
        ({"num_gpus": 1.5}, "num_gpus is 1.5"),
        ({"num_gpus": True}, "num_gpus is True"),
        ({"node_retries": -1}, "node_retries is -1"),
        ({"retries": 1.0}, "retries is 1.0"),
        ({"resources": ["a"]}, "resources is ['a']"),
        ({"runtime_env": "x"}, "runtime_env is 'x'"),
        ({"address": 6379}, "address is 6379"),
        ({"address": ""}, "address is ''"),
        ({"connect_limit_secs": 0}, "connect_limit_secs is 0"),
        ({"plan": {"workers": 2}}, "plan has 'workers'"),
        ({"plan": Plan(), "max_workers": 2}, "the plan has 1 workers for a pool of 2"),
        ({"plan": Plan(), "max_workers": 1, "num_gpus": 1}, "num_gpus leaves it to Ray"),
        ({"plan": 3}, "plan is 3"),
        ({"model": "m.pb", "mode": "tf2"}, "model= is given with"),
        ({"mode": "tf3"}, "mode is 'tf3'"),
    ],
)
def test_wrong_options_are_named(options: dict[str, Any], reported: str) -> None:
    with pytest.raises(UsageError) as caught:
        RaySessionPool(**options)
    assert reported in str(caught.value)


def test_without_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    for call in (lambda: RaySessionPool(1), lambda: put_model("model.pb")):
        with pytest.raises(UnsupportedEnvironmentError, match=r"pip install 'tf1sessions\[ray\]'"):
            call()


class NoRay:
    """Stands for Ray, which must not be asked to connect."""

    @staticmethod
    def is_initialized() -> bool:
        return False


@pytest.mark.parametrize("address", ["nowhere", "host:port", "host:0", "host:\u00b2", "ray://host:10001", ":6379"])
def test_addresses_that_are_none(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setitem(sys.modules, "ray", NoRay())  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="HOST:PORT") as caught:
        RaySessionPool(1, address=address)
    assert repr(address) in str(caught.value)


def test_an_address_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", NoRay())  # type: ignore[arg-type]
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(UnsupportedEnvironmentError) as caught:  # it is connected to, and says nothing
            RaySessionPool(1, address=address, connect_limit_secs=0.3)
    assert f"no Ray cluster at {address}: it did not answer within 0.3 s" in str(caught.value)
    with pytest.raises(UnsupportedEnvironmentError, match="refused"):
        RaySessionPool(1, address=address, connect_limit_secs=0.3)


def serve_once(server: socket.socket, answer: bytes) -> threading.Thread:
    """Answer the first connection in a thread."""

    def serve() -> None:
        with server.accept()[0] as connection:
            connection.recv(100)
            connection.sendall(answer)

    thread = threading.Thread(target=serve)
    thread.start()
    return thread


def test_another_server_at_the_address_is_no_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", NoRay())  # type: ignore[arg-type]
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = serve_once(server, b"HTTP/1.1 400 Bad Request\r\n\r\n")
        with pytest.raises(UnsupportedEnvironmentError, match="what listens there is no head node of Ray") as caught:
            RaySessionPool(1, address=f"127.0.0.1:{server.getsockname()[1]}")
        thread.join(10.0)
    assert "within" not in str(caught.value)


def test_who_answers_is_distinguished() -> None:
    settings = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
    for answer, reported in ((settings, ""), (b"HTTP/1.1 400 Bad Request\r\n\r\n", "no head node of Ray")):
        with socket.create_server(("127.0.0.1", 0)) as server:
            thread = serve_once(server, answer)
            found = ray_cluster.answers("127.0.0.1", server.getsockname()[1], 10.0)
            thread.join(10.0)
        assert reported in found and bool(reported) == bool(found)


def test_versions_are_those_of_this_process() -> None:
    found = version_reader()()
    assert found["Python"] == f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert "none" not in found.values() and set(found) == {"Python", "tf1sessions", "TensorFlow"}


def test_files_of_a_model_are_there_while_they_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    source = tmp_path / "model.pb"
    source.write_bytes(b"graph")
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.add(source, "model.pb")
    files = np.frombuffer(packed.getvalue(), np.uint8)
    abandoned = tmp_path / "tf1sessions-model-abandoned"  # by a process that was killed
    abandoned.mkdir()
    (abandoned / "model.pb").touch()
    with unpacked(files, "model.pb") as first:
        assert not abandoned.exists()
        with unpacked(files, "model.pb") as second:  # another worker of the machine
            assert Path(first).read_bytes() == Path(second).read_bytes() == b"graph"
            assert os.path.dirname(first) != os.path.dirname(second)
        assert Path(first).exists() and not Path(second).exists()
    assert not list(tmp_path.glob("tf1sessions-model-*"))


def test_a_worker_plans_for_the_gpu_that_ray_gave_it(run_python: Callable[..., PythonRun]) -> None:
    """``num_gpus=0.25`` is a quarter of a GPU, the CUDA context included, whatever is free of it at the moment."""
    done = run_python(
        """
        import dataclasses, os
        from tf1sessions.pools import ray_pool, ray_worker
        from tf1sessions.sessions import gpus

        def wanted(**options):
            given = dict.fromkeys(field.name for field in dataclasses.fields(ray_pool._RayPoolOptions))
            given |= dict(name="pool", max_workers=1, initargs=(), mode="tf1", retries=0, node_retries=0, num_cpus=1)
            return ray_pool._RayPoolOptions(**given | dict(num_gpus=0, connect_limit_secs=1) | options).worker_plan()

        here = gpus.Machine.from_dict({"gpus": [{"total_mb": 16000, "free_mb": 100}], "cores": 8, "mps": True})
        gpus.look = lambda: here
        quarter = ray_worker.plan_here(wanted(num_gpus=0.25)).share()
        turns = os.environ["CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"]
        report(quarter=[quarter.gpu, quarter.memory_mb, quarter.by_limit, turns])
        limit = ray_worker.plan_here(wanted(num_gpus=0.5, plan={"limit_mb": 2000})).share()
        report(limit=[limit.memory_mb, limit.growth])
        growth = ray_worker.plan_here(wanted(num_gpus=0.5, plan={"growth": True})).share()
        report(growth=[growth.memory_mb is None, growth.growth])
        report(none=[wanted(num_gpus=1), wanted(num_gpus=0)])
        """
    ).results
    assert done["quarter"] == [0, 3400.0, True, "25"]
    assert done["limit"] == [2000.0, False]
    assert done["growth"][1] is True
    assert done["none"] == [None, None]
