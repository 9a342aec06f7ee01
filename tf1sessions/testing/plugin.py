"""The pytest plugin: fixtures with a graph or session of their own, tests in threads, leaks, races, hangs.

Data flow::

    configure    options ──▶ Settings
    collection   markers and fixtures ──▶ a Plan for each test, or an error of the collection
    set-up       seeds; from the first fixture of the test itself on its leaks are looked for
    call         once, or by threaded_body.py in threads, with fixture_values.py for each
                 reports of the race detector that are left fail it
    teardown     leaks are errors
    all along    a Deadline (hangs.py), set by pytest-timeout or, without that, for the call alone

Loaded by each pytest where tf1sessions is installed. Until a test uses it, it imports neither TensorFlow nor numpy.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import random
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tf1sessions.errors import UsageError
from tf1sessions.testing import goldens
from tf1sessions.testing.settings import (
    KEYWORDS,
    NEED_TENSORFLOW,
    OPTIONS,
    ItemPlan,
    Settings,
    ThreadInfo,
    fixture_names,
    near_fixtures,
    read_plan,
    read_settings,
)

if TYPE_CHECKING:
    from tf1sessions.testing.accepted_races import AcceptedRaces
    from tf1sessions.testing.hangs import Deadline
    from tf1sessions.testing.leaks import LeakWatch
    from tf1sessions.testing.races import ExpectedRaces
    from tf1sessions.testing.suppressions import Suppressions

_SETTINGS: pytest.StashKey[Settings] = pytest.StashKey()
_ACCEPTED: pytest.StashKey[AcceptedRaces] = pytest.StashKey()
_LOCKS: pytest.StashKey[contextlib.ExitStack] = pytest.StashKey()
_ITEM: pytest.StashKey[pytest.Item] = pytest.StashKey()  # in the stash of the configuration: the test that runs
_PLAN: pytest.StashKey[ItemPlan] = pytest.StashKey()
_LEAKS: pytest.StashKey[LeakWatch] = pytest.StashKey()
_RACES: pytest.StashKey[ExpectedRaces] = pytest.StashKey()
_DEADLINE: pytest.StashKey[Deadline] = pytest.StashKey()
_SECTIONS: pytest.StashKey[list[tuple[str, str]]] = pytest.StashKey()
_FAILED: pytest.StashKey[bool] = pytest.StashKey()
_ALARM: pytest.StashKey[Any] = pytest.StashKey()  # what handled SIGALRM before; there while ours does
_IN_PHASE: pytest.StashKey[bool] = pytest.StashKey()  # whether an error is the test's: in set-up, call and teardown
_LIMIT: pytest.StashKey[Any] = pytest.StashKey()  # pytest-timeout's settings, where its limit is that of a whole run
_BEGUN: pytest.StashKey[bool] = pytest.StashKey()  # whether the test has run: pytest-rerunfailures runs it again
#: What a test begins without, also when it runs once more.
_OF_A_RUN: tuple[pytest.StashKey[Any], ...] = (_LEAKS, _RACES, _DEADLINE, _SECTIONS, _FAILED, _IN_PHASE)

_HUNG = "tf1sessions: what it waited for"
_GOLDENS = "--update-goldens"
_PER_POOL = 4  # workers of a tf1_pool, without threads; arbitrary
_AGAIN_SECS = 0.01  # until an alarm that no phase of a test could take comes again; arbitrary, short for a user


# -- options ----------------------------------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tf1sessions")
    for option in OPTIONS:
        group.addoption(option.flag, dest=option.ini, default=None, metavar=option.metavar, help=option.help)
        parser.addini(option.ini, option.help, default=None)


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(parser: pytest.Parser) -> Generator[None]:
    # After other plugins, which may have an option of this name: it is theirs then.
    yield
    if not _has(parser, _GOLDENS):
        parser.getgroup("tf1sessions").addoption(
            _GOLDENS,
            dest="tf1_update_goldens",
            action="store_true",
            default=False,
            help="assert_close() writes its files instead of comparing with them",
        )


def _has(parser: pytest.Parser, flag: str) -> bool:
    try:
        return flag not in parser.parse_known_and_unknown_args([flag])[1]
    except pytest.UsageError:  # it wants a value
        return True


def pytest_configure(config: pytest.Config) -> None:
    keywords = ", ".join(f"{name}: {purpose}" for name, (_, _, purpose) in KEYWORDS.items())
    config.addinivalue_line("markers", f"tf1({', '.join(KEYWORDS)}): how tf1sessions runs the test. {keywords}.")
    config.addinivalue_line(
        "markers", "tf1_leaks(allow, reason): kinds of leaks, or all, that do not fail the test, and why."
    )
    config.addinivalue_line(
        "markers",
        "thread_unsafe(reason): the test runs in one thread, also with --tf1-threads; as pytest-run-parallel.",
    )
    try:
        config.stash[_SETTINGS] = settings = read_settings(config)
        if settings.suppressions is not None:
            from tf1sessions.testing.accepted_races import AcceptedRaces

            config.stash[_ACCEPTED] = AcceptedRaces(config, settings.suppressions)
            config.pluginmanager.register(config.stash[_ACCEPTED], "tf1sessions-suppressions")
    except UsageError as error:
        raise pytest.UsageError(str(error)) from error
    goldens.update = config.getoption("tf1_update_goldens", False)
    if settings.watch_locks or settings.races:
        _watch_locks(config)
    if settings.races:
        config.pluginmanager.register(_RacesInEveryTest(), "tf1sessions-races")


def pytest_unconfigure(config: pytest.Config) -> None:
    if (locks := config.stash.get(_LOCKS, None)) is not None:
        locks.close()
    goldens.update = False


def pytest_report_header(config: pytest.Config) -> str | None:
    given = [*config.stash[_SETTINGS].given, *(["update_goldens"] if goldens.update else [])]
    return f"tf1sessions: {', '.join(given)}" if given else None


def _watch_locks(config: pytest.Config) -> None:
    if _LOCKS not in config.stash:
        from tf1sessions.testing.synchronisation import hooks_in_place

        config.stash[_LOCKS] = locks = contextlib.ExitStack()
        locks.enter_context(hooks_in_place())


def _watches(source: bytes) -> bool:
    """Say whether a test module looks for races, or explores orders of threads."""
    return b"graph_races" in source or b"explore" in source


class _RacesInEveryTest:
    """A plugin that puts the race detector on every test."""

    @pytest.fixture(autouse=True)
    def _graph_races_in_every_test(self, graph_races: Any) -> None:
        """Ask for the fixture."""


# -- collection -------------------------------------------------------------------------------------------------------


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, pytest.CollectReport, Any]:
    """Make tests that cannot be run as they ask an error of the collection.

    Locks that a module makes while it is imported are watched if it has tests that look for races; for no other one.
    """
    with contextlib.ExitStack() as stack:
        if isinstance(collector, pytest.Module) and _watches(collector.path.read_bytes()):
            from tf1sessions.testing.synchronisation import hooks_in_place

            stack.enter_context(hooks_in_place())
        report = yield
    wrong = []
    for item in report.result or ():
        if isinstance(item, pytest.Item):
            try:
                read_plan(item, collector.config.stash[_SETTINGS])
            except UsageError as error:
                wrong.append(str(error))
    if wrong:
        report.outcome = "failed"
        report.longrepr = "\n".join(wrong)
        report.result = []
    return report


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # After other plugins, which may give tests markers here.
    for item in items:
        try:
            item.stash[_PLAN] = plan = read_plan(item, config.stash[_SETTINGS])
        except UsageError as error:
            raise pytest.UsageError(str(error)) from error
        if plan.timeout is not None and config.pluginmanager.hasplugin("timeout"):
            _limit(item, plan.timeout)
    if items:
        _warn_of_unknown_fixtures(items[0].session, config.stash[_SETTINGS].each_thread)


def _warn_of_unknown_fixtures(session: pytest.Session, asked: Iterable[str]) -> None:
    """Name fixtures of ``tf1_each_thread`` that no test has; no error, as a part of the tests may be run alone."""
    known = fixture_names(session)
    for name in sorted(frozenset(asked) - known) if known else ():
        text = f"tf1_each_thread: there is no fixture {name!r} in these tests. {near_fixtures(name, known)}"
        try:
            warnings.warn(pytest.PytestConfigWarning(text), stacklevel=1)
        except pytest.PytestConfigWarning as error:  # where warnings are errors; pytest would take it for its own
            raise pytest.UsageError(str(error)) from error


def _limit(item: pytest.Item, secs: float) -> None:
    """Give a test a marker of pytest-timeout's; how that ends a test is as the test's own one says."""
    own = next(item.iter_markers("timeout"), None)
    more, named = (own.args[1:], own.kwargs) if own is not None else ((), {})
    named = {name: value for name, value in named.items() if name != "timeout"}
    item.add_marker(pytest.mark.timeout(secs, *more, **named), append=False)


# -- a test -----------------------------------------------------------------------------------------------------------


def _plan(item: pytest.Item) -> ItemPlan:
    return item.stash.get(_PLAN, ItemPlan())


def _looks_for_leaks(item: pytest.Item) -> bool:
    leaks = item.config.stash[_SETTINGS].leaks
    plan = _plan(item)
    return plan.allowed is not None and (leaks == "all" or (leaks == "used" and plan.used))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    for key in (*_OF_A_RUN, _LIMIT, _BEGUN):
        if key in item.stash:
            del item.stash[key]
    item.config.stash[_ITEM] = item
    if _looks_for_leaks(item) or not _plan(item).names.isdisjoint(NEED_TENSORFLOW):
        importlib.import_module("tf1sessions.runtime")  # here, where no test's time limit runs
    with contextlib.nullcontext() if _plan(item).seed is None else _random_state_kept(item.config):
        return (yield)


@contextlib.contextmanager
def _random_state_kept(config: pytest.Config) -> Iterator[None]:
    """Put back the states of ``random`` and numpy; meanwhile pytest-randomly sets none in the phases of the test."""
    state = random.getstate()
    numpy = sys.modules.get("numpy")
    numpy_state = numpy and numpy.random.get_state()
    randomly = getattr(config.option, "randomly_reset_seed", None)
    if randomly is not None:
        config.option.randomly_reset_seed = False
    try:
        yield
    finally:
        if randomly is not None:
            config.option.randomly_reset_seed = randomly
        random.setstate(state)
        if numpy:
            numpy.random.set_state(numpy_state)


def _begin_run(item: pytest.Item) -> None:
    """Begin a test, or begin it anew: within one protocol pytest-rerunfailures runs a test again that has failed."""
    if item.stash.get(_BEGUN, False):
        limit = item.stash.get(_LIMIT, None)
        if limit is not None:
            item.ihook.pytest_timeout_cancel_timer(item=item)
        for key in _OF_A_RUN:
            if key in item.stash:
                del item.stash[key]
        if limit is not None:  # which is set once for all runs, and was ended by the failure
            item.ihook.pytest_timeout_set_timer(item=item, settings=limit)
    item.stash[_BEGUN] = True
    if (seed := _plan(item).seed) is not None:
        random.seed(seed)
        if numpy := sys.modules.get("numpy"):
            numpy.random.seed(seed)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, Any, Any]:
    """Look for leaks from a test's first own fixture on; what is made for several tests is none of them."""
    item = request.config.stash.get(_ITEM, None)
    if item is not None and fixturedef.scope == "function":
        _begin_leaks(item)
        if (plan := _plan(item)).repeats and fixturedef.argname in plan.each_thread:
            from tf1sessions.testing.thread_fixtures import made_by_threads

            with made_by_threads(fixturedef):
                return (yield)
    elif item is not None and (watch := item.stash.get(_LEAKS, None)) is not None:
        with watch.aside():
            return (yield)
    return (yield)


