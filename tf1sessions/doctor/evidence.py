"""Findings from the notes of a watched run. Pure functions; no TensorFlow.

Each function named after a rule takes all notes and gives the findings of that rule; :data:`RULES` lists them. Rules
that see the same thing in a program's text have the same names there. How much is too much is said at the top.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from tf1sessions.doctor.findings import Finding, FindingSource, Severity
from tf1sessions.source.program import SourceLine

__all__ = ["RULES", "Notes", "Shown", "judge"]

#: Rounds of running, with operations made between them at one line, that make it a loop. Arbitrary.
LOOP_ROUNDS = 5
#: The same where a library makes them: one call of Keras builds and runs in turns, and is no loop. Arbitrary.
LIBRARY_ROUNDS = 20
#: Of the time that threads were there together, the part in which one of them held Python's lock. Arbitrary.
BUSY_LOCK = 0.6
#: Of what a thread computed, the part in Python from which on its loop is one of Python. Arbitrary.
IN_PYTHON = 0.5
#: How many threads were in their loops at a time, on average, at least. Arbitrary.
TOGETHER = 1.6
#: Above so many cores busy with Python at once it is not the lock that they wait for: NumPy and the like give it up.
ONE_LOCK = 1.3
#: How long threads must have been watched. Arbitrary: below that the clocks say little.
WATCHED_SECS = 0.5
#: Feeds that are converted: how often, and what part of the time in Session.run, before it is reported. Arbitrary.
FEEDS, FEED_PART = 10, 0.05
#: Fetches of a constant before that is reported. Arbitrary.
FETCHES = 10
#: Threads for a core from which on a number is reported. Arbitrary.
THREADS_A_CORE = 2


@dataclasses.dataclass(frozen=True)
class Shown:
    """The form in which places are shown: as the user named a file, else relative to the folder that the user is in.

    Attributes:
        folder: That folder.
        names: File as Python knows it -> as the user named it.
    """

    folder: str
    names: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def place(self, spot: Sequence[Any] | None) -> SourceLine | None:
        """The place of a file and line."""
        if spot is None:
            return None
        path, line = str(spot[0]), int(spot[1])
        cell = re.fullmatch(r"(.+\.ipynb), cell (\d+)", path)
        if cell:
            return SourceLine(cell[1], line, int(cell[2]))
        if path in self.names:
            return SourceLine(self.names[path], line)
        below = os.path.relpath(path, self.folder) if os.path.isabs(path) else path
        return SourceLine(path if below.startswith(os.pardir) else below, line)


@dataclasses.dataclass(frozen=True)
class Notes:
    """The notes of a run.

    Attributes:
        events: In the order in which they happened.
        state: The last counts.
        shown: How places are shown.
    """

    events: Sequence[Mapping[str, Any]]
    state: Mapping[str, Any]
    shown: Shown

    def of(self, kind: str) -> list[Mapping[str, Any]]:
        """The events of a kind."""
        return [event for event in self.events if event["kind"] == kind]

    @property
    def cores(self) -> int:
        """Cores that the program had."""
        return next((int(event["cores"]) for event in self.of("begin")), 1)

    @property
    def sessions(self) -> list[Mapping[str, Any]]:
        """The sessions that ran in the program's own process."""
        return [session for session in self.of("session") if not session["remote"]]

    @property
    def ended_well(self) -> bool:
        """Whether the program came to an end that it meant; after an error it has had no chance to tidy up."""
        return any(event["exit_code"] == 0 for event in self.of("end"))

    def by_spot(self, events: Iterable[Mapping[str, Any]]) -> list[tuple[SourceLine | None, list[Mapping[str, Any]]]]:
        """Events by their place, in the order in which each place came first."""
        groups: dict[SourceLine | None, list[Mapping[str, Any]]] = {}
        for event in events:
            groups.setdefault(self.shown.place(event["spot"]), []).append(event)
        return list(groups.items())

    def say(self, spot: Sequence[Any] | None) -> str:
        """A place within a text."""
        place = self.shown.place(spot)
        return "an unknown line" if place is None else str(place)


def judge(events: Sequence[Mapping[str, Any]], state: Mapping[str, Any], shown: Shown) -> list[Finding]:
    """The findings that the notes of a run give."""
    noted = Notes(events, state, shown)
    return [finding for rule in RULES for finding in rule(noted)]


