"""Fixtures that each thread of a test makes for itself, in a pytest of their own."""

from __future__ import annotations

import pytest
from test_plugin import program, run, warm_pytest

__all__ = ["warm_pytest"]

pytest_plugins = ["pytester"]

#: What is in the report of a test.
_EXPECTED = {
    "test_in_one_thread_fails": ["on purpose", "raised in thread 1 of 2"],
    "test_end_of_a_fixture_fails": ["OSError: cannot be removed"],
    "test_two_yields_fails": ["the fixture 'twice' has more than one yield"],
    "test_asks_late_fails": ["monkeypatch is asked for by getfixturevalue()", "Make it an argument of the fixture"],
    "test_hangs_fails": ["Timeout (>2 s)", "QueueDequeueV2"],
}


@pytest.mark.slow
@pytest.mark.usefixtures("warm_pytest")
def test_by_the_marker(pytester: pytest.Pytester) -> None:
    program(pytester, "each_thread")
    done = run(pytester, "-p", "no:xdist")
    wrong = {name: end for name, end in done.outcomes.items() if (end == "failed") != ("_fails" in name)}
    assert not wrong and len(done.outcomes) == 17, done.output
    for name, parts in _EXPECTED.items():
        text = next(text for full, text in done.texts.items() if full.partition("[")[0] == name)
        assert [part for part in parts if part not in text] == [], text


_SUITE = """
    import asyncio
    import pytest

    @pytest.fixture(scope="module")
    def wide():
        return []

    @pytest.fixture
    def counts(wide):
        return []

    @pytest.fixture
    async def later():
        return []

    def test_own(counts, wide):
        counts.append(1)
        wide.append(1)
        assert len(counts) == 1

    def test_wide(wide):
        assert len(wide) >= 4

    @pytest.mark.thread_unsafe(reason="once")
    def test_once(counts):
        assert counts == []
"""


def test_by_the_option(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(_SUITE)
    leaks = ("-p", "no:xdist", "--tf1-leaks=off")  # needs no TensorFlow
    done = run(pytester, *leaks, "--tf1-threads=4", "--tf1-each-thread=counts, wide later")
    assert set(done.outcomes.values()) == {"passed"} and len(done.outcomes) == 3, done.output
    done = run(pytester, *leaks, "--tf1-threads=4")
    assert done.outcomes["test_own"] == "failed", done.output  # one list for all


@pytest.mark.parametrize(
    ("marker", "message"),
    [
        ("threads=2, each_thread=['wide']", "tf1(each_thread='wide'): it is made once for a module"),
        ("threads=2, each_thread=['later']", "tf1(each_thread='later'): it is an async function"),
        ("threads=2, each_thread=['tmp_path']", "tf1(each_thread='tmp_path'): what it gives in threads"),
        ("threads=2, each_thread=['monkeypatch']", "tf1(each_thread='monkeypatch'): what one thread replaces"),
        ("each_thread=['counts']", "tf1(each_thread=['counts']) of a test that runs once"),
        ("threads=2, each_thread=['count']", "there is no fixture 'count' (from "),
        ("threads=2, each_thread=['count']", "Did you mean 'counts'?"),
        ("threads=2, each_thread='1'", "Give one that `pytest --fixtures` lists."),
        ("threads=2, each_thread=[1]", "Give names of fixtures: each_thread="),
    ],
)
def test_wrong_markers(pytester: pytest.Pytester, marker: str, message: str) -> None:
    pytester.makepyfile(f"""{_SUITE}
    @pytest.mark.tf1({marker})
    def test_wrong(wide, later, counts, tmp_path, monkeypatch):
        pass
    """)
    done = pytester.runpytest_subprocess("-p", "no:xdist", "--collect-only")
    assert done.ret != 0 and message in done.stdout.str(), done.stdout.str()


def test_unknown_names(pytester: pytest.Pytester) -> None:
    """A marker may name what not every test has; an option what is not among these tests, with a warning."""
    pytester.makepyfile(f"""
    import pytest
    pytestmark = pytest.mark.tf1(iterations=2, each_thread=["counts"])
    {_SUITE}
    def test_without():
        pass
    """)
    args = ("-p", "no:xdist", "--tf1-leaks=off", "--tf1-each-thread=cuonts", "-k", "test_without or test_once")
    done = run(pytester, *args)
    assert set(done.outcomes.values()) == {"passed"} and len(done.outcomes) == 2, done.output
    message = "tf1_each_thread: there is no fixture 'cuonts' in these tests. Did you mean 'counts'?"
    assert f"PytestConfigWarning: {message}" in done.output, done.output
    done = run(pytester, *args, "-W", "error")
    assert f"ERROR: {message}" in done.output and done.ret == pytest.ExitCode.USAGE_ERROR, done.output