def _begin_leaks(item: pytest.Item) -> None:
    if _looks_for_leaks(item) and _LEAKS not in item.stash:
        from tf1sessions.testing.leaks import KINDS, LeakWatch

        allowed = _plan(item).allowed or ()
        item.stash[_LEAKS] = watch = LeakWatch([kind for kind in KINDS if kind not in allowed])
        watch.begin()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, Any, Any]:
    _begin_run(item)
    with _failing_in_time(item):
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    _begin_leaks(item)
    plan = _plan(item)
    own = not item.config.pluginmanager.hasplugin("timeout")
    if own and plan.timeout is not None:
        _set_deadline(item, plan.timeout, _interrupt)
    try:
        with _failing_in_time(item):
            result = yield
    finally:
        if own:
            _end_deadline(item)
    races = item.stash.get(_RACES, None)
    if races is not None:
        _fail_for_races(item, races)
    return result


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, Any, Any]:
    try:
        with _failing_in_time(item):
            result = yield
    except BaseException:
        item.stash[_FAILED] = True
        raise
    finally:
        _end_leaks(item)
    return result


def _end_leaks(item: pytest.Item) -> None:
    watch = item.stash.get(_LEAKS, None)
    if watch is None:
        return
    del item.stash[_LEAKS]  # a test may run once more
    if item.stash.get(_FAILED, False):
        watch.cancel()
    elif leaks := watch.end():
        left = "\n".join(map(str, leaks))
        pytest.fail(f"left {left}\n(meant so? @pytest.mark.tf1_leaks(allow=(...), reason=...))", pytrace=False)


