"""Settings of the pytest plugin: options of pytest, keywords of its markers. Checked without TensorFlow.

Data flow::

    --tf1-... or tf1_... = ...            ──▶ read_settings(config) ──▶ Settings, one for the run
    @pytest.mark.tf1(...), the fixtures   ──▶ read_plan(item, ...)  ──▶ Plan, one for each test
"""

from __future__ import annotations

import difflib
import inspect
import math
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from tf1sessions.errors import UsageError
from tf1sessions.testing.limits import MOST_SECS, MOST_THREADS, is_secs, is_threads

__all__ = [
    "FIXTURES",
    "KEYWORDS",
    "NEED_TENSORFLOW",
    "OPTIONS",
    "ItemPlan",
    "Option",
    "Settings",
    "ThreadInfo",
    "fixture_names",
    "near_fixtures",
    "read_plan",
    "read_settings",
]

#: What a test that runs its body several times has anew each time, unless that is shared.
OWN = ("tf1_graph", "tf1_session", "tf1_thread", "tmp_path")
#: A test that asks for one of these uses the plugin.
FIXTURES = ("graph_races", "tf1_graph", "tf1_pool", "tf1_session", "tf1_sessions", "tf1_thread")
NEED_TENSORFLOW = frozenset(FIXTURES) - {"tf1_thread"}
#: What each value of ``share`` leaves for each thread to have alone.
SHARES = {None: OWN, "graph": OWN[1:], "session": OWN[2:]}
POOLS = ("threads", "processes")

_CAPTURE = "it catches what all threads print, and each would read what another has printed"
_PROCESS = "what one thread replaces and puts back is the whole process's"
#: Fixtures that a threaded test cannot have as an argument, and why.
UNSHAREABLE = {
    **dict.fromkeys(("capfd", "capfdbinary", "capsys", "capsysbinary", "capteesys"), _CAPTURE),
    "caplog": "its level and its records are the whole process's",
    **dict.fromkeys(("class_mocker", "mocker", "module_mocker", "monkeypatch"), _PROCESS),
    "recwarn": "warnings are caught for the whole process",
    **dict.fromkeys(("pytester", "testdir"), "it changes the working directory, which is the process's"),
    **dict.fromkeys(("request", "subtests"), "pytest serves one thread only"),
    "benchmark": "it measures one function, once",
    "tmpdir": "all threads would write to one folder; tmp_path gives each its own",
}

_Check = Callable[[Any], bool]


def _is_whole(least: int, below: float = math.inf) -> _Check:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and least <= value < below


_WHOLE = "Give a whole number of 1 or more."
_SEED = "Give a whole number from 0 to 2**32 - 1, which NumPy takes too."
_SECS = f"Give a number of seconds above 0, and at most {MOST_SECS:,}."
_THREADS = f"Give a whole number from 1 to {MOST_THREADS:,}."

#: Keyword of the marker ``tf1`` -> whether a value is right, what is to be given, what it is for.
KEYWORDS: dict[str, tuple[_Check, str, str]] = {
    "seed": (_is_whole(0, 2**32), _SEED, "seed of the test's graphs, and of random and numpy.random while it runs"),
    "config": (
        lambda value: isinstance(value, dict) or hasattr(value, "to_proto") or hasattr(value, "SerializeToString"),
        "Give a SessionConfig, its arguments as a dict, or a ConfigProto.",
        "SessionConfig, dict of its arguments, or ConfigProto, of the test's sessions and pools",
    ),
    "timeout": (is_secs, _SECS, "seconds until the test has failed; names what each session waits for"),
    "threads": (is_threads, _THREADS, "run the body in so many threads at once"),
    "iterations": (_is_whole(1), _WHOLE, "run the body so many times, in each thread"),
    "share": (
        lambda value: isinstance(value, str) and value in ("session", "graph"),
        'Give "session" or "graph", or leave it out: then each thread has its own.',
        'what the threads have in common: "session" or "graph"',
    ),
    "explore": (
        lambda value: _is_whole(1)(value) or (isinstance(value, str) and bool(value.strip())),
        'Give a whole number of 1 or more; or one order, such as "A3 B2 A", as an error names it.',
        "run the body in so many orders of its threads, as testing.explore(); or in one that is given",
    ),
    "each_thread": (
        lambda value: isinstance(value, (str, list, tuple)) and all(isinstance(name, str) for name in value),
        'Give names of fixtures: each_thread=["model"].',
        "fixtures that each thread makes for itself, and those that need them",
    ),
}


