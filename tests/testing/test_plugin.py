"""The pytest plugin, in pytests of their own: every fixture, keyword, option, and what goes wrong.

Each of those pytests starts TensorFlow, so there are few, with many tests in each.
"""

from __future__ import annotations

import os
import re
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

import pytest
from pages import NOTES, blocks, table

from tf1sessions import testing
from tf1sessions.testing.settings import FIXTURES, KEYWORDS, OPTIONS

pytest_plugins = ["pytester"]

HERE = Path(__file__).parent
PAGE = NOTES / "13-testing.md"


@dataclass(frozen=True)
class Run:
    """The results of a run of pytest: for each test "passed", "failed", "error" or "skipped", and its text."""

    outcomes: dict[str, str]
    texts: dict[str, str]
    output: str
    ret: int


#: Asks the server of warm.py for a pytest.
_CLIENT = """
import sys
sys.path.insert(0, {folder!r})
import warm_client
sys.exit(warm_client.ask({address!r}, {code!r}, {report!r}))
"""
_PYTEST = """
import os, sys
sys.path[1:1] = os.environ["PYTHONPATH"].split(os.pathsep)
import pytest
sys.exit(pytest.main())
"""


@pytest.fixture
def warm_pytest(warm_address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets :func:`run` start pytests that have TensorFlow already, in tests that are not about how it is imported."""
    monkeypatch.setenv("TF1SESSIONS_TEST_SERVER", warm_address)


def run(pytester: pytest.Pytester, *args: str, timeout: float = 150.0) -> Run:
    """A pytest in a process of its own."""
    report, start = pytester.path / "report.xml", ["-mpytest", f"--basetemp={pytester.path / 'temporary'}"]
    settings = ["-p", "no:cacheprovider", "-o", "junit_logging=no", f"--junitxml={report}", "-p", "seldom_collecting"]
    if address := os.environ.get("TF1SESSIONS_TEST_SERVER"):
        start[0] = str(pytester.path / "client.py.txt")
        code = _CLIENT.format(folder=str(HERE.parent), address=address, code=_PYTEST, report=os.devnull)
        Path(start[0]).write_text(code, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        for folder in (HERE.parent, HERE):  # where that plugin is, and what it needs
            patch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
        done = pytester.run(sys.executable, *start, *settings, *args, timeout=timeout)
    outcomes: dict[str, str] = {}
    texts: dict[str, str] = {}
    for case in ElementTree.parse(report).iter("testcase") if report.exists() else ():
        name = case.get("name", "")
        worst = next(iter(case), None)
        outcomes[name] = "passed" if worst is None else {"failure": "failed"}.get(worst.tag, worst.tag)
        texts[name] = "\n".join(f"{each.get('message')}\n{each.text}" for each in case)
    return Run(outcomes, texts, "\n".join([*done.outlines, *done.errlines]), int(done.ret))


def program(pytester: pytest.Pytester, name: str) -> None:
    """Puts a file of tests from beside this one where a pytest finds it."""
    (pytester.path / f"test_{name}.py").write_text((HERE / f"plugin_{name}.py").read_text("utf-8"), "utf-8")


# -- tests that use it ------------------------------------------------------------------------------------------------

_ENDS = {"fails": "failed", "is_error": "error", "is_skipped": "skipped"}
#: What is in the report of a test, by the end of its name; in this order.
_EXPECTED = {
    "building_in_a_shared_session_fails": ["ConcurrentGraphError", "tf1sessions", "of 2, iteration 0"],
    "all_errors_are_shown_fails": ["of 4, iteration 0; 3 of the threads raised"],
    "same_errors_are_shown_once_fails": ["AssertionError: the same", "of 3, iteration 0; 3 of the threads raised"],
    "fails_in_its_third_iteration_fails": ["raised in thread 0 of 1, iteration 2; 1 of the threads raised"],
    "errors_win_over_skips_fails": ["ValueError: but here"],
    "argument_asked_for_late_fails": ["tf1_session is asked for by getfixturevalue()", "Make it an argument"],
    "race_fails": ["concurrent construction", "thread 'tf1-thread-", "thread 'tf1-thread-", "graph_races.allow("],
    "other_kind_allowed_fails": ["concurrent construction"],
    "default_left_on_the_stack_is_error": ["the test has left <tensorflow", "enter them with `with`"],
    "leak_is_error": ["left sessions: ", "made at", "in test_leak_is_error", "tf1_leaks(allow=(...), reason=...)"],
    "leak_of_another_kind_is_error": ["left sessions: "],
    "marker_alone_is_use_is_error": ["left sessions: "],
    "skip_in_threads_is_skipped": ["not here"],
    "an_order_goes_wrong_fails": ["in the order '", "it raises AssertionError", "@pytest.mark.tf1(explore='"],
    "order_that_is_given_fails": ["in the order 'A1 B' it raises AssertionError"],
    "skip_in_an_order_is_skipped": ["not in this order"],
}


def in_order(text: str, parts: list[str]) -> bool:
    return re.search(".*".join(map(re.escape, parts)), text, re.DOTALL) is not None


@pytest.mark.slow
@pytest.mark.usefixtures("warm_pytest")
def test_fixtures_and_marker(pytester: pytest.Pytester) -> None:
    """Each test of plugin_checks.py says in its name how it ends."""
    program(pytester, "checks")
    pytester.makeconftest(
        """
        import pytest

        def pytest_collection_modifyitems(items):
            for item in items:
                if item.name == "test_marked_later":
                    item.add_marker(pytest.mark.tf1(threads=3))
        """
    )
    page = "\n\n".join(block.text for block in blocks(PAGE, "py"))
    (pytester.path / "test_page.py").write_text(page, "utf-8")
    done = run(pytester, "-p", "no:xdist", "-W", "error::pytest.PytestWarning")
    ran = {name.partition("[")[0] for name in done.outcomes}
    assert {"test_session", *re.findall(r"def (test_\w+)", page)} <= ran, done.output
    wrong = {}
    for name, outcome in done.outcomes.items():
        expected = next((end for word, end in _ENDS.items() if re.search(rf"_{word}(\[|$)", name)), "passed")
        if outcome != expected:
            wrong[name] = (outcome, done.texts[name])
    assert not wrong, "\n".join(f"{name}: {outcome}\n{text}" for name, (outcome, text) in wrong.items())
    for name, parts in _EXPECTED.items():
        assert in_order(done.texts[f"test_{name}"], parts), done.texts[f"test_{name}"]
    all_errors = done.texts["test_all_errors_are_shown_fails"]
    for number, error in enumerate(("ValueError: of thread 0", "SystemExit: of thread 1", "Failed: of thread 2")):
        assert error in all_errors and f"thread {number} " in all_errors, all_errors
    same = done.texts["test_same_errors_are_shown_once_fails"]
    assert len(re.findall(r"threads \d \(iteration 0\), \d \(iteration 0\)", same)) == 1, same
    assert done.texts["test_leak_of_a_failed_test_is_not_reported_fails"].count("what matters") and not in_order(
        done.texts["test_leak_of_a_failed_test_is_not_reported_fails"], ["left sessions"]
    )
    assert "unknown order" not in done.output  # of the lock that the module makes when it is imported
    assert done.output.count("GraphRaceWarning: variable read while assigned") == 1, done.output


@pytest.mark.slow
def test_hangs(pytester: pytest.Pytester) -> None:
    """They end, by the means of both methods of pytest-timeout, in workers of pytest-xdist, and the worker goes on."""
    program(pytester, "hangs")
    done = run(pytester, "-n", "2", "--dist", "load")
    assert "crashed" not in done.output and len(done.outcomes) == 14, done.output
    assert "no time-out" in done.texts.pop("test_all_goes_on")
    assert "Timeout (>1.0s) from pytest-timeout" in done.texts["test_in_python"]
    waits = [
        r"threads? .*'{}'.* waits? in session 0x\w+ for .*, at .*test_hangs\.py:\d+",
        r"queue 'food' \(fifo\): 0 items of 3, open",
    ]
    for name, text in done.texts.items():
        assert re.search(r"Timeout \(>[13]", text), text
        assert in_order(text, ["what it waited for", "thread "]), text
        if "locks" in name or "python" in name:
            assert "no thread waits in a session" in text
            continue
        for thread in ("tf1-thread-1", "tf1-thread-2") if "threads" in name else ("MainThread",):
            for pattern in waits:
                assert re.search(pattern.format(thread), text), text
        assert name.startswith("test_in_a_plain") or "for 'eat' (QueueDequeueV2) since " in text
    assert re.search(
        r"threads 'tf1-thread-0', 'tf1-thread-1' are at .*in test_in_locks", done.texts["test_in_locks[thread]"]
    )


def test_hang_without_pytest_timeout(pytester: pytest.Pytester) -> None:
    program(pytester, "stuck")
    done = run(pytester, "-p", "no:timeout", "-p", "no:xdist")
    assert done.outcomes == {"test_stuck": "failed", "test_after": "passed"}, done.output
    assert in_order(done.texts["test_stuck"], ["Timeout (>0.5 s)", "thread 'MainThread' is at ", "lock.acquire()"])


def test_time_is_up_before_a_test_has_begun(pytester: pytest.Pytester) -> None:
    """Or between its phases, where pytest takes an error for its own: the test fails, and the run goes on."""
    pytester.makeconftest(
        """
        import signal

        def pytest_runtest_logstart():
            signal.pause()  # until the alarm
        """
    )
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.tf1(timeout=0.0001)
        def test_marked():
            pass

        def test_by_the_option(tf1_thread):
            pass
        """
    )
    done = run(pytester, "-p", "no:xdist", "--tf1-leaks=off", "--tf1-timeout=1e-300", "--timeout-method=signal")
    assert done.outcomes == {"test_marked": "error", "test_by_the_option": "error"}, done.output
    for text in done.texts.values():
        assert in_order(text, ["Timeout (>", "what it waited for"]), text