def _fail_for_races(item: pytest.Item, races: ExpectedRaces) -> None:
    from tf1sessions.testing.reports import GraphRaceWarning

    left = races.left()
    for report in left:
        if report.kind.is_warning:
            accept = f'graph_races.allow("{report.kind.value}"), or a file for --tf1-suppressions'
            warnings.warn(GraphRaceWarning(report.describe(accept)), stacklevel=1)
    hazards = [str(report) for report in left if report.kind.level == "hazard"]
    if hazards:
        reports = "\n\n".join(hazards)
        pytest.fail(
            f"{reports}\n(looked at? read graph_races.reports; meant so? graph_races.allow(kind), or a file for "
            "--tf1-suppressions)",
            pytrace=False,
        )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    report = yield
    # What stopped on its way has left things for that reason; it failed, too, where that was expected.
    failed = report.failed or (call.excinfo is not None and hasattr(report, "wasxfail"))
    if call.when == "setup" or failed:
        item.stash[_FAILED] = failed
    if report.failed and hasattr(report.longrepr, "addsection"):
        from tf1sessions.texts import printable  # a project that does not use the plugin loads next to nothing

        for title, text in item.stash.get(_SECTIONS, []):
            report.longrepr.addsection(title, printable(text, keep="\n"))
        item.stash[_SECTIONS] = []
    return report