@dataclass(frozen=True)
class Option:
    """An option ``--tf1-...`` and a setting ``tf1_...`` of a configuration file; the command line wins.

    ``read`` makes a value of text, or raises ValueError, and then ``expected`` says what would have been right.
    """

    name: str
    help: str
    read: Callable[[str], Any]
    expected: str
    default: Any = None
    metavar: str | None = None

    @property
    def ini(self) -> str:
        return f"tf1_{self.name}"

    @property
    def flag(self) -> str:
        return f"--tf1-{self.name.replace('_', '-')}"


def _one_of(*values: str) -> Callable[[str], str]:
    return lambda text: values[values.index(text)]


def _checked(check: _Check, kind: Callable[[str], Any]) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        value = kind(text)
        if not check(value):
            raise ValueError(text)
        return value

    return read


def _names(text: str) -> frozenset[str]:
    return frozenset(text.replace(",", " ").split())


_LEAKS = ("used", "all", "off")
_YES = {"true": True, "false": False}


def _for_keyword(name: str, kind: Callable[[str], Any], metavar: str, help_: str) -> Option:
    """Make the option that stands in for a keyword of the marker; it takes the same values."""
    check, expected, _ = KEYWORDS[name]
    return Option(name, help_, _checked(check, kind), expected, None, metavar)


OPTIONS = (
    Option(
        "leaks",
        "which tests fail when they leave threads, sessions or the like behind: those that use tf1sessions' fixtures "
        "or marker (used, the default), all, or none (off)",
        _one_of(*_LEAKS),
        "Give used, all or off.",
        "used",
        "{used,all,off}",
    ),
    _for_keyword("seed", int, "N", "seed of tests whose marker has none"),
    _for_keyword(
        "timeout",
        float,
        "SECS",
        "seconds after which a test fails that uses tf1sessions, unless its own marker says otherwise",
    ),
    _for_keyword(
        "threads",
        int,
        "N",
        "run every test in so many threads at once, unless it is marked thread_unsafe(reason=...), is none that can "
        "run in threads, or has an argument that threads cannot share; tests with threads of their own have N instead",
    ),
    Option(
        "races",
        "true: every test has the fixture graph_races",
        _YES.__getitem__,
        "Give true or false.",
        False,
        "{true,false}",
    ),
    Option(
        "suppressions",
        "a TOML file of races that are accepted and do not fail a test: by kind, file, function or variable, each with "
        "its reason; a relative path is from the root folder",
        str,
        "Give a file.",
        None,
        "FILE",
    ),
    _for_keyword(
        "iterations",
        int,
        "N",
        "how often all tests with threads or iterations run their body, instead of their own number",
    ),
    Option(
        "switch_interval",
        "seconds after which Python lets another thread run while a test runs in threads (0.00001)",
        _checked(is_secs, float),
        _SECS,
        1e-5,
        "SECS",
    ),
    Option(
        "watch_locks",
        "true: locks are watched from the start, for the race detector; otherwise while a test module that names "
        "graph_races is imported, and while its tests run",
        _YES.__getitem__,
        "Give true or false.",
        False,
        "{true,false}",
    ),
    Option(
        "unshareable",
        "fixtures, besides pytest's own, that a test in threads may not have as arguments; separated by commas",
        _names,
        "Give names of fixtures.",
        frozenset(),
        "NAMES",
    ),
    Option(
        "each_thread",
        "fixtures that each thread of a test makes for itself, and those that need them, instead of one for all; "
        "separated by commas; those of a class, a module or the session stay one",
        _names,
        "Give names of fixtures.",
        frozenset(),
        "NAMES",
    ),
)


@dataclass(frozen=True)
class Settings:
    """The options of a run; see :data:`OPTIONS`. ``given`` are those that were given, as text."""

    leaks: str
    seed: int | None
    timeout: float | None
    threads: int | None
    iterations: int | None
    switch_interval: float
    races: bool
    suppressions: str | None
    watch_locks: bool
    unshareable: frozenset[str]
    each_thread: frozenset[str]
    given: tuple[str, ...]