def test_where_no_thread_can_be_started(pytester: pytest.Pytester) -> None:
    """The run of the tests goes on, without what the plugin knows of those that hang."""
    pytester.makepyfile(
        """
        import threading
        import pytest

        pytestmark = pytest.mark.tf1(seed=1)

        def test_leaves_no_hook():
            threading.excepthook = None  # Python starts no thread then

        def test_next():
            pass
        """
    )
    done = run(pytester, "-p", "no:xdist", "-p", "no:threadexception", "--timeout", "100")
    assert done.outcomes == {"test_leaves_no_hook": "passed", "test_next": "passed"}, done.output


def test_hang_that_nothing_ends(pytester: pytest.Pytester) -> None:
    """pytest-timeout's own way is the last one; what is known is printed before."""
    program(pytester, "stuck")
    done = run(pytester, "-p", "no:xdist", "--timeout-method=thread")
    assert in_order(done.output, ["test_stuck hangs", "no thread waits in a session", "thread 'MainThread' is at "])
    assert done.ret == 1 and not done.outcomes


# -- wrong use --------------------------------------------------------------------------------------------------------

_WRONG = {
    "unknown_keyword": ["tf1(thread=4): there is no 'thread'", "Give one of seed, config"],
    "positional": ["tf1(8)", "Give keywords: seed, config"],
    "no_threads": ["tf1(threads=0)", "Give a whole number from 1 to 10,000."],
    "threads_of_another_kind": ["tf1(threads=True)", "Give a whole number from 1 to 10,000."],
    "too_many_threads": ["tf1(threads=10001)", "Give a whole number from 1 to 10,000."],
    "iterations": ["tf1(iterations=-1)", "Give a whole number of 1 or more."],
    "seed": ["tf1(seed=-1)", "Give a whole number from 0 to 2**32 - 1"],
    "timeout": ["tf1(timeout='soon')", "Give a number of seconds above 0, and at most"],
    "timeout_of_ages": ["tf1(timeout=1e+300)", "Give a number of seconds above 0, and at most 1,000,000,000."],
    "config": ["tf1(config=3)", "Give a SessionConfig, its arguments as a dict, or a ConfigProto."],
    "config_of_unknown_field": ["tf1(config={'threads': 3}): ", "unexpected keyword argument 'threads'"],
    "config_with_wrong_value": ["tf1(config={'seed': -1}): seed is -1"],
    "share": ["tf1(share='sessions')", 'Give "session" or "graph"'],
    "odd_threads": ["tf1(threads=<Odd instance at", "Give a whole number from 1"],
    "odd_share": ["tf1(share=<Odd instance at", 'Give "session" or "graph"'],
    "odd_keyword": ["tf1(nothing=<Odd instance at", "there is no 'nothing'"],
    "odd_value": ["tf1(<Odd instance at", "Give keywords: "],
    "share_alone": ["tf1(share='session') of a test that runs once", "Give threads=, iterations= or explore=, too."],
    "share_without_fixture": ["tf1(share='graph') without the fixture tf1_graph", "Ask for it, too."],
    "capsys": ["tf1(threads=2) with the fixture 'capsys': it catches what all threads print", "in a fixture"],
    "monkeypatch": ["tf1(threads=2) with the fixture 'monkeypatch': what one thread replaces", "in a fixture"],
    "request": ["tf1(threads=2) with the fixture 'request': pytest serves one thread only"],
    "unshareable_by_setting": ["tf1(threads=2) with the fixture 'own_unshareable': it is listed in tf1_unshareable"],
    "fixture_that_needs_what_is_made_later": ["the fixture 'model' is made once, and 'tf1_session'", 'share="session"'],
    "async": ["tf1(threads=2) of an async function"],
    "pool[fibres]": ["tf1_pool is 'fibres'", 'Give "threads" or "processes"'],
    "explore": ["tf1(explore=0)", "Give a whole number of 1 or more; or one order"],
    "explore_with_iterations": ["tf1(explore=5) with iterations=2", "Leave one of them out."],
    "explore_with_capsys": ["tf1(explore=5) with the fixture 'capsys': it catches what all threads print"],
    "leaks_without_reason": ["tf1_leaks(allow=('threads',))", "Say why"],
    "odd_leak_as_an_argument": ["tf1_leaks(<Odd instance at", "Say why"],
    "odd_leaks": ["tf1_leaks(allow=<Odd instance at", "Give some of 'threads'"],
    "odd_leak": ["there is no kind <Odd instance at", "Give some of 'threads'"],
    "odd_pool[odd]": ["tf1_pool is <Odd instance at", 'Give "threads" or "processes"'],
    "unknown_leak": ["there is no kind 'treads'", "Give some of 'threads'"],
}