def _suppressions(config: pytest.Config) -> Suppressions | None:
    accepted = config.stash.get(_ACCEPTED, None)
    return None if accepted is None else accepted.suppressions


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    plan = _plan(pyfuncitem)
    if not plan.repeats:
        return None
    from tf1sessions.testing import threaded_body
    from tf1sessions.testing.thread_fixtures import ThreadFixtures

    arguments: dict[str, Any] = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}

    def body(thread: ThreadInfo) -> None:
        with contextlib.ExitStack() as stack:
            made: dict[str, Any] = {"tf1_thread": thread}
            if not plan.names.isdisjoint(("tf1_graph", "tf1_session")):
                from tf1sessions.testing.fixture_values import values

                name = f"{pyfuncitem.name} in thread {thread.number}"
                made |= stack.enter_context(values(plan, pyfuncitem.funcargs, name))
            if "tmp_path" in arguments or (plan.each_thread and "tmp_path" in plan.names):
                folder: Any = pyfuncitem.funcargs["tmp_path"]
                made["tmp_path"] = folder / f"thread-{thread.number}-{thread.iteration}"
                made["tmp_path"].mkdir()
            if plan.each_thread:
                made |= ThreadFixtures(pyfuncitem, plan.each_thread, made, stack).make()
            pyfuncitem.obj(**arguments | {name: value for name, value in made.items() if name in arguments})

    if plan.explore is not None:
        sections, is_over = pyfuncitem.stash.setdefault(_SECTIONS, []), lambda: _is_over(pyfuncitem)
        threaded_body.explore(body, plan, sections, is_over, _suppressions(pyfuncitem.config))
        return True
    failures = threaded_body.repeat(
        body,
        plan.threads,
        plan.iterations,
        pyfuncitem.config.stash[_SETTINGS].switch_interval,
        lambda: _is_over(pyfuncitem),
    )
    threaded_body.raise_first(failures, pyfuncitem.stash.setdefault(_SECTIONS, []))
    return True


