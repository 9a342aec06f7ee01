"""Tests that ask the pytest plugin for what cannot be; run by test_plugin.py, which has the error of each."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.tf1(thread=4)
def test_unknown_keyword() -> None: ...


@pytest.mark.tf1(8)
def test_positional() -> None: ...


@pytest.mark.tf1(threads=0)
def test_no_threads() -> None: ...


@pytest.mark.tf1(threads=10001)
def test_too_many_threads() -> None: ...


@pytest.mark.tf1(timeout=1e300)
def test_timeout_of_ages() -> None: ...


@pytest.mark.tf1(threads=True)
def test_threads_of_another_kind() -> None: ...


@pytest.mark.tf1(iterations=-1)
def test_iterations() -> None: ...


@pytest.mark.tf1(seed=-1)
def test_seed() -> None: ...


@pytest.mark.tf1(timeout="soon")
def test_timeout() -> None: ...


@pytest.mark.tf1(config=3)
def test_config() -> None: ...


@pytest.mark.tf1(config={"threads": 3})
def test_config_of_unknown_field() -> None: ...


@pytest.mark.tf1(config={"seed": -1})
def test_config_with_wrong_value() -> None: ...


@pytest.mark.tf1(threads=2, share="sessions")
def test_share(tf1_session: Any) -> None: ...


class Odd(int):
    """Neither compares, nor can be shown."""

    def __repr__(self) -> str:
        raise ZeroDivisionError

    def __le__(self, other: object) -> bool:
        raise ZeroDivisionError

    __lt__ = __gt__ = __ge__ = __eq__ = __index__ = __str__ = __le__  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


@pytest.mark.tf1(threads=Odd(2))
def test_odd_threads() -> None: ...


@pytest.mark.tf1(share=Odd(2))
def test_odd_share() -> None: ...


@pytest.mark.tf1(nothing=Odd(2))
def test_odd_keyword() -> None: ...


@pytest.mark.tf1(Odd(2))
def test_odd_value() -> None: ...


@pytest.mark.tf1(share="session")
def test_share_alone(tf1_session: Any) -> None: ...


@pytest.mark.tf1(threads=2, share="graph")
def test_share_without_fixture(tf1_session: Any) -> None: ...


@pytest.mark.tf1(threads=2)
def test_capsys(capsys: Any) -> None: ...


@pytest.mark.tf1(threads=2)
def test_monkeypatch(monkeypatch: Any) -> None: ...


@pytest.mark.tf1(threads=2)
def test_request(request: Any) -> None: ...


@pytest.fixture
def own_unshareable() -> None: ...


@pytest.mark.tf1(threads=2)
def test_unshareable_by_setting(own_unshareable: None) -> None: ...


@pytest.fixture
def model(tf1_session: Any) -> None: ...


@pytest.mark.tf1(threads=2)
def test_fixture_that_needs_what_is_made_later(model: None) -> None: ...


@pytest.mark.tf1(threads=2)
async def test_async() -> None: ...


@pytest.mark.parametrize("tf1_pool", ["fibres"], indirect=True)
def test_pool(tf1_pool: Any) -> None: ...


@pytest.mark.tf1(explore=0)
def test_explore() -> None: ...


@pytest.mark.tf1(explore=5, iterations=2)
def test_explore_with_iterations() -> None: ...


@pytest.mark.tf1(explore=5, threads=2)
def test_explore_with_capsys(capsys: Any) -> None: ...


@pytest.mark.tf1_leaks(allow=("threads",))
def test_leaks_without_reason() -> None: ...


@pytest.mark.tf1_leaks(allow=("treads",), reason="why not")
def test_unknown_leak() -> None: ...


@pytest.mark.tf1_leaks(Odd(2), reason="why not")
def test_odd_leak_as_an_argument() -> None: ...


@pytest.mark.tf1_leaks(allow=Odd(2), reason="why not")
def test_odd_leaks() -> None: ...


@pytest.mark.tf1_leaks(allow=["threads", Odd(2)], reason="why not")
def test_odd_leak() -> None: ...


@pytest.mark.parametrize("tf1_pool", [pytest.param(Odd(2), id="odd")], indirect=True)
def test_odd_pool(tf1_pool: Any) -> None: ...


# -- near misses ------------------------------------------------------------------------------------------------------


@pytest.mark.tf1(threads=1, iterations=1, seed=0, timeout=0.5, config=None, share=None)
def test_right() -> None: ...


@pytest.mark.tf1(explore="C2 B", share="session")
def test_right_explored(tf1_session: Any) -> None: ...


@pytest.mark.tf1(threads=2, share="session")
def test_right_shared(model: None, tf1_session: Any) -> None: ...


@pytest.fixture
def uses_monkeypatch(monkeypatch: Any) -> None: ...


@pytest.mark.tf1(threads=2)
def test_right_with_a_fixture_that_is_made_once(uses_monkeypatch: None, tmp_path: Any) -> None: ...


@pytest.mark.tf1(iterations=2)
def test_right_in_one_thread(capsys: Any, request: Any) -> None: ...