@pytest.mark.slow
def test_wrong_use_is_an_error_of_the_collection(pytester: pytest.Pytester) -> None:
    program(pytester, "wrong")
    done = run(pytester, "-p", "no:xdist", "-o", "tf1_unshareable=own_unshareable, another")
    assert done.ret == pytest.ExitCode.INTERRUPTED and "passed" not in done.output, done.output
    lines = done.output.splitlines()
    for name, parts in _WRONG.items():
        where = f"(from test_wrong.py::test_{name})"
        text, *_ = [line for line in lines if where in line]  # where CI is set, the summary repeats whole lines
        assert in_order(text.replace(where, ""), parts), text
    assert not [line for line in lines if "::test_right" in line], done.output


def test_wrong_use_in_workers_of_xdist(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import unittest
        import pytest

        class TestUnittest(unittest.TestCase):
            @pytest.mark.tf1(threads=2)
            def test_it(self):
                pass

        def test_right():
            pass
        """
    )
    done = run(pytester, "-n", "2")
    message = ["tf1(threads=2) of a TestCaseFunction", "TestUnittest::test_it)", "a class that is no unittest.TestCase"]
    assert in_order(done.output, message), done.output
    assert done.ret == pytest.ExitCode.TESTS_FAILED and "INTERNALERROR" not in done.output


# -- options ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("leaks", "some"),
        ("seed", "-1"),
        ("timeout", "0"),
        ("threads", "0"),
        ("threads", "9" * 400),
        ("timeout", "1e300"),
        ("iterations", "1.5"),
        ("switch-interval", "never"),
        ("watch-locks", "yes"),
    ],
)
def test_wrong_option(pytester: pytest.Pytester, name: str, value: str) -> None:
    expected = {option.name: option.expected for option in OPTIONS}[name.replace("-", "_")]
    done = pytester.runpytest_subprocess(f"--tf1-{name}={value}")
    done.stderr.fnmatch_lines(
        [f"ERROR: the value is '{value}' (from option --tf1-{name}). {expected}".replace("**", "[*][*]")]
    )
    assert done.ret == pytest.ExitCode.USAGE_ERROR


def test_wrong_setting(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\ntf1_seed = many")
    done = pytester.runpytest_subprocess()
    done.stderr.fnmatch_lines(["ERROR: the value is 'many' (from setting tf1_seed). Give a whole number *"])


_OPTIONS_TEST = """
    import sys, threading, time
    import pytest
    import tensorflow.compat.v1 as tf

    seen = []

    @pytest.mark.tf1(threads=2)
    def test_threads(tf1_thread, tf1_graph):
        seen.append(tf1_thread)
        assert tf1_thread.threads == 3 and tf1_graph.seed == 17
        assert sys.getswitchinterval() == 0.002

    def test_iterations():
        assert len(seen) == 12

    @pytest.mark.tf1(seed=5)
    def test_marker_wins(tf1_graph):
        assert tf1_graph.seed == 5

    @pytest.mark.thread_unsafe(reason="it counts")
    def test_runs_once(tf1_thread):
        seen.append(0)

    def test_ran_once():
        assert seen[12:] == [0]

    @pytest.mark.thread_unsafe(reason="slow")
    def test_timeout(tf1_graph):
        time.sleep(60)

    @pytest.mark.thread_unsafe(reason="slow")
    def test_timeout_of_others():
        time.sleep(2.5)

    @pytest.mark.timeout(60)
    @pytest.mark.thread_unsafe(reason="slow")
    def test_own_timeout(tf1_graph):
        time.sleep(2.5)

    kept = []

    @pytest.mark.thread_unsafe(reason="the default graph")
    def test_leak():
        with tf.Graph().as_default():
            kept.append(tf.Session())

    def test_locks():
        assert type(threading.Lock()).__name__ == "WatchedLock"

    @pytest.mark.thread_unsafe(reason="one file")
    def test_goldens(tmp_path_factory):
        from tf1sessions.testing import assert_close
        assert_close({"loss": 1.0}, tmp_path_factory.getbasetemp() / "golden.npz")
"""


@pytest.mark.slow
@pytest.mark.usefixtures("warm_pytest")
def test_options(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(_OPTIONS_TEST)
    options = ["--tf1-seed=17", "--tf1-threads=3", "--tf1-iterations=4", "--tf1-switch-interval=0.002"]
    options += ["--tf1-timeout=2", "--tf1-leaks=all", "--tf1-watch-locks=true", "--update-goldens"]
    done = run(pytester, "-p", "no:xdist", *options)
    assert (
        "tf1sessions: leaks=all, seed=17, timeout=2, threads=3, iterations=4, switch_interval=0.002, watch_locks=true, "
        "update_goldens" in done.output
    )
    ends = {"test_timeout": "failed", "test_leak": "error"}
    assert done.outcomes == {name: ends.get(name, "passed") for name in done.outcomes}, done.output
    assert "Timeout (>2" in done.texts["test_timeout"] and "left sessions" in done.texts["test_leak"]


@pytest.mark.usefixtures("warm_pytest")
def test_settings_in_a_file(pytester: pytest.Pytester) -> None:
    """The command line wins; and what is not set is as it was. Nothing of it needs TensorFlow."""
    pytester.makepyprojecttoml(
        """
        [tool.pytest.ini_options]
        tf1_seed = 3
        tf1_threads = 3
        tf1_iterations = "4"
        tf1_switch_interval = "0.002"
        tf1_timeout = "2"
        tf1_leaks = "off"
        """
    )
    pytester.makepyfile(
        """
        import random, sys, threading, time
        import pytest

        first = []
        seen = []

        @pytest.mark.thread_unsafe
        @pytest.mark.tf1(iterations=2)
        def test_iterations(tf1_thread):
            seen.append(tf1_thread.threads)
            first.append(random.random())

        @pytest.mark.tf1(threads=2)
        def test_threads(tf1_thread):
            seen.append(tf1_thread.threads)
            assert sys.getswitchinterval() == 0.002

        def test_ran_so_often():
            assert seen == [1] * 4 + [3] * 12
            assert first[0] == random.Random(17).random()

        @pytest.mark.thread_unsafe
        def test_timeout(tf1_thread):
            time.sleep(60)

        def test_locks():
            assert type(threading.Lock()).__name__ == "lock"
        """
    )
    done = run(pytester, "-p", "no:xdist", "--tf1-seed", "17")
    assert "tf1sessions: leaks=off, seed=17, timeout=2, threads=3, iterations=4, switch_interval=0.002\n" in done.output
    assert {name for name, end in done.outcomes.items() if end != "passed"} == {"test_timeout"}, done.output
    assert len(done.outcomes) == 5


def test_every_test_in_threads(pytester: pytest.Pytester) -> None:
    """Those that can run in threads, unless they are marked; each once more where nothing asks for it."""
    pytester.makepyfile(
        """
        import threading, unittest
        import pytest

        ran = {}

        def note(name):
            ran.setdefault(name, set()).add(threading.get_ident())
            barrier.wait(10) if name in ("plain", "parameter") else None

        barrier = threading.Barrier(4)

        @pytest.fixture
        def made_once():
            return object()

        def test_plain(made_once):
            note("plain")

        @pytest.mark.parametrize("value", [1, 2])
        def test_parameter(value):
            note("parameter")

        @pytest.mark.thread_unsafe(reason="it is the main thread's")
        def test_marked():
            note("marked")

        @pytest.mark.thread_unsafe(reason="it is the main thread's")
        @pytest.mark.tf1(threads=2)
        def test_marked_with_threads(tf1_thread):
            note("with threads")

        def test_captures(capsys):
            note("captures")

        class TestCase(unittest.TestCase):
            def test_case(self):
                note("case")

        @pytest.mark.thread_unsafe(reason="it looks at the others")
        def test_all():
            main = {threading.get_ident()}
            assert len(ran["plain"]) == 4 and len(ran["parameter"]) >= 4
            assert [ran[name] for name in ("marked", "with threads", "captures", "case")] == [main] * 4
        """
    )
    done = run(pytester, "-p", "no:xdist", "--tf1-threads=4")
    assert set(done.outcomes.values()) == {"passed"} and len(done.outcomes) == 8, done.output


@pytest.mark.slow
@pytest.mark.usefixtures("warm_pytest")
def test_races_in_every_test(pytester: pytest.Pytester) -> None:
    """And locks are watched for the modules alone that ask for it."""
    pytester.makepyfile(
        test_a_plain="""
        import threading
        import pytest
        import tensorflow.compat.v1 as tf

        lock = threading.Lock()

        def test_two_threads_build():
            graph = tf.Graph()

            def build():
                with graph.as_default():
                    tf.constant(1.0)

            threads = [threading.Thread(target=build) for _ in range(2)]
            [thread.start() for thread in threads]
            [thread.join() for thread in threads]

        def test_lock(pytestconfig):
            watched = pytestconfig.getoption("tf1_races") == "true"
            assert (type(lock).__name__ == "WatchedLock") == watched
        """,
        test_b_asks="""
        import threading

        lock = threading.Lock()  # of a test with the fixture graph_races

        def test_lock_of_another():
            assert type(lock).__name__ == "WatchedLock"
            assert type(threading.Lock()).__name__ == "lock"
        """,
        test_c_explores="""
        import pytest
        from test_a_plain import test_two_threads_build as build

        @pytest.mark.tf1(explore=2)
        def test_explored():
            build()
        """,
    )
    done = run(pytester, "-p", "no:xdist", "test_b_asks.py", "test_a_plain.py", "test_c_explores.py")
    assert done.outcomes.pop("test_explored") == "failed", done.output
    assert set(done.outcomes.values()) == {"passed"} and len(done.outcomes) == 3, done.output
    done = run(pytester, "-p", "no:xdist", "--tf1-races=true", "test_a_plain.py")
    ends = {"test_two_threads_build": "failed", "test_lock": "passed"}
    assert done.outcomes == ends and "concurrent construction" in done.output, done.output
    rules = (
        f'[[suppress]]\nreason = "a trial"\nkind = "concurrent-construction"\nfile = "{name}.py"\n'
        for name in ("test_a_plain", "other")
    )
    (pytester.path / "races.toml").write_text("".join(rules))
    done = run(pytester, "-p", "no:xdist", "--tf1-suppressions=races.toml", "test_c_explores.py")
    assert done.outcomes == {"test_explored": "passed"}, done.output
    done = run(pytester, "-n", "2", "--tf1-races=true", "--tf1-suppressions=races.toml", "test_a_plain.py")
    assert set(done.outcomes.values()) == {"passed"} and len(done.outcomes) == 2, done.output
    unused = [line for line in done.output.splitlines() if "unused suppression" in line]
    assert len(unused) == 1 and "in races.toml: kind 'concurrent construction', file 'other.py' (a trial)" in unused[0]
    (pytester.path / "races.toml").write_text("[[suppress]]\nkind = 'a'\n")
    done = run(pytester, "-p", "no:xdist", "--tf1-suppressions=races.toml", "test_a_plain.py")
    assert done.ret == 4 and "there is no reason" in done.output, done.output


def test_help_names_everything(pytester: pytest.Pytester) -> None:
    shown = pytester.runpytest_subprocess("--help").outlines
    text = " ".join(" ".join(shown).split())
    for option in OPTIONS:
        assert option.flag in text and f"{option.ini} (string)" in text
        assert text.count(option.help) == 2, option.help
    assert "--update-goldens" in text
    text = " ".join(" ".join(pytester.runpytest_subprocess("--markers").outlines).split())
    assert f"@pytest.mark.tf1({', '.join(KEYWORDS)}):" in text
    assert [purpose for _, _, purpose in KEYWORDS.values() if purpose not in text] == []
    assert "@pytest.mark.tf1_leaks(allow, reason):" in text and "@pytest.mark.thread_unsafe(reason):" in text
    text = "\n".join(pytester.runpytest_subprocess("--fixtures", "-p", "no:xdist").outlines)
    assert [name for name in FIXTURES if f"\n{name} -- " not in text] == []


def test_page_names_everything() -> None:
    assert sorted(row[0] for row in table(PAGE, "Fixture")) == [f"`{name}`" for name in FIXTURES]
    assert [row[0] for row in table(PAGE, "Keyword")] == [f"`{name}`" for name in KEYWORDS]
    options = [f"`{option.flag}`, `{option.ini}`" for option in OPTIONS]
    assert [row[0] for row in table(PAGE, "Setting")] == [*options, "`--update-goldens`"]


def test_page_shows_every_public_name() -> None:
    """In code that runs, as test_fixtures_and_marker runs it."""
    code = "\n".join(block.text for block in blocks(PAGE, "py"))
    assert [name for name in testing.__all__ if not re.search(rf"\btesting\.{name}\b", code)] == []


# -- beside other plugins ---------------------------------------------------------------------------------------------

#: pytest-rerunfailures runs a test again within one protocol; pytest-randomly sets seeds in each phase of a test.
_RERUN = """
import pytest
from _pytest.runner import runtestprotocol


@pytest.hookimpl
def pytest_runtest_protocol(item, nextitem):
    for _ in range(3):
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        if not any(report.failed for report in reports):
            break
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    return True
"""
_RANDOMLY = """
import random


def pytest_addoption(parser):
    parser.addoption("--not-reset", dest="randomly_reset_seed", action="store_false", default=True)


def pytest_runtest_setup(item):
    if item.config.getoption("randomly_reset_seed"):
        random.seed(1)


def pytest_runtest_call(item):
    if item.config.getoption("randomly_reset_seed"):
        random.seed(2)
"""


@pytest.mark.usefixtures("warm_pytest")
def test_a_test_that_runs_again_begins_anew(pytester: pytest.Pytester) -> None:
    """With its seed, and with its limit, which the failure has ended."""
    pytester.makeconftest(_RERUN)
    pytester.makepyfile(
        """
        import random
        import threading

        import pytest
        import tf1sessions as t1

        drawn, hung, failed = [], [], []

        @pytest.mark.tf1(seed=7)
        def test_seed():
            drawn.append(random.random())
            assert len(drawn) == 3
            assert drawn == [random.Random(7).random()] * 3

        @pytest.mark.tf1(timeout=1)
        def test_hangs_twice(tf1_session):
            hung.append(1)
            if len(hung) < 3:
                tf1_session.run(t1.tf1.FIFOQueue(1, [t1.tf1.float32]).dequeue())

        @pytest.mark.tf1(timeout=1)
        def test_fails_and_hangs(tf1_session):
            failed.append(1)
            assert len(failed) > 1
            tf1_session.run(t1.tf1.FIFOQueue(1, [t1.tf1.float32]).dequeue())
        """
    )
    done = run(pytester, "-p", "no:xdist", timeout=60.0)
    assert done.outcomes == {
        "test_seed": "passed",
        "test_hangs_twice": "passed",
        "test_fails_and_hangs": "failed",
    }, done.output
    assert "Timeout" in done.texts["test_fails_and_hangs"]


def test_pytest_randomly_sets_no_other_seed(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(_RANDOMLY)
    pytester.makepyfile(
        """
        import random
        import pytest

        @pytest.fixture
        def drawn():
            return random.random()

        @pytest.mark.tf1(seed=7)
        @pytest.mark.tf1_leaks(reason="none here")
        def test_own_seed(drawn):
            own = random.Random(7)
            assert [drawn, random.random()] == [own.random(), own.random()]

        def test_without_one(drawn):
            assert [drawn, random.random()] == [random.Random(1).random(), random.Random(2).random()]
        """
    )
    done = run(pytester, "-p", "no:xdist")
    assert set(done.outcomes.values()) == {"passed"} and len(done.outcomes) == 2, done.output


# -- projects that do not use it --------------------------------------------------------------------------------------


def test_a_project_that_does_not_use_it_sees_nothing(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        def pytest_addoption(parser):
            parser.addoption("--update-goldens", action="store_true")
        """
    )
    pytester.makepyfile(
        """
        import sys, threading
        import pytest

        def test_nothing_is_loaded():
            assert "tf1sessions.testing.plugin" in sys.modules
            loaded = {name.partition(".")[0] for name in sys.modules}
            assert not loaded & {"tensorflow", "numpy", "keras", "click", "rich"}
            ours = {name for name in sys.modules if name.startswith("tf1sessions")}
            assert ours == {"tf1sessions", "tf1sessions.errors", "tf1sessions.testing", *(
                f"tf1sessions.testing.{name}" for name in ("goldens", "limits", "plugin", "settings"))}

        def test_nothing_is_changed(request):
            assert threading.Lock.__module__ == "_thread"
            assert request.config.getoption("--update-goldens") is True

        @pytest.mark.timeout(30)
        def test_time_limit():
            assert [thread.name for thread in threading.enumerate()] == ["MainThread"]
        """
    )
    done = run(pytester, "-p", "no:xdist", "--strict-markers", "--update-goldens", "-W", "error")
    assert set(done.outcomes.values()) == {"passed"} and len(done.outcomes) == 3, done.output
    assert "tf1sessions:" not in done.output


def test_it_can_be_switched_off(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_it(tf1_session): ...")
    done = run(pytester, "-p", "no:tf1sessions", "-p", "no:xdist")
    assert "fixture 'tf1_session' not found" in done.output