# -- time-outs --------------------------------------------------------------------------------------------------------


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> bool | None:
    """End a test that uses the plugin by ending what it waits for; pytest-timeout's own way is the last resort."""
    if not _plan(item).used:
        return None
    pytest_timeout = importlib.import_module("pytest_timeout")
    if not settings.disable_debugger_detection and pytest_timeout.is_debugging():
        return None
    if not settings.func_only:
        item.stash[_LIMIT] = settings
    by_signal = settings.method == "signal" and threading.current_thread() is threading.main_thread()

    def stuck(text: str) -> None:
        if not by_signal:
            _print(item, text)
            pytest_timeout.timeout_timer(item, settings)  # ends the process

    try:
        _set_deadline(item, settings.timeout, stuck)
    except RuntimeError:  # there are too many threads, or a test has left no threading.excepthook: no thread can start
        return None  # pytest-timeout's own limit counts
    if by_signal:
        _set_alarm(item, settings.timeout, functools.partial(pytest_timeout.timeout_sigalrm, item, settings))
    return True


def _set_alarm(item: pytest.Item, secs: float, ring: Callable[[], None]) -> None:
    """Call ``ring``, which raises, in the main thread when the time is up.

    Between the phases of a test, where pytest reports on them, an error would end the whole run: the alarm comes again
    until there is a phase to take it.
    """

    def alarm(signum: int, frame: Any) -> None:
        __tracebackhide__ = True
        if item.stash.get(_IN_PHASE, False):
            ring()
        else:
            signal.setitimer(signal.ITIMER_REAL, _AGAIN_SECS)

    item.stash[_ALARM] = signal.signal(signal.SIGALRM, alarm)
    signal.setitimer(signal.ITIMER_REAL, secs)


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_timeout_cancel_timer(item: pytest.Item) -> None:
    if _ALARM in item.stash:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, item.stash[_ALARM] or signal.SIG_DFL)
        del item.stash[_ALARM]
    _end_deadline(item)


def _set_deadline(item: pytest.Item, secs: float, stuck: Callable[[str], None]) -> None:
    from tf1sessions.testing.hangs import Deadline

    item.stash[_DEADLINE] = Deadline(secs, stuck)


def _end_deadline(item: pytest.Item) -> None:
    if (deadline := item.stash.get(_DEADLINE, None)) is not None:
        del item.stash[_DEADLINE]
        deadline.end()


def _is_over(item: pytest.Item) -> bool:
    """Say whether a test's time is up. What it waits for is known then."""
    deadline = item.stash.get(_DEADLINE, None)
    return deadline is not None and deadline.is_over and bool(deadline.look())


def _interrupt(text: str) -> None:
    """End what the main thread does in Python as by Ctrl-C; where there is no pytest-timeout."""
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def _print(item: pytest.Item, text: str) -> None:
    capture = item.config.pluginmanager.getplugin("capturemanager")
    if capture is not None:
        capture.suspend_global_capture()
    print(f"\ntf1sessions: {item.nodeid} hangs\n{text}", file=sys.__stderr__, flush=True)


@contextlib.contextmanager
def _failing_in_time(item: pytest.Item) -> Iterator[None]:
    """Let a test whose time was up fail for that, whatever came of ending what it waited in."""
    try:
        item.stash[_IN_PHASE] = True
        yield
    except BaseException as error:
        item.stash[_IN_PHASE] = False
        deadline = item.stash.get(_DEADLINE, None)
        if deadline is None or not deadline.is_over:
            raise
        text = deadline.look()
        if isinstance(error, pytest.fail.Exception) and _plan(item).threads is None:
            # pytest-timeout's own, by a signal: it says where the test was
            item.stash.setdefault(_SECTIONS, []).append((_HUNG, text))
            raise
        if isinstance(error, KeyboardInterrupt) and not deadline.is_stuck:
            raise
        item.stash[_SECTIONS] = [(_HUNG, text)]
        # What comes of closing a session says nothing of its own; nor does where the main thread waited for others.
        by_us = deadline.has_closed or isinstance(error, (KeyboardInterrupt, pytest.fail.Exception))
        raise _timed_out(deadline) from (None if by_us else error)
    item.stash[_IN_PHASE] = False
    deadline = item.stash.get(_DEADLINE, None)
    if deadline is not None and deadline.is_over:
        item.stash[_SECTIONS] = [(_HUNG, deadline.look())]
        raise _timed_out(deadline)