def _finding(
    rule: str,
    severity: Severity,
    place: SourceLine | None,
    title: str,
    why: str,
    fix: str,
    others: Iterable[SourceLine | None] = (),
) -> Finding:
    further = tuple(dict.fromkeys(other for other in others if other is not None and other != place))
    return Finding(rule, severity, title, why, fix, FindingSource.RUN, place, further)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


# -- devices and memory -----------------------------------------------------------------------------------------------


def late_visible_devices(noted: Notes) -> Iterator[Finding]:
    kinds = [event["kind"] for event in noted.events]
    for place, events in noted.by_spot(noted.of("visible")):
        event = events[0]
        for_child = "child" in kinds[kinds.index("visible") :]  # which gets it with its environment
        now = "unset" if event["value"] is None else f"set to {event['value']!r}"
        yield _finding(
            "late-visible-devices",
            Severity.WARNING if for_child else Severity.ERROR,
            place,
            f"CUDA_VISIBLE_DEVICES was {now} after {event['what']} had initialised the devices, "
            f"at {noted.say(event['first'])}",
            "CUDA reads the variable once, when the first session, eager operation or list of devices initialises it. "
            "A later change has no effect, and the process keeps the GPUs that it had."
            + (" Only processes that were started after it see it." if for_child else ""),
            "Set it before anything touches a device: in the first lines, os.environ['CUDA_VISIBLE_DEVICES'] = '0', or "
            "from outside: tf1sessions run --gpus 0 SCRIPT.",
            [noted.shown.place(event["first"])],
        )


_GPU_OPTIONS = ("fraction", "growth", "visible", "lanes")


def memory_of_several_sessions(noted: Notes) -> Iterator[Finding]:
    on_gpus = [session for session in noted.sessions if session.get("gpus") != 0]
    if not on_gpus:
        return
    first = on_gpus[0]
    for place, sessions in noted.by_spot(on_gpus[1:]):
        unlike = [name for name in _GPU_OPTIONS if any(_option(one, name) != _option(first, name) for one in sessions)]
        if unlike:
            asked = next(one for one in sessions if any(_option(one, name) != _option(first, name) for name in unlike))
            yield _finding(
                "memory-of-several-sessions",
                Severity.ERROR if "visible" in unlike else Severity.WARNING,
                place,
                f"a session asks for {_words(asked, unlike)} where the first one, at {noted.say(first['spot'])}, "
                f"asked for {_words(first, unlike)}",
                "The allocator of a GPU is made once in a process, for whoever comes first. What a later session asks "
                "for is ignored without a word; another visible_device_list is refused.",
                "Give all sessions of a process the same GPU options, or apply one plan before the first: "
                "tf1sessions.MemoryPlan(...).apply().",
                [noted.shown.place(first["spot"])],
            )


def gpu_taken_whole(noted: Notes) -> Iterator[Finding]:
    children = noted.of("child")
    first = next((session for session in noted.sessions if session.get("gpus") != 0), None)
    if first is not None and children and not any(_option(first, name) for name in _GPU_OPTIONS):
        yield _finding(
            "gpu-taken-whole",
            Severity.WARNING if noted.of("child-use") else Severity.NOTE,  # else it may use no TensorFlow
            noted.shown.place(first["spot"]),
            "a session without a memory fraction or growth, in a program of several processes",
            "Without them the first process takes nearly all of a GPU's memory, and keeps it until it ends; the "
            "sessions of the others fail for want of memory.",
            "config.gpu_options.allow_growth = True, or a fraction for each process: tf1sessions memory -n N "
            "prints a plan.",
            [noted.shown.place(event["spot"]) for event in children],
        )


def _option(session: Mapping[str, Any], name: str) -> Any:
    return session.get(name) or None


def _words(session: Mapping[str, Any], names: Sequence[str]) -> str:
    words = {
        "fraction": "per_process_gpu_memory_fraction",
        "growth": "allow_growth",
        "visible": "visible_device_list",
        "lanes": "virtual_devices",
    }
    values = [(words[name], _option(session, name)) for name in names]
    return ", ".join(f"no {name}" if value is None else f"{name}={value!r}" for name, value in values)