def read_settings(config: pytest.Config) -> Settings:
    """Read the options of a run.

    Raises:
        UsageError: One has a wrong value.
    """
    values: dict[str, Any] = {}
    given = []
    for option in OPTIONS:
        text, where = config.getoption(option.ini), f"option {option.flag}"
        if text is None:
            text, where = config.getini(option.ini) or None, f"setting {option.ini}"
        if text is None:
            values[option.name] = option.default
            continue
        try:
            values[option.name] = option.read(str(text).strip())
        except (ValueError, KeyError) as error:
            raise UsageError(f"the value is {text!r}", where=where, next_step=option.expected) from error
        given.append(f"{option.name}={text}")
    return Settings(given=tuple(given), **values)


@dataclass(frozen=True)
class ItemPlan:
    """Plan of how a test runs.

    Attributes:
        used: Whether it uses the plugin: asks for a fixture of it, or has the marker.
        seed, config, timeout, threads, iterations, share, explore: See :data:`KEYWORDS`.
        each_thread: The fixtures that each thread and iteration makes for itself, besides :attr:`own`.
        names: The fixtures that it and its fixtures ask for.
        allowed: Kinds of leaks that are no failure; None for all of them.
    """

    used: bool = False
    seed: int | None = None
    config: Any = None
    timeout: float | None = None
    threads: int | None = None
    iterations: int = 1
    share: str | None = None
    explore: int | str | None = None
    each_thread: frozenset[str] = frozenset()
    names: frozenset[str] = field(default_factory=frozenset)
    allowed: frozenset[str] | None = field(default_factory=frozenset)

    @property
    def repeats(self) -> bool:
        """Whether the body runs otherwise than once, in the main thread."""
        return self.threads is not None or self.iterations > 1 or self.explore is not None

    @property
    def own(self) -> frozenset[str]:
        """The fixtures whose values are made anew for each thread and iteration."""
        return self.names & frozenset(SHARES[self.share]) if self.repeats else frozenset()


@dataclass(frozen=True)
class ThreadInfo:
    """Thread and iteration of a test's body: the value of the fixture ``tf1_thread``.

    Attributes:
        number: From 0 on.
        threads: How many there are.
        iteration: How often it has run the body before.
    """

    number: int = 0
    threads: int = 1
    iteration: int = 0


def read_plan(item: pytest.Item, settings: Settings) -> ItemPlan:
    """Read how a test is to run, by its markers and fixtures; those nearer to the test win.

    Raises:
        UsageError: That contradicts itself, or cannot be done.
    """
    names = frozenset(getattr(item, "fixturenames", ()))
    markers = list(item.iter_markers("tf1"))
    given = _keywords(item, markers)
    _check_pool(item)
    allowed = _allowed_leaks(item)
    asked = given.get("each_thread", ())
    given["each_thread"] = _each_thread(item, [asked] if isinstance(asked, str) else asked, settings)
    if next(item.iter_markers("thread_unsafe"), None) is not None:
        given.pop("threads", None)
        given.pop("share", None)
        asked = ()
    elif (
        settings.threads is not None
        and "explore" not in given
        and ("threads" in given or _can_run_in_threads(item, given, settings))
    ):
        given["threads"] = settings.threads
    if not markers and names.isdisjoint(FIXTURES) and "threads" not in given:
        return ItemPlan(names=names, allowed=allowed)
    if (
        settings.iterations is not None
        and "explore" not in given
        and not given.keys().isdisjoint(("threads", "iterations"))
    ):
        given["iterations"] = settings.iterations
    given = {"seed": settings.seed} | given
    limits = [mark.name for mark in item.iter_markers() if mark.name == "timeout" or mark.kwargs.get("timeout")]
    nearest = next((name for name in limits if name in ("timeout", "tf1")), None)
    if nearest == "timeout":  # pytest-timeout's
        given.pop("timeout", None)
    elif settings.timeout is not None:
        given = {"timeout": settings.timeout} | given
    given["config"] = _config(item, given.get("config"))
    used = bool(markers) or not names.isdisjoint(FIXTURES)
    plan = ItemPlan(used=used, names=names, allowed=allowed, **given)
    if plan.repeats:
        _check_repeats(item, plan, settings)
    elif plan.share is not None:
        raise _wrong(
            item, f"tf1(share={plan.share!r}) of a test that runs once", "Give threads=, iterations= or explore=, too."
        )
    elif asked:
        raise _wrong(
            item, f"tf1(each_thread={asked!r}) of a test that runs once", "Give threads=, iterations= or explore=, too."
        )
    if plan.share is not None and f"tf1_{plan.share}" not in names:
        raise _wrong(item, f"tf1(share={plan.share!r}) without the fixture tf1_{plan.share}", "Ask for it, too.")
    return plan