def _timed_out(deadline: Deadline) -> BaseException:
    return pytest.fail.Exception(f"Timeout (>{deadline.secs:g} s)", pytrace=False)


# -- fixtures ---------------------------------------------------------------------------------------------------------


def _check_own(request: pytest.FixtureRequest, name: str) -> ItemPlan:
    """Return the test's plan; fails a request that came too late for a fixture that is the threads' own."""
    plan = _plan(request.node)
    if plan.repeats and name not in plan.names:
        raise UsageError(
            f"{name} is asked for by getfixturevalue() in a test that runs its body several times",
            where=request.node.nodeid,
            next_step="Make it an argument of the test.",
        )
    return plan


@pytest.fixture
def tf1_session(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A GraphSession on a graph of its own, both default in the test, closed after it.

    In a test with threads or iterations each has its own, unless it is shared; with share="graph" it is a Session.
    """
    plan = _check_own(request, "tf1_session")
    if "tf1_session" in plan.own:
        yield None  # made by each thread
        return
    from tf1sessions.testing.fixture_values import own_session

    with own_session(plan, request.node.name) as session:
        yield session


@pytest.fixture
def tf1_graph(request: pytest.FixtureRequest) -> Iterator[Any]:
    """The graph of tf1_session in a test that has one, else a new tf.Graph, the default in the test."""
    plan = _check_own(request, "tf1_graph")
    if "tf1_graph" in plan.own:
        yield None  # made by each thread
    elif "tf1_session" in request.fixturenames and plan.share != "graph":
        yield request.getfixturevalue("tf1_session").graph
    else:
        from tf1sessions.testing.fixture_values import own_graph

        with own_graph(plan) as graph:
            yield graph


@pytest.fixture
def tf1_sessions(request: pytest.FixtureRequest) -> Iterator[Callable[..., Any]]:
    """A function that makes GraphSessions, tf1_sessions(config=None, seed=None): not default, closed after the test.

    In a test with threads all have the same function; a session is built by the thread that made it.
    """
    from tf1sessions.testing.fixture_values import new_session

    plan = _plan(request.node)
    made: list[Any] = []

    def make(config: Any = None, seed: int | None = None) -> Any:
        session = new_session(plan, f"{request.node.name} session {len(made)}", config, seed)
        made.append(session)
        return session

    yield make
    for session in reversed(made):
        session.close()


@pytest.fixture
def tf1_pool(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A ThreadSessionPool with the marker's config, with a worker for each thread of the test, else four.

    For processes: @pytest.mark.parametrize("tf1_pool", ["threads", "processes"], indirect=True); a dict instead of a
    word may have the arguments of the pool besides its "kind".
    """
    from tf1sessions.pools.processes import ProcessSessionPool
    from tf1sessions.pools.threads import ThreadSessionPool

    plan = _plan(request.node)
    param = getattr(request, "param", "threads")
    arguments = dict(param) if isinstance(param, dict) else {"kind": param}
    kind = ProcessSessionPool if arguments.pop("kind", "threads") == "processes" else ThreadSessionPool
    arguments = {"max_workers": plan.threads or _PER_POOL, "config": plan.config} | arguments
    with kind(**arguments) as pool:
        yield pool


@pytest.fixture
def tf1_thread() -> ThreadInfo:
    """The thread and iteration of the test: number, threads, iteration."""
    return ThreadInfo()


@pytest.fixture
def graph_races(request: pytest.FixtureRequest) -> Iterator[Any]:
    """The race detector, while the test and the fixtures after this one run; what it finds fails the test.

    Not what the test has read of graph_races.reports, or allowed by graph_races.allow(kind), or what the file of
    suppressions covers.
    """
    from tf1sessions.testing.races import ExpectedRaces
    from tf1sessions.testing.races import graph_races as watch

    with watch(suppressions=_suppressions(request.config)) as races:
        request.node.stash[_RACES] = expected = ExpectedRaces(races)
        yield expected