def remote_config(noted: Notes) -> Iterator[Finding]:
    remote = [session for session in noted.of("session") if session["remote"] and session["given"]]
    for place, sessions in noted.by_spot(remote):
        session = sessions[0]
        ignored = [name for name in (*_GPU_OPTIONS, "intra", "inter", "own_pool", "pools") if _option(session, name)]
        if ignored:
            yield _finding(
                "remote-config",
                Severity.WARNING,
                place,
                f"a session on {session['remote']} is given {_ignored(session, ignored)}",
                "GPU options and numbers of threads belong to the server; those that are given to a session that "
                "connects to it are ignored without a word.",
                "Give them to the server: tf.train.Server(cluster, config=config).",
            )


def _ignored(session: Mapping[str, Any], names: Sequence[str]) -> str:
    words = {
        "intra": "intra_op_parallelism_threads",
        "inter": "inter_op_parallelism_threads",
        "own_pool": "use_per_session_threads",
        "pools": "session_inter_op_thread_pool",
    }
    return ", ".join(f"{words[name]}={session[name]!r}" if name in words else _words(session, [name]) for name in names)


def eager_before_session(noted: Notes) -> Iterator[Finding]:
    asking = [one for one in noted.sessions if one.get("gpus") == 0 or any(_option(one, name) for name in _GPU_OPTIONS)]
    for session in asking[:1]:  # one that asks for nothing gets what eager execution took
        what, spot = session["first"] or ("", None)
        if what == "an eager operation":
            asked = [name for name in _GPU_OPTIONS if _option(session, name)]
            yield _finding(
                "eager-before-session",
                Severity.WARNING,
                noted.shown.place(spot),
                f"eager execution was started here, before a session that asks for "
                f"{_words(session, asked) if asked else 'no GPU'}, at {noted.say(session['spot'])}",
                "It initialises the GPUs with its own options (nearly all of the memory), and the session's are then "
                "ignored. An eager operation does so, and so does what TensorFlow makes of Python functions in a "
                "tf.data pipeline.",
                "Make the session first, or set the same options for eager execution: "
                "tf1sessions.MemoryPlan(...).apply() sets both.",
                [noted.shown.place(session["spot"])],
            )


def sessions_left_open(noted: Notes) -> Iterator[Finding]:
    for place, events in noted.by_spot(noted.of("open") if noted.ended_well else ()):
        count = sum(event["count"] for event in events)
        if count > 1:
            yield _finding(
                "sessions-left-open",
                Severity.WARNING,
                place,
                f"{count} sessions that were made here were still open at the program's end",
                "Each keeps its variables, its copy of the graph's constants and its compiled requests until it is "
                "closed.",
                "with tf.Session() as sess: ..., or sess.close() when it has done its work.",
            )


# -- graphs -----------------------------------------------------------------------------------------------------------


def graph_built_by_threads(noted: Notes) -> Iterator[Finding]:
    for place, events in noted.by_spot(noted.of("race")):
        event = events[0]
        also = "" if event["other_spot"] is None else f", which built it at {noted.say(event['other_spot'])},"
        does = "ran it meanwhile" if event["how"] == "ran" else "added to it meanwhile"
        yield _finding(
            "graph-built-by-threads",
            Severity.WARNING if event["how"] == "ran" else Severity.ERROR,
            place,
            f"thread {event['thread']!r} added operations to a graph, and thread {event['other']!r}{also} {does}",
            "A graph has no lock that holds its names, scopes, collections and operations together: two threads that "
            "change it, or one that changes it while another runs it, break it now and then.",
            "Build the whole graph in one thread before the others start, and call graph.finalize(); or a graph for "
            "each thread: tf1sessions.ThreadSessionPool gives each job a fresh one.",
            [noted.shown.place(event["other_spot"])],
        )


def ops_in_loop(noted: Notes) -> Iterator[Finding]:
    for place, sites in noted.by_spot(noted.state.get("sites", ())):
        site = max(sites, key=lambda site: site["episodes"])
        if site["episodes"] < (LIBRARY_ROUNDS if site["in_library"] else LOOP_ROUNDS):
            continue
        each = site["operations"] / site["episodes"]
        yield _finding(
            "ops-in-loop",
            Severity.WARNING,
            place,
            f"this line made {site['operations']} operations in {site['episodes']} rounds, between runs of the same "
            f"graph ({each:.1f} a round, {site['type']} first); the graph has {site['in_all']} now",
            "Each operation stays in the graph for ever, and a graph that has grown is taken over by the session "
            "again at the next run: a step costs more the longer the program runs (17 times as much after 1000 "
            "steps, measured), and the memory grows.",
            "Make the operation once, before the loop, with a placeholder for what changes; graph.finalize() after "
            "building makes it an error.",
        )


