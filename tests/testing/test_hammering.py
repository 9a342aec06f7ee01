"""Functions called by many threads, and the trees of results that are compared."""

from __future__ import annotations

import threading
import time
from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tf1sessions.errors import HammerError, UsageError
from tf1sessions.testing import nested_values
from tf1sessions.testing.exploration import explore
from tf1sessions.testing.hammering import hammer
from tf1sessions.testing.leaks import no_leaks
from tf1sessions.testing.schedules import Schedule


class Shared:
    """Computes through an attribute; two threads get each other's value."""

    def __init__(self) -> None:
        self._value: Any = None
        self._lock = threading.Lock()

    def unsafe(self, value: Any) -> Any:
        self._value = value
        time.sleep(0.0005)
        return {"squared": np.square(self._value)}

    def safe(self, value: Any) -> Any:
        with self._lock:
            return self.unsafe(value)


def test_what_is_safe() -> None:
    assert hammer(Shared().safe, threads=4, calls=10) == 40


def test_what_is_not(tmp_path: Path) -> None:
    feeds = [np.full(3, number, np.float32) for number in range(7)]
    with pytest.raises(HammerError, match=r"call \d of 7 gives another result than alone: squared is") as caught:
        hammer(Shared().unsafe, threads=4, calls=30, feeds=feeds, folder=str(tmp_path))
    saved = nested_values.read(caught.value.saved)
    np.testing.assert_array_equal(saved[""], feeds[caught.value.number])
    assert str(tmp_path / "feed.npz") in str(caught.value)


def test_a_call_that_raises_only_beside_others(tmp_path: Path) -> None:
    inside = threading.Lock()

    def alone(number: int) -> int:
        if not inside.acquire(blocking=False):
            raise RuntimeError("in use")
        time.sleep(0.001)
        inside.release()
        return number

    with pytest.raises(HammerError, match="raised RuntimeError: in use") as caught:
        hammer(alone, threads=3, calls=20, folder=str(tmp_path))
    assert isinstance(caught.value.__cause__, RuntimeError)
    assert caught.value.saved == str(tmp_path / "feed.npz")


def test_what_is_not_the_same_alone() -> None:
    numbers = iter(range(1000))
    with pytest.raises(HammerError, match="alone, the same call gives two results"):
        hammer(lambda _: next(numbers))


def test_threads_that_do_not_end() -> None:
    go = threading.Event()
    alone = threading.get_ident()

    def stuck(number: int) -> int:
        if threading.get_ident() != alone:
            go.wait(30.0)
        return number

    with pytest.raises(HammerError, match=r"after 0.1 s hammer-0, hammer-1 had not ended"):
        hammer(stuck, threads=2, calls=1, timeout_secs=0.1)
    go.set()


@pytest.mark.parametrize(
    ("options", "message"),
    [({"threads": 0}, "threads=0"), ({"calls": 0}, "calls=0"), ({"feeds": []}, "feeds is empty")],
)
def test_wrong_calls(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        hammer(lambda number: number, **options)


@pytest.mark.parametrize("secs", [0, -1.0, float("nan"), float("inf"), 1e300, 10**400, "1", True])
def test_times_for_which_no_thread_can_wait(secs: Any) -> None:
    def watched() -> None:
        with no_leaks(grace_secs=secs or -1):  # 0 is right there
            pass

    calls = [
        lambda: hammer(abs, 2, 2, timeout_secs=secs),
        lambda: Schedule("a", timeout_secs=secs),
        lambda: explore(abs, timeout_secs=secs),
        lambda: explore(abs, patience_secs=secs),
        watched,
    ]
    for call in calls:
        with pytest.raises(UsageError, match=r"_secs is .*Give a number of seconds .* at most 1,000,000,000"):
            call()


# -- trees ------------------------------------------------------------------------------------------------------------

Pair = namedtuple("Pair", "left right")


def test_paths() -> None:
    tree = {"b": [1, (2.0, None)], "a": Pair("x", {"deep": np.zeros(2)}), 3: b"raw"}
    assert list(nested_values.flatten(tree)) == ["3", "a.left", "a.right.deep", "b[0]", "b[1][0]"]
    assert list(nested_values.flatten(4.0)) == [""]
    assert nested_values.flatten({"text": np.array(["a", b"bc"], object)})["text"].tolist() == [b"a", b"bc"]
    with pytest.raises(UsageError, match="x is a object, which cannot be compared"):
        nested_values.flatten({"x": object()})


@pytest.mark.parametrize(
    ("found", "expected", "texts"),
    [
        ({"a": 1.0}, {"a": 1.0}, []),
        ({"a": float("nan")}, {"a": float("nan")}, []),
        ({"a": [1.0, np.inf]}, {"a": [1.0, np.inf]}, []),
        ({"a": 1.0}, {"b": 1.0}, ["b is missing", "a was not expected"]),
        ({"a": np.zeros(2)}, {"a": np.zeros(3)}, ["a has the shape [2] instead of [3]"]),
        ({"a": 1}, {"a": 1.0}, ["a is int64 instead of float64"]),
        ({"a": b"x"}, {"a": b"y"}, ["a is b'x' instead of b'y'"]),
        (5, 6, ["the value is 5 instead of 6"]),
    ],
)
def test_differences(found: Any, expected: Any, texts: list[str]) -> None:
    assert nested_values.differences(nested_values.flatten(found), nested_values.flatten(expected), 0.0, 0.0) == texts


def test_the_worst_element_is_named() -> None:
    expected = np.zeros((2, 3))
    found = expected.copy()
    found[0, 1], found[1, 2] = 0.5, -2.0
    (texts,) = nested_values.differences({"a": found}, {"a": expected}, 0.0, 0.1)
    assert "at [1, 2]" in texts and "2 of 6 values differ" in texts
    assert nested_values.differences({"a": found}, {"a": expected}, 0.0, 2.0) == []


def test_many_differences_are_cut() -> None:
    texts = nested_values.differences({}, {str(number): np.zeros(1) for number in range(9)}, 0.0, 0.0)
    assert len(texts) == 6 and texts[-1] == "and 4 more"


def test_files(tmp_path: Path) -> None:
    tree = nested_values.flatten({"": 1.0, "file": np.arange(3), "deep": {"a/b": [b"x"]}})
    nested_values.write(tmp_path / "new" / "golden.npz", tree)
    again = nested_values.read(tmp_path / "new" / "golden.npz")
    assert again.keys() == tree.keys() and nested_values.differences(again, tree, 0.0, 0.0) == []
    assert [each.name for each in (tmp_path / "new").iterdir()] == ["golden.npz"]
    with pytest.raises(UsageError, match="--update-goldens"):
        nested_values.read(tmp_path / "none.npz")
    (tmp_path / "bad.npz").write_text("x")
    with pytest.raises(UsageError, match="no .npz of arrays"):
        nested_values.read(tmp_path / "bad.npz")