def _keywords(item: pytest.Item, markers: Sequence[pytest.Mark]) -> dict[str, Any]:
    """Return the keywords of a test's markers, those nearer to it first, checked."""
    given: dict[str, Any] = {}
    for marker in reversed(markers):
        if marker.args:
            raise _wrong(item, f"tf1({_shown(marker.args[0])})", f"Give keywords: {', '.join(KEYWORDS)}.")
        given |= marker.kwargs
    for name, value in given.items():
        if name not in KEYWORDS:
            what = f"tf1({name}={_shown(value)}): there is no {name!r}"
            raise _wrong(item, what, f"Give one of {', '.join(KEYWORDS)}.")
        check, expected, _ = KEYWORDS[name]
        try:
            fits = value is None or check(value)
        except Exception:  # of comparisons of the value's own class, which is none that was asked for
            fits = False
        if not fits:
            raise _wrong(item, f"tf1({name}={_shown(value)})", expected)
    return {name: value for name, value in given.items() if value is not None}


def _shown(value: Any) -> str:
    """Return a value as an error names it, whatever its class makes of ``repr``."""
    shown = reprlib.Repr()
    shown.maxstring = shown.maxother = shown.maxlong = 200
    return shown.repr(value)


def _can_run_in_threads(item: pytest.Item, given: Mapping[str, Any], settings: Settings) -> bool:
    """Say whether a test that does not ask for it can run in threads."""
    names, share, each_thread = frozenset(getattr(item, "fixturenames", ())), given.get("share"), given["each_thread"]
    plan = ItemPlan(used=True, names=names, threads=2, share=share, each_thread=each_thread)
    try:
        _check_repeats(item, plan, settings)
    except UsageError:
        return False
    return True


def _each_thread(item: pytest.Item, asked: Sequence[str], settings: Settings) -> frozenset[str]:
    """Return the fixtures that each thread makes for itself: those that are asked for, and all that need one of them.

    Raises:
        UsageError: The marker asks for one that is not there, or that only the main thread can make.
    """
    found = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    known = fixture_names(item.session)  # a marker of a whole module may name one that not every test has
    for name in asked:
        if known and name not in found and name not in known:
            raise _wrong(item, f"tf1(each_thread={name!r}): there is no fixture {name!r}", near_fixtures(name, known))
        reason = _made_once(name, found[name][-1]) if name in found else None
        if reason is not None:
            raise _wrong(item, f"tf1(each_thread={name!r}): {reason}", "Leave it out.")
    chosen = frozenset(name for name in found if name in settings.each_thread or name in asked)
    while True:
        more = {
            name
            for name, definitions in found.items()
            if name in chosen or any(not chosen.isdisjoint(each.argnames) for each in definitions)
        }
        more = {name for name in more if _made_once(name, found[name][-1]) is None}
        if chosen == more:
            return chosen
        chosen = frozenset(more)


def fixture_names(session: pytest.Session) -> frozenset[str]:
    """Return the names of all fixtures of what has been collected so far, and of plugins.

    Empty under a pytest that keeps them in none of the tables that are known of its releases.
    """
    tables = ("_arg2fixturedefs", "_arg2node2fixturedefs", "_arg2nodeid2fixturedefs")  # the first: older ones
    return frozenset(name for table in tables for name in getattr(session._fixturemanager, table, ()))


def near_fixtures(name: str, known: Iterable[str]) -> str:
    """Return what to do about the name of a fixture that is not there."""
    near = difflib.get_close_matches(name, sorted(known), 1)
    return f"Did you mean {near[0]!r}?" if near else "Give one that `pytest --fixtures` lists."


def _made_once(name: str, definition: pytest.FixtureDef[Any]) -> str | None:
    """Say why a fixture cannot be made for each thread."""
    if definition.scope != "function":
        return f"it is made once for a {definition.scope}"
    if name in FIXTURES or name in OWN:
        return "what it gives in threads is the plugin's"
    if inspect.iscoroutinefunction(definition.func) or inspect.isasyncgenfunction(definition.func):
        return "it is an async function"
    return UNSHAREABLE.get(name)


def _wrong(item: pytest.Item, what: str, next_step: str) -> UsageError:
    return UsageError(what, where=item.nodeid, next_step=next_step)