def make_callable_with_feeds(noted: Notes) -> Iterator[Finding]:
    for place, events in noted.by_spot(noted.of("callable")):
        yield _finding(
            "make-callable-with-feeds",
            Severity.NOTE,
            place,
            f"Session.make_callable with {events[0]['feeds']} feed{'s' * (events[0]['feeds'] != 1)}, called "
            f"{_times(len(events))}",
            "With a feed_list it calls Session.run inside, and is no faster.",
            "Call sess.run(...), which is a compiled call under tf1sessions; in code of your own, "
            "GraphSession.compile(feeds=[...], fetches=...).",
        )


def feeds_converted(noted: Notes) -> Iterator[Finding]:
    in_runs = sum(thread["inside"] for thread in noted.state.get("threads", ()))
    for place, feeds in noted.by_spot(noted.state.get("feeds", ())):
        count = max(feed["count"] for feed in feeds)
        nbytes, seconds = sum(feed["nbytes"] for feed in feeds), sum(feed["seconds"] for feed in feeds)
        part = seconds / in_runs if in_runs else 0.0
        if count < FEEDS or part < FEED_PART:
            continue
        worst = max(feeds, key=lambda feed: float(feed["seconds"]))
        yield _finding(
            "feeds-converted",
            Severity.NOTE,
            place,
            f"{worst['given']} was fed to {worst['tensor']!r} ({worst['taken']}) {count} times: "
            f"{nbytes / 1e6:.1f} MB converted in {seconds:.2f} s, {part:.0%} of the time in Session.run",
            "Each value is converted in each run, in Python's thread.",
            f"Convert once, before the loop: data = np.asarray(data, dtype=np.{worst['taken']}).",
        )


def constant_fetched(noted: Notes) -> Iterator[Finding]:
    for place, constants in noted.by_spot(noted.state.get("constants", ())):
        worst = max(constants, key=lambda one: int(one["nbytes"]) * int(one["runs"]))
        if worst["runs"] >= FETCHES:
            yield _finding(
                "constant-fetched",
                Severity.NOTE,
                place,
                f"the constant {worst['name']!r} of {worst['nbytes'] / 1e6:.1f} MB was fetched {worst['runs']} times",
                "Each run copies it for the caller, though it never changes; and a large constant is a part of the "
                "graph, which is copied several times.",
                "Fetch it once and keep the array; feed large data, or hold it in a variable.",
            )


# -- threads ----------------------------------------------------------------------------------------------------------


def oversubscribed_threads(noted: Notes) -> Iterator[Finding]:
    cores = noted.cores
    found: dict[SourceLine | None, Finding] = {}
    for place, sessions in noted.by_spot(noted.sessions):
        session = max(sessions, key=_asked_threads)
        if _asked_threads(session) >= THREADS_A_CORE * cores and _asked_threads(session) > cores:
            names = [name for name in ("intra", "inter") if session.get(name, 0) > cores]
            asked = _ignored(session, names) if names else f"pools of {session['pools']} threads"
            found[place] = _oversubscribed(noted, place, f"a session asks for {asked}")
    own = [session for session in noted.sessions if session.get("own_pool")]
    together = max((session["open"] + 1 for session in own), default=0)
    threads = sum(sorted((session["inter"] or cores for session in own), reverse=True)[:together])
    if together > 1 and threads >= THREADS_A_CORE * cores and threads > cores:
        place = noted.shown.place(own[-1]["spot"])
        text = f"{together} sessions were open at once, each with threads of its own (use_per_session_threads)"
        found.setdefault(place, _oversubscribed(noted, place, f"{text}: {threads} in all"))
    yield from found.values()


def _asked_threads(session: Mapping[str, Any]) -> int:
    return max(session.get("intra") or 0, session.get("inter") or 0, sum(session.get("pools") or ()))


