"""Tests with fixtures that each thread makes for itself; run by test_each_thread.py.

How each ends is in its name: ``..._fails``, or else it passes.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support import wait_for

import tf1sessions as t1

t1.tf1.Session().close()  # TensorFlow starts here, not in the time of the test that hangs
_lock = threading.Lock()
events: Counter[tuple[str, str]] = Counter()  # by the names of a test and of what happened
clients: list[dict[str, Any]] = []


def note(request: pytest.FixtureRequest, what: str) -> None:
    with _lock:
        events[request.node.originalname, what] += 1


def counts(test: str) -> dict[str, int]:
    return {what: count for (name, what), count in events.items() if name == test}


@pytest.fixture(scope="module")
def wide() -> object:
    return object()


@pytest.fixture
def shared(request: pytest.FixtureRequest) -> object:
    note(request, "shared")
    return object()


@pytest.fixture(params=["small", "large"])
def model(request: pytest.FixtureRequest, wide: object, shared: object) -> Iterator[dict[str, Any]]:
    assert request.fixturename == "model"
    request.addfinalizer(lambda: note(request, "model's finalizer"))  # noqa: PT021 - as well
    note(request, "model")
    yield {"size": request.param, "wide": wide, "shared": shared, "thread": threading.get_ident()}
    note(request, "end of model")


@pytest.fixture
def client(
    model: dict[str, Any], tmp_path: Path, tf1_thread: Any, request: pytest.FixtureRequest
) -> Iterator[dict[str, Any]]:
    """Is not listed, and needs one that is."""
    assert request.getfixturevalue("model") is model and request.getfixturevalue("shared") is model["shared"]
    yield {"model": model, "path": tmp_path, "number": tf1_thread.number}
    assert model["thread"] == threading.get_ident()
    note(request, "end of client")


@pytest.mark.tf1(threads=3, iterations=2, each_thread=["model"])
def test_each_has_its_own(client: dict[str, Any], shared: object, wide: object, tf1_thread: Any) -> None:
    assert client["number"] == tf1_thread.number and client["model"]["thread"] == threading.get_ident()
    assert client["model"]["shared"] is shared and client["model"]["wide"] is wide
    clients.append(client)


def test_each_had_its_own() -> None:
    for size in ("small", "large"):
        own = [each for each in clients if each["model"]["size"] == size]
        assert len({id(each["model"]) for each in own}) == len({each["path"] for each in own}) == 6
    ends = ("end of client", "end of model", "model's finalizer")
    assert counts("test_each_has_its_own") == {"shared": 2, "model": 12, **dict.fromkeys(ends, 12)}


@pytest.mark.tf1(threads=2, each_thread="model")
def test_in_one_thread_fails(client: dict[str, Any], tf1_thread: Any) -> None:
    assert not tf1_thread.number, "on purpose"


def test_fixtures_of_a_failed_test_have_ended() -> None:
    ends = ("end of client", "end of model", "model's finalizer")
    assert counts("test_in_one_thread_fails") == {"shared": 2, "model": 4, **dict.fromkeys(ends, 4)}


class TestMethods:
    @pytest.fixture
    def model(self, model: dict[str, Any]) -> dict[str, Any]:
        """Overrides that of the module, and asks for it."""
        return {**model, "test": self}

    @pytest.mark.tf1(threads=2, each_thread=["model"])
    def test_overridden(self, model: dict[str, Any]) -> None:
        assert model["test"] is self and model["thread"] == threading.get_ident()


@pytest.fixture
def unlucky(request: pytest.FixtureRequest) -> Iterator[None]:
    request.addfinalizer(lambda: note(request, "finalizer"))  # noqa: PT021 - as well
    yield
    raise OSError("cannot be removed")


@pytest.mark.tf1(threads=2, each_thread=["unlucky"])
@pytest.mark.usefixtures("unlucky")
def test_end_of_a_fixture_fails() -> None:
    pass


def test_other_finalizers_have_run() -> None:
    assert counts("test_end_of_a_fixture_fails") == {"finalizer": 2}


@pytest.fixture
def twice() -> Iterator[int]:
    yield 1
    yield 2


@pytest.mark.tf1(iterations=2, each_thread=["twice"])
def test_two_yields_fails(twice: int) -> None:
    pass


@pytest.fixture
def late(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue("monkeypatch")


@pytest.mark.tf1(threads=2, each_thread=["late"])
def test_asks_late_fails(late: Any) -> None:
    pass


@pytest.fixture
def hungry(tf1_session: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    yield t1.tf1.FIFOQueue(1, t1.tf1.float32).dequeue()
    note(request, "end")


@pytest.mark.tf1(threads=2, timeout=2, each_thread=["hungry"])
def test_hangs_fails(tf1_session: Any, hungry: Any) -> None:
    assert hungry.graph is tf1_session.graph
    tf1_session.run(hungry)


def test_fixtures_have_ended_after_a_timeout() -> None:
    wait_for(lambda: counts("test_hangs_fails") == {"end": 2}, "threads that may have been given up before they ended")


@pytest.mark.tf1(explore=4, threads=2, each_thread=["model"])
def test_in_every_order(model: dict[str, Any]) -> None:
    assert model.setdefault("seen", 0) == 0


def test_in_every_order_it_was_made() -> None:
    number = counts("test_in_every_order")
    assert number["model"] == number["end of model"] >= 8