def _config(item: pytest.Item, value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    from tf1sessions.sessions.config import SessionConfig  # needs TensorFlow

    try:
        return SessionConfig(**value)
    except (TypeError, UsageError) as error:
        raise _wrong(item, f"tf1(config={value!r}): {error}", KEYWORDS["config"][1]) from error


def _check_pool(item: pytest.Item) -> None:
    params = getattr(getattr(item, "callspec", None), "params", {})
    names = getattr(item, "fixturenames", ())
    value = params.get("tf1_pool", "threads")
    kind = value.get("kind", "threads") if isinstance(value, dict) else value
    if "tf1_pool" in names and not (isinstance(kind, str) and kind in POOLS):
        raise _wrong(
            item, f"tf1_pool is {_shown(value)}", 'Give "threads" or "processes", or a dict with "kind" and arguments.'
        )


def _allowed_leaks(item: pytest.Item) -> frozenset[str] | None:
    allowed: set[str] = set()
    for marker in item.iter_markers("tf1_leaks"):
        named = (f"{name}={_shown(value)}" for name, value in marker.kwargs.items())
        shown = f"tf1_leaks({', '.join([*map(_shown, marker.args), *named])})"
        reason, kinds = marker.kwargs.get("reason"), marker.kwargs.get("allow")
        if marker.args or marker.kwargs.keys() - {"allow", "reason"} or not isinstance(reason, str) or not reason:
            raise _wrong(item, shown, 'Say why: tf1_leaks(allow=("threads",), reason="..."), or reason= alone for all.')
        if kinds is None:
            return None
        allowed |= _kinds(item, shown, (kinds,) if isinstance(kinds, str) else kinds)
    return frozenset(allowed)


def _kinds(item: pytest.Item, shown: str, kinds: Any) -> set[str]:
    from tf1sessions.testing.leak_reports import KINDS

    step = f"Give some of {', '.join(map(repr, KINDS))}."
    if not isinstance(kinds, (list, tuple, set, frozenset)):
        raise _wrong(item, shown, step)
    if unknown := [kind for kind in kinds if not (isinstance(kind, str) and kind in KINDS)]:
        raise _wrong(item, f"{shown}: there is no kind {_shown(unknown[0])}", step)
    return set(kinds)


def _check_repeats(item: pytest.Item, plan: ItemPlan, settings: Settings) -> None:
    """Check that the body of a test can be called several times, and that it can have all it asks for."""
    what = f"tf1(threads={plan.threads})" if plan.threads is not None else f"tf1(iterations={plan.iterations})"
    if plan.explore is not None:
        what = f"tf1(explore={plan.explore!r})"
        if plan.iterations > 1:
            raise _wrong(item, f"{what} with iterations={plan.iterations}", "Leave one of them out.")
    if not isinstance(item, pytest.Function) or _is_unittest(item):
        step = "Make it a function, or a method of a class that is no unittest.TestCase; or hammer() in it."
        raise _wrong(item, f"{what} of a {type(item).__name__}", step)
    if inspect.iscoroutinefunction(item.obj) or inspect.isasyncgenfunction(item.obj):
        raise _wrong(item, f"{what} of an async function", "Run the event loop inside an ordinary test.")
    info = item._fixtureinfo
    if plan.threads is not None:
        refused = UNSHAREABLE | dict.fromkeys(settings.unshareable, "it is listed in tf1_unshareable")
        for name in info.argnames:
            if name in refused and name not in plan.each_thread:
                step = "Take what the test needs of it in a fixture; that runs once, before the threads."
                raise _wrong(item, f"{what} with the fixture {name!r}: {refused[name]}", step)
    for name, definitions in info.name2fixturedefs.items():
        own = sorted(plan.own.intersection(definitions[-1].argnames) - {"tmp_path"})
        if own and name not in FIXTURES and name not in plan.each_thread:
            step = f"Give each_thread=[{name!r}]; or make {name!r} a function that the test calls"
            step += "." if own[0] == "tf1_thread" else ', or let all have one: share="session".'
            made = f"{what}: the fixture {name!r} is made once, and {own[0]!r} for each thread and iteration"
            raise _wrong(item, made, step)


def _is_unittest(item: Any) -> bool:
    import unittest

    return isinstance(item.cls, type) and issubclass(item.cls, unittest.TestCase)