def _oversubscribed(noted: Notes, place: SourceLine | None, what: str) -> Finding:
    most = noted.state.get("most_threads", 0)
    seen = f"; {most} threads were there at once" if most else ""
    return _finding(
        "oversubscribed-threads",
        Severity.WARNING,
        place,
        f"{what}, and the program has {noted.cores} core{'s' * (noted.cores != 1)}{seen}",
        "More threads than cores take turns on them, and throw each other's data out of the caches: N sessions that "
        "each use all cores are slower together than one after another.",
        "intra_op_parallelism_threads = cores // sessions; tf1sessions memory -n N divides the cores, and a pool of "
        "tf1sessions does so by itself.",
    )


@dataclasses.dataclass(frozen=True)
class _ThreadLoop:
    """A thread's loop, in seconds: from when to when; how long it computed, in Python, and lacked a core to do so."""

    name: str
    since: float
    until: float
    cpu: float
    python: float
    waited: float

    @property
    def seconds(self) -> float:
        return self.until - self.since


def _loops(noted: Notes) -> list[_ThreadLoop]:
    loops = []
    for thread in noted.state.get("threads", ()):
        sampled = thread["sampled_wall"]
        in_runs = thread["inside"] * thread["sampled_cpu"] / sampled if sampled else 0.0
        python = max(0.0, thread["cpu"] - in_runs)
        loops.append(
            _ThreadLoop(
                thread["name"],
                thread["since"],
                thread["until"],
                thread["cpu"],
                python,
                thread["waited"] * python / max(python, thread["cpu"], 1e-9),
            )
        )
    return [loop for loop in loops if loop.seconds > WATCHED_SECS / 5]


def python_bound_threads(noted: Notes) -> Iterator[Finding]:
    loops = _loops(noted)
    # Those that compute in Python; a thread that only waits for them (the main thread, as a rule) is none.
    busy = [
        loop
        for loop in loops
        if loop.python + loop.waited >= 0.1 * loop.seconds and loop.python >= IN_PYTHON * loop.cpu
    ]
    if len(busy) < 2 or noted.cores < 2:
        return
    since, until = min(loop.since for loop in busy), max(loop.until for loop in busy)
    window = until - since
    together = sum(loop.seconds for loop in busy) / window if window else 0.0
    python = sum(loop.python for loop in busy)
    # On a busy machine the thread that holds the lock waits for a core meanwhile; no other can have the lock then.
    lacked = sum(loop.waited for loop in busy)
    wanted = python + lacked / together if together else 0.0
    if window < WATCHED_SECS or together < TOGETHER or not wanted / window >= BUSY_LOCK or python / window > ONE_LOCK:
        return
    spots = noted.by_spot([session for session in noted.of("session") if session["thread"] in {b.name for b in busy}])
    places = [place for place, _ in spots] or [place for place, _ in noted.by_spot(noted.of("session"))]
    yield _finding(
        "python-bound-threads",
        Severity.WARNING,
        places[0] if places else None,
        f"{len(busy)} threads ran sessions at once, and computed in Python for {python:.1f} of {window:.1f} s: "
        f"{python / window:.2f} cores of {noted.cores}"
        + (f" (the machine was busy: they lacked a core for {lacked:.1f} s)" if lacked > python else ""),
        "One thread at a time holds Python's lock. Session.run gives it up, but the code around it does not: such "
        "threads take turns, and more of them make nothing faster.",
        "Use processes: tf1sessions.ProcessSessionPool has the interface of ThreadSessionPool (at most "
        f"{min(len(busy), noted.cores)} times as fast here).",
        places[1:],
    )


# -- processes --------------------------------------------------------------------------------------------------------


def fork_after_session(noted: Notes) -> Iterator[Finding]:
    used = noted.of("child-use")
    for place, events in noted.by_spot(noted.of("fork")):
        event = events[0]
        title = f"a fork after {event['what']}, at {noted.say(event['first'])}"
        if used:
            title += f"; a child used {used[0]['name']} at {noted.say(used[0]['spot'])}"
        yield _finding(
            "fork-after-session",
            Severity.ERROR if used else Severity.WARNING,
            place,
            title,
            "TensorFlow's threads are not in the child: what it asks of them is never done, and it waits for ever.",
            "Fork before the first session or eager operation, start processes by "
            "multiprocessing.get_context('spawn'), or use tf1sessions.ProcessSessionPool.",
            [noted.shown.place(event["first"]), *(noted.shown.place(use["spot"]) for use in used)],
        )


def children_not_watched(noted: Notes) -> Iterator[Finding]:
    for place, events in noted.by_spot(noted.of("child")):
        how = Counter(event["how"] for event in events)
        ways = ", ".join(f"{kind} {_times(count)}" for kind, count in how.items())
        yield _finding(
            "children-not-watched",
            Severity.NOTE,
            place,
            f"child processes were started here ({ways}), and not watched",
            "The probes are in the program's own process only; what its children do is not among the findings.",
            "Watch a child's work by running it in a program of its own.",
        )


# -- queues -----------------------------------------------------------------------------------------------------------


def queue_threads_left(noted: Notes) -> Iterator[Finding]:
    for place, events in noted.by_spot(noted.of("runner") if noted.ended_well else ()):
        yield _finding(
            "queue-threads-left",
            Severity.NOTE if all(event["daemon"] for event in events) else Severity.WARNING,
            place,
            f"{len(events)} thread{'s' * (len(events) != 1)} of queue runners still ran at the program's end, such as "
            f"{events[0]['name']!r}",
            "They wait in queues that nobody drains any more. The process waits for those that are no daemons (on "
            "TensorFlow 1 for ever), and an error in them is seen by nobody.",
            "At the end: coord.request_stop(); coord.join(threads). Or tf1sessions.QueuePipeline, which ends by "
            "itself.",
        )


def coordinator_without_join(noted: Notes) -> Iterator[Finding]:
    left = [event for event in noted.of("coordinator") if event["threads"] and event["stopped"] and not event["joined"]]
    for place, events in noted.by_spot(left if noted.ended_well else ()):
        yield _finding(
            "coordinator-without-join",
            Severity.WARNING,
            place,
            f"a Coordinator of {events[0]['threads']} threads was asked to stop, and never joined",
            "An exception of its threads is raised by join() alone: without it a program that has lost its input ends "
            "as if all were well, or while its threads still use the session.",
            "coord.request_stop(); coord.join(threads), in a finally block.",
        )


# -- the watching itself ----------------------------------------------------------------------------------------------


def watched_in_part(noted: Notes) -> Iterator[Finding]:
    failed = sorted({event["probe"] for event in noted.of("failed")})
    if failed:
        yield _finding(
            "watched-in-part",
            Severity.NOTE,
            None,
            f"probes failed: {', '.join(failed)}",
            "What they would have noted is not among the findings. " + noted.of("failed")[0]["error"].splitlines()[-1],
            "Report it with the version of TensorFlow; the program itself was not disturbed.",
        )
    if noted.of("begin") and not noted.of("end"):
        yield _finding(
            "watched-in-part",
            Severity.NOTE,
            None,
            "the program's end was not seen",
            "It was killed, or ended by os._exit or its time limit, or the notes could not be written. What was "
            "noted until a second before counts; what is left open at the end was not looked at.",
            "Let it come to its end, with fewer steps.",
        )


def numpy_promotion(noted: Notes) -> Iterator[Finding]:
    for one in noted.state.get("promotions", ()):
        yield _finding(
            "numpy-promotion",
            Severity.NOTE,
            noted.shown.place(one["spot"]),
            f"{one['operands']} gave {one['result']} by NumPy 1's rules, {_times(one['count'])}",
            "`tf1sessions run` keeps NumPy 1's rules for operators in the program's own files. Elsewhere NumPy 2 gives "
            "another type here, and so other last digits, an overflow, or an array that TensorFlow refuses.",
            "Before the program leaves tf1sessions, say the type: float(x) or np.float64(x) for a scalar, "
            "(...).astype(np.float32) for an array, x.astype(np.int64) before a number that does not fit.",
        )


RULES: tuple[Callable[[Notes], Iterator[Finding]], ...] = (
    late_visible_devices,
    memory_of_several_sessions,
    gpu_taken_whole,
    remote_config,
    eager_before_session,
    sessions_left_open,
    graph_built_by_threads,
    ops_in_loop,
    make_callable_with_feeds,
    feeds_converted,
    constant_fetched,
    oversubscribed_threads,
    python_bound_threads,
    fork_after_session,
    children_not_watched,
    queue_threads_left,
    coordinator_without_join,
    numpy_promotion,
    watched_in_part,
)
