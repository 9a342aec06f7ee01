"""Compiled calls: the Session whose ``run`` costs a tenth, with the same results, checks and errors.

The data flow of one ``run``::

    run(fetches, feed_dict)
      │ key: the shape of the request (ids of tensors, structure of containers)
      ├─ known ──▶ Plan: checks and converts the fed values ─┐ any doubt: the slow way, which raises TF's error
      │                                                      ▼
      │                                    Request.run ──▶ TF_SessionRunCallable ──▶ results copied ──▶ Plan.assemble
      │                                                      ▲
      └─ new ────▶ TensorFlow's own Session._run: its checks, its conversions, its error texts
                      └─ _do_run (ours) ──▶ Request (compiled once for its feeds, fetches and targets)

So a request is compiled once, whichever way it takes, and the slow way decides whatever the fast one is not sure of;
nothing is ever run twice to get an error text. What TensorFlow's ``run`` alone can do (RunOptions that ask for
something, ``partial_run``) is left to it.

Locks: ``SessionCalls._lock`` guards compilation and insertion into the two caches; look-ups take no lock (a dict read).
It is re-entrant, because a TensorHandle that the garbage collector finds during a compilation runs the session.
A plan or request that is evicted while another thread uses it stays alive through that thread's reference.

The measured differences between the callable API and ``run`` that this module makes good: results that alias
TensorFlow's buffers, no conversion of fed values (a big-endian array is misread in silence), no static shape check,
errors without ``op`` and without "Detected at node", tensors both fed and fetched.
"""

from __future__ import annotations

import functools
import logging
import os
import threading
import time
import types
import weakref
from collections.abc import Callable, Iterable, MutableMapping, Sequence
from typing import Any

import numpy as np

from tf1sessions import forks
from tf1sessions.errors import ConfigError, ExecutionModeError
from tf1sessions.runtime import private, tf
from tf1sessions.sessions import gpu_settings
from tf1sessions.sessions.graphs import caller_place
from tf1sessions.sessions.operations import Judgement, judge, prune
from tf1sessions.sessions.stacks import current_frames, without_collection
from tf1sessions.sessions.watchdog import list_operations, watchdog

__all__ = [
    "CompiledCall",
    "EXECUTIONS",
    "Session",
    "SessionCalls",
    "calls_of",
    "install_fast_path",
    "run",
    "watch",
    "watched_session",
]

logger = logging.getLogger("tf1sessions")

EXECUTIONS = ("auto", "caller", "pool")

#: How long ``close()`` waits for what runs in the session. Arbitrary: what can be cancelled ends in milliseconds.
CLOSE_SECS = 10.0

#: How many requests a session keeps compiled. Arbitrary: well above what a training loop uses, and low enough that a
#: program which makes a new request at each step does not keep them all.
CAPACITY = 256

_Tensor: Any = tf.Tensor
_Operation: Any = tf.Operation
_OpError: Any = tf.errors.OpError
_RaggedTensorValue: Any = tf.ragged.RaggedTensorValue
_ndarray = np.ndarray


class _NotPlannable(Exception):
    """Not an error: this request goes the slow way each time."""


# -- keys -------------------------------------------------------------------------------------------------------------

# type -> True (key by identity), False (not plannable). Filled as types are met; a dict write is atomic.
_leaf_types: dict[type, bool] = {}


def _is_leaf(kind: type) -> bool:
    known = _leaf_types.get(kind)
    if known is None:
        known = issubclass(kind, (_Tensor, _Operation, tf.Variable, tf.SparseTensor, tf.IndexedSlices))
        _leaf_types[kind] = known
    return known


# Keys of dicts that are equal only when nobody can tell them apart, as 1 and True can be.
_NAME_TYPES = {str, int}


def _key(item: Any) -> Any:
    kind = type(item)
    if _is_leaf(kind):
        return id(item)
    if kind is list or kind is tuple:
        return (kind, *[_key(each) for each in item])
    if kind is str:
        return item
    if kind is dict and {*map(type, item)} <= _NAME_TYPES:
        return (dict, *item, *[_key(each) for each in item.values()])
    if isinstance(item, tuple) and hasattr(kind, "_fields") and not hasattr(kind, "__attrs_attrs__"):
        return (kind, *[_key(each) for each in item])
    raise _NotPlannable


def _leaves(item: Any) -> list[Any]:
    """What a key's ids stand for; a plan holds these, so that no other object can get the same id."""
    if isinstance(item, (list, tuple)):
        return [leaf for each in item for leaf in _leaves(each)]
    if isinstance(item, dict):
        return [leaf for each in item.values() for leaf in _leaves(each)]
    return [item]


# -- the fed values ---------------------------------------------------------------------------------------------------


# Where TensorFlow meets NumPy 2 it converts in two steps, which lets integers that are too large wrap around.
_TWO_STEPS = private.numpy_compat is not None and int(np.__version__.partition(".")[0]) >= 2


def _asarray(value: Any, dtype: Any) -> Any:
    if _TWO_STEPS and np.issubdtype(dtype, np.number):
        return np.asarray(value).astype(dtype, copy=False)
    return np.asarray(value, dtype=dtype)


def _whole_numbers(dtype: Any) -> tuple[int, int]:
    """The Python ints that ``run`` surely takes for a dtype: it refuses those that the dtype would change."""
    if dtype.kind == "b":
        return 0, 1
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return int(limits.min), int(limits.max)
    if dtype.kind in "fc":
        largest = 2 ** int(np.finfo(dtype).nmant)
        return -largest, largest
    return 1, 0  # none


class _Feed:
    """One tensor that is fed: its dtype and static shape, and what ``run`` would do to a value for it."""

    __slots__ = ("accepted", "dims", "dtype", "shape", "tensor", "whole_numbers")

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor
        self.dtype = np.dtype(tensor.dtype.as_numpy_dtype)
        self.whole_numbers = _whole_numbers(self.dtype)
        self.shape: Any = None
        self.dims: tuple[int | None, ...] | None = None
        # The shape that was accepted last under `shape`: the next value usually has it too.
        self.accepted: tuple[int, ...] | None = None
        self.refresh()

    def refresh(self) -> None:
        """Reads the static shape again; ``set_shape`` may have narrowed it."""
        shape = self.tensor.shape
        self.dims = None if shape.rank is None else tuple(shape.as_list())
        self.shape = shape
        self.accepted = None

    def array(self, value: Any) -> Any:
        """The array to feed for a value, or None: ask ``run``."""
        if type(value) is not _ndarray or (value.dtype is not self.dtype and value.dtype != self.dtype):
            value = self._convert(value)
        return value if value is not None and self._accepts(value.shape) else None

    def _accepts(self, shape: tuple[int, ...]) -> bool:
        if self.tensor._shape_val is not self.shape:
            self.refresh()
        dims = self.dims
        if dims is not None and dims != shape:
            if len(dims) != len(shape):
                return False
            for known, given in zip(dims, shape):  # noqa: B905 - the lengths are equal
                if known is not None and known != given:
                    return False
        self.accepted = shape
        return True

    def _convert(self, value: Any) -> Any:
        """The array that ``run`` would make of a value that is not one of the right dtype, or None: ask ``run``."""
        kind = type(value)
        if kind is int or kind is bool:
            if not self.whole_numbers[0] <= value <= self.whole_numbers[1]:
                return None
        elif not (kind is float or kind is _ndarray or kind is list or kind is tuple or issubclass(kind, np.generic)):
            return None
        try:
            return _asarray(value, self.dtype)
        except Exception:  # noqa: BLE001 - the slow way meets the same error and raises it as TensorFlow words it
            return None


# -- compiled once: the request ---------------------------------------------------------------------------------------


class Request:
    """Feeds, fetches and targets, compiled for one session. Any thread may run it."""

    __slots__ = ("__weakref__", "_session", "copied", "handle", "in_caller", "judgement", "plain", "recent")

    def __init__(self, session: Any, handle: Any, judgement: Judgement, in_caller: bool, copied: Iterable[int]) -> None:
        self._session = weakref.ref(session)
        self.handle = handle
        self.judgement = judgement
        self.in_caller = in_caller
        self.copied = tuple(copied)
        self.plain = not judgement.keeps_feeds and not judgement.may_block
        self.recent = True

    def run(self, session: Any, values: Sequence[Any]) -> list[Any]:
        """Runs it. ``values`` are arrays of the right dtypes; the results belong to the caller.

        :attr:`Plan.run` does the same in place.

        Raises:
            RuntimeError: The session was closed.
        """
        request = self  # the name by which close() knows a call that runs
        request.recent = True
        if session._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        results = self.run_watched(session, values)
        for index in self.copied:
            result = results[index]
            if type(result) is _ndarray:  # a scalar has been made from the buffer
                results[index] = result.copy()
        return results  # type: ignore[no-any-return]

    def run_watched(self, session: Any, values: Sequence[Any]) -> Any:
        """Runs it, with copies of the feeds that it might keep and a watchdog where it might wait for ever."""
        judgement = self.judgement
        if judgement.keeps_feeds:
            values = [value.copy() for value in values]
        if not judgement.may_block:
            return _run_callable(session._session, self.handle, values, None)
        try:
            with watchdog.call(session, judgement.may_block):
                return _run_callable(session._session, self.handle, values, None)
        except RuntimeError as error:
            # Ctrl-C while it waited, and then it failed: the interrupt hits TensorFlow inside the making of its error.
            if "REPLACED BY KeyboardInterrupt" in str(error):
                raise KeyboardInterrupt from None
            raise

    def __del__(self) -> None:
        session = self._session()
        if session is not None and session._session is not None and not session._closed:
            private.pywrap_session.TF_SessionReleaseCallable(session._session, self.handle)


# The code of the functions that call TensorFlow for a `request` in a `session`; close() looks for their frames.
_RUNNING = {Request.run.__code__}

_RESOURCE = np.dtype([("resource", np.ubyte)])

_run_callable: Any = getattr(private.pywrap_session, "TF_SessionRunCallable", None)


def _raise(error: Exception) -> None:
    raise error


# -- one shape of request: the plan -----------------------------------------------------------------------------------


class _Forbidden:
    """What a graph has marked as not feedable or not fetchable, as far as it concerns one request."""

    __slots__ = ("_feeds", "_fetches", "_graph", "known", "unfeedable", "unfetchable")

    def __init__(self, graph: Any, feeds: Sequence[Any], fetches: Sequence[Any]) -> None:
        self._graph = graph
        self._feeds = feeds
        self._fetches = fetches
        unfeedable = getattr(graph, "_unfeedable_tensors", ())
        self.unfeedable = getattr(unfeedable, "_storage", unfeedable)
        self.unfetchable = getattr(graph, "_unfetchable_ops", ())
        self.known = -1

    def look(self) -> bool:
        """Whether the request is still allowed; remembers how many marks there were, so that few calls look."""
        known = len(self.unfeedable) + len(self.unfetchable)
        if not all(map(self._graph.is_feedable, self._feeds)) or not all(map(self._graph.is_fetchable, self._fetches)):
            return False
        self.known = known
        return True


class Plan:
    """How one shape of request becomes a call of a :class:`Request`, and its results the caller's structure.

    Attributes:
        run: ``run(session, values)``: the caller's results for the values fed, or ``_ASK`` when TensorFlow's own checks
            must decide about them; nothing was run then.
    """

    __slots__ = ("_refs", "recent", "request", "run")

    def __init__(
        self,
        request: Request,
        feeds: Sequence[_Feed],
        order: Sequence[int] | None,
        assemble: Callable[[list[Any]], Any] | None,
        forbidden: _Forbidden,
        refs: Any,
    ) -> None:
        self.request = request
        self._refs = refs
        self.recent = True
        self.run: Callable[[Any, Iterable[Any]], Any]
        if len(feeds) == 1 and request.plain:
            self.run = _one_feed(request, feeds[0], assemble, forbidden)
        else:
            self.run = _any_feeds(request, tuple(feeds), order, assemble, forbidden)
        _RUNNING.add(self.run.__code__)


# The two functions are one: each call inside them would cost a twentieth of the whole, and a loop over one feed does.


def _any_feeds(
    request: Request,
    feeds: Sequence[_Feed],
    order: Sequence[int] | None,
    assemble: Callable[[list[Any]], Any] | None,
    forbidden: _Forbidden,
) -> Callable[[Any, Iterable[Any]], Any]:
    unfeedable, unfetchable = forbidden.unfeedable, forbidden.unfetchable
    handle, copied = request.handle, request.copied

    def run(session: Any, values: Iterable[Any]) -> Any:
        if session._closed:
            return _ASK
        if len(unfeedable) + len(unfetchable) != forbidden.known and not forbidden.look():
            return _ASK
        given: Any = [*values]
        for feed, value in zip(feeds, given):  # noqa: B905 - the caller's key fixed the length
            if (
                type(value) is not _ndarray
                or value.dtype is not feed.dtype
                or value.shape != feed.accepted
                or feed.tensor._shape_val is not feed.shape
            ):
                given = [feed.array(value) for feed, value in zip(feeds, given, strict=True)]
                if any(value is None for value in given):
                    return _ASK
                break
        if order is not None:
            given = [given[index] for index in order]
        request.recent = True
        try:
            if request.plain:
                results = _run_callable(session._session, handle, given, None)
            else:
                results = request.run_watched(session, given)
        except _OpError as error:
            # Gives it `op` and "Detected at node", as run() would; raises always.
            session._do_call(_raise, error)
            raise
        for index in copied:
            result = results[index]
            if type(result) is _ndarray:  # a scalar has been made from the buffer
                results[index] = result.copy()
        return results[0] if assemble is None else assemble(results)

    return run


def _one_feed(
    request: Request, feed: _Feed, assemble: Callable[[list[Any]], Any] | None, forbidden: _Forbidden
) -> Callable[[Any, Iterable[Any]], Any]:
    unfeedable, unfetchable = forbidden.unfeedable, forbidden.unfetchable
    handle, copied = request.handle, request.copied
    tensor, dtype = feed.tensor, feed.dtype

    def run(session: Any, values: Iterable[Any]) -> Any:
        if session._closed:
            return _ASK
        if len(unfeedable) + len(unfetchable) != forbidden.known and not forbidden.look():
            return _ASK
        [value] = values
        if (
            type(value) is not _ndarray
            or value.dtype is not dtype
            or value.shape != feed.accepted
            or tensor._shape_val is not feed.shape
        ):
            value = feed.array(value)
            if value is None:
                return _ASK
        request.recent = True
        try:
            results = _run_callable(session._session, handle, [value], None)
        except _OpError as error:
            session._do_call(_raise, error)
            raise
        for index in copied:
            result = results[index]
            if type(result) is _ndarray:
                results[index] = result.copy()
        return results[0] if assemble is None else assemble(results)

    return run


#: What Plan.run returns instead of a result: nothing was run, the slow way must check the values.
_ASK = object()


def _freeze(mapper: Any) -> None:
    """Makes a fetch mapper independent of the caller's dicts, whose keys it would read again for each result."""
    if hasattr(mapper, "_keys"):
        mapper._keys = tuple(mapper._keys)
    for each in getattr(mapper, "_mappers", ()):
        _freeze(each)


def _assembler(handler: Any, names: Sequence[str]) -> Callable[[list[Any]], Any] | None:
    """Makes the function that turns a request's results (in ``names``' order) into the structure of the fetches.

    None stands for the only result itself.
    """
    mapper = handler._fetch_mapper
    _freeze(mapper)
    position = {name: index for index, name in enumerate(names)}
    unique = mapper.unique_fetches()
    sources = [None if isinstance(fetch, _Operation) else position[fetch.name] for fetch in unique]
    if type(mapper).__name__ == "_ElementFetchMapper" and len(unique) == 1 and isinstance(unique[0], _Tensor):
        if mapper._contraction_fn([mapper]) is mapper:  # the identity: a plain tensor
            return None
    build = mapper.build_results
    return lambda results: build([None if source is None else results[source] for source in sources])


# -- a session's calls ------------------------------------------------------------------------------------------------


class SessionCalls:
    """The compiled requests and plans of one session. It holds no strong reference to the session.

    Args:
        session: The session.
        execution: ``"auto"``, ``"caller"`` or ``"pool"``.
        capacity: How many requests, and how many plans, are kept.
    """

    def __init__(self, session: Any, execution: str = "auto", capacity: int = CAPACITY) -> None:
        if execution not in EXECUTIONS:
            raise ConfigError(
                f"execution is {execution!r}", where="SessionConfig", next_step=f"Use one of {', '.join(EXECUTIONS)}."
            )
        self.execution = execution
        self.plans: dict[Any, Plan] = {}
        self.requests: dict[Any, Request] = {}
        self._capacity = capacity
        self._lock = threading.RLock()
        self._refused: str | None = None
        self._one_thread = False
        self._looked = False

    def request(self, session: Any, feeds: Sequence[Any], fetches: Sequence[Any], targets: Sequence[Any]) -> Request:
        """The compiled request for tensors sorted by name; compiles it when it is new."""
        key = _request_key(feeds, fetches, targets)
        found = self.requests.get(key)
        if found is None:
            with self._lock:
                found = self.requests.get(key)
                if found is None:
                    found = self._compile(session, key, feeds, fetches, targets)
                    self._insert(self.requests, key, found)
        return found

    def _compile(
        self, session: Any, names: Any, feeds: Sequence[Any], fetches: Sequence[Any], targets: Sequence[Any]
    ) -> Request:
        if not self._looked:
            self._refused = _refused(session)
            self._one_thread = _one_thread(session._config)
            self._looked = True
        with session.graph._session_run_lock():  # another thread that adds operations would disturb the reading
            judgement = judge(
                prune(fetches, targets, feeds), fetches, feeds, refused=self._refused, one_thread=self._one_thread
            )
        in_caller = self.execution == "caller" or (self.execution == "auto" and judgement.unsafe_in_caller is None)
        if in_caller and judgement.unsafe_in_caller is not None:
            raise ExecutionModeError(
                f"execution='caller' is refused for fetches {list(names[1] + names[2])}: {judgement.unsafe_in_caller}",
                where="SessionConfig(execution='caller')",
                next_step="Use execution='auto', which runs such a request in the thread pool.",
            )
        options = private.config_pb2.CallableOptions(feed=names[0], fetch=names[1], target=names[2])
        if in_caller:
            options.run_options.inter_op_thread_pool = -1
        made = session._do_call(session._make_callable_from_options, options)
        handle, made._handle = made._handle, None  # ours from here on; theirs would keep the session alive
        # Strings have been made from the buffer; every other array that is not known to be fresh may be a view of it.
        copied = [
            index
            for index, (tensor, fresh) in enumerate(zip(fetches, judgement.fresh, strict=True))
            if not fresh and tensor.dtype.base_dtype != tf.string
        ]
        return Request(session, handle, judgement, in_caller, copied)

    def plan(self, session: Any, key: Any, fetches: Any, feeds: Iterable[Any], refs: Any) -> Plan | None:
        """Makes the plan of a request that the slow way has accepted. None when it has to go that way each time.

        With a ``key`` the request has just run and the plan is kept; without one it is compiled if it has to be.
        """
        graph = session.graph
        handler = private.session._FetchHandler(graph, fetches, {})
        tensors = [graph.as_graph_element(feed, allow_tensor=True, allow_operation=False) for feed in feeds]
        fetched, targets = handler.fetches(), handler.targets()
        fed = {id(tensor) for tensor in tensors}
        if handler._fetch_handles or len(fed) != len(tensors) or any(id(tensor) in fed for tensor in fetched):
            return None
        if not fetched and not targets:
            return None
        if any(tensor.dtype in (tf.resource, tf.variant) for tensor in tensors):
            return None
        forbidden = _Forbidden(graph, tensors, [*fetched, *targets])
        if not forbidden.look():
            return None
        order = sorted(range(len(tensors)), key=lambda index: str(tensors[index].name))
        fetched, targets = sorted(fetched, key=_name), sorted(targets, key=_name)
        fed_in_order = [tensors[index] for index in order]
        request_key = _request_key(fed_in_order, fetched, targets)
        request = self.requests.get(request_key)
        if request is None:
            if key is not None:
                return None  # closed meanwhile, or the slow way had a reason not to compile it
            request = self.request(session, fed_in_order, fetched, targets)
        plan = Plan(
            request,
            [_Feed(tensor) for tensor in tensors],
            None if order == list(range(len(order))) else order,
            _assembler(handler, [tensor.name for tensor in fetched]),
            forbidden,
            refs,
        )
        if key is not None:
            with self._lock:
                if self.requests.get(request_key) is request:  # else it was evicted just now, or close() came
                    self._insert(self.plans, key, plan)
        return plan

    def _insert(self, cache: dict[Any, Any], key: Any, value: Any) -> None:
        """Keeps ``value``; with the lock held. Evicts the oldest entry not used since it was last passed."""
        while len(cache) >= self._capacity:
            for old in list(cache):
                entry = cache.get(old)
                if entry is None:
                    continue
                if entry.recent:
                    entry.recent = False
                else:
                    cache.pop(old, None)
                    if cache is self.requests:
                        for stale in [name for name, plan in self.plans.items() if plan.request is entry]:
                            self.plans.pop(stale, None)
                    break
        cache[key] = value

    def clear(self) -> None:
        """Drops all plans and requests; calls that are running keep theirs until they return."""
        with self._lock:
            self.plans.clear()
            self.requests.clear()


def _name(element: Any) -> str:
    return str(element.name)


def _request_key(feeds: Sequence[Any], fetches: Sequence[Any], targets: Sequence[Any]) -> tuple[tuple[str, ...], ...]:
    return tuple([tuple([str(item.name) for item in part]) for part in (feeds, fetches, targets)])


def _refused(session: Any) -> str | None:
    """Why no request of this session may run in the caller's thread, whatever its operations are."""
    if session.sess_str:
        return f"the session runs on the server {session.sess_str.decode(errors='replace')}"
    if len(session.list_devices()) != 1:
        return "the session has more than one device"
    if session._config.graph_options.optimizer_options.global_jit_level > 0:
        return "the session compiles its graphs with XLA"
    return None


def _one_thread(config: Any) -> bool:
    """Whether the session asks for a pool with one thread, itself or by the environment as TensorFlow reads it."""
    if config.session_inter_op_thread_pool:
        return False
    asked = config.inter_op_parallelism_threads
    if asked == 0 and not config.use_per_session_threads:
        return os.environ.get("TF_NUM_INTEROP_THREADS") == "1"
    return bool(asked == 1)


def calls_of(session: Any) -> SessionCalls:
    """The compiled calls of any session; made at the first use."""
    found = getattr(session, "_tf1sessions_calls", None)
    if found is None:
        found = session.__dict__.setdefault("_tf1sessions_calls", SessionCalls(session))
    return found  # type: ignore[no-any-return]


# -- run --------------------------------------------------------------------------------------------------------------

_original_run: Any = tf.Session.run
_original_do_run: Any = getattr(tf.Session, "_do_run", None)
_original_make_callable: Any = tf.Session.make_callable
_original_init: Any = None


def run(session: Any, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
    """Runs ``fetches`` in any session, as ``tf.compat.v1.Session.run`` does, by a compiled call where there is one.

    Args:
        session: A ``tf.compat.v1.Session``, one of ours or not.
        fetches, feed_dict, options, run_metadata: As for ``Session.run``.

    Returns:
        What ``Session.run`` returns; no array of it shares memory with a variable, constant, feed or other result.

    Raises:
        Whatever ``Session.run`` raises, in the same words.
        ForkedAfterSessionError: In a child process that was forked after its parent made a session; ``Session.run``
            would hang there.

    Thread-safety: safe to call from any number of threads at once.
    """
    if forks.refusing:
        raise forks.error()
    if options or run_metadata:
        if (options and (type(options) is not tf.RunOptions or options.ByteSize())) or (
            run_metadata and type(run_metadata) is not tf.RunMetadata
        ):
            return _own(_original_run(session, fetches, feed_dict, options, run_metadata), feed_dict)
        result = run(session, fetches, feed_dict)
        if run_metadata:
            run_metadata.Clear()  # what run() leaves in it when no option asks for anything
        return result
    calls = getattr(session, "_tf1sessions_calls", None) or calls_of(session)
    try:
        # A feed is known by its id (a plan holds its tensors, so no other object has it), a name by its value.
        key: Any = id(fetches) if _leaf_types.get(type(fetches)) else _key(fetches)
        if feed_dict:
            if len(feed_dict) == 1:
                [item] = feed_dict
                key = (key, item if type(item) is str else id(item))
            else:
                key = (key, *[item if type(item) is str else id(item) for item in feed_dict])
        plan = calls.plans.get(key)
    except _NotPlannable:
        return _own(session._run(None, fetches, feed_dict, None, None), feed_dict)
    if plan is not None:
        plan.recent = True
        result = plan.run(session, feed_dict.values() if feed_dict else ())
        if result is not _ASK:
            return result
        return _own(session._run(None, fetches, feed_dict, None, None), feed_dict)
    result = _own(session._run(None, fetches, feed_dict, None, None), feed_dict)
    feeds = list(feed_dict or ())
    if all(isinstance(feed, (_Tensor, tf.Variable, str)) for feed in feeds):
        calls.plan(session, key, fetches, feeds, (_leaves(fetches), feeds))
    return result


def _own(result: Any, feed_dict: Any) -> Any:
    """Copies what the slow way returned of the fed arrays themselves (a tensor both fed and fetched)."""
    fed = [array for feed, value in feed_dict.items() for array in _arrays(value, feed)] if feed_dict else []
    return _own_parts(result, fed) if fed else result


def _arrays(value: Any, feed: Any) -> list[Any]:
    """The arrays among what is fed for one key; a key that is a composite or a tuple has several values."""
    if isinstance(value, _ndarray):
        return [value]
    if isinstance(value, _RaggedTensorValue):
        return [*_arrays(value.values, feed), value.row_splits]
    if isinstance(value, (tuple, list)) and not isinstance(feed, (_Tensor, tf.Variable, str)):
        parts = feed if isinstance(feed, tuple) and len(feed) == len(value) else [feed] * len(value)
        return [array for part, each in zip(parts, value, strict=True) for array in _arrays(each, part)]
    return []


def _own_parts(item: Any, fed: list[Any]) -> Any:
    """``item`` with copies of what shares memory with ``fed``; its containers were made by TensorFlow just now."""
    if isinstance(item, _ndarray):
        return item.copy() if any(np.may_share_memory(item, other) for other in fed) else item
    if isinstance(item, tuple):
        parts = [_own_parts(each, fed) for each in item]
        if all(part is each for part, each in zip(parts, item, strict=True)):
            return item
        return tuple(parts) if type(item) is tuple else type(item)(*parts)
    if isinstance(item, list):
        item[:] = [_own_parts(each, fed) for each in item]
    elif isinstance(item, MutableMapping):
        for key, each in item.items():
            item[key] = _own_parts(each, fed)
    elif isinstance(item, _RaggedTensorValue):
        return _RaggedTensorValue(_own_parts(item.values, fed), _own_parts(item.row_splits, fed))
    elif hasattr(type(item), "__attrs_attrs__"):
        return type(item)(*[_own_parts(getattr(item, part.name), fed) for part in type(item).__attrs_attrs__])
    return item


def do_run(
    session: Any, handle: Any, target_list: Any, fetch_list: Any, feed_dict: Any, options: Any, run_metadata: Any
) -> Any:
    """Takes the place of ``BaseSession._do_run``: the end of the slow way, which has checked everything."""
    if forks.refusing:
        raise forks.error()
    if (
        handle is not None
        or options is not None
        or run_metadata is not None
        # Resource handles (a TensorHandle that is fed, for one) crash the callable API.
        or any(value.dtype.fields is not None and value.dtype == _RESOURCE for value in feed_dict.values())
    ):
        return _original_do_run(session, handle, target_list, fetch_list, feed_dict, options, run_metadata)
    feeds = sorted(((ref.deref(), value) for ref, value in feed_dict.items()), key=lambda pair: str(pair[0].name))
    fetches = sorted(fetch_list, key=_name)
    request = calls_of(session).request(
        session, [tensor for tensor, _ in feeds], fetches, sorted(target_list, key=_name)
    )
    results = session._do_call(request.run, session, [value for _, value in feeds])
    if fetches == fetch_list:
        return results
    by_id = {id(tensor): result for tensor, result in zip(fetches, results, strict=True)}
    return [by_id[id(tensor)] for tensor in fetch_list]


def close(session: Any) -> None:
    """As ``BaseSession.close``, and safe while other threads run requests in their own threads.

    TensorFlow crashes when a session is closed during a call in the caller's thread (2.21; calls in the pool it ends
    well). Such calls wait for nothing, so those that have begun are let end; none begins any more. Nothing tells of a
    call that runs, because telling would cost time in each: this looks at the stacks of the other threads instead.
    """
    if session._session is None or session._closed:
        return
    session._closed = True
    while _runs_in_caller(session):
        time.sleep(0.0002)
    if not _in_flight(session):
        private.pywrap_session.TF_CloseSession(session._session)
        return
    # TensorFlow waits for Python functions that run in the session: without an end, and deaf to Ctrl-C.
    closing = threading.Thread(target=_close_now, args=(session,), name="tf1sessions-close", daemon=True)
    closing.start()
    closing.join(CLOSE_SECS)
    if closing.is_alive():
        waiting = ", ".join(list_operations(call.operations) for call in _in_flight(session))
        logger.warning(
            "closing a session has waited %g s for what runs in it: %s. It goes on in the background; TensorFlow 1 "
            "would wait until that returns.",
            CLOSE_SECS,
            waiting or "nothing that is known",
        )


def _close_now(session: Any) -> None:
    private.pywrap_session.TF_CloseSession(session._session)  # with the session, which must not be deleted meanwhile


def _in_flight(session: Any) -> list[Any]:
    return watchdog.calls(session)


@without_collection
def _runs_in_caller(session: Any) -> bool:
    """Whether another thread is in a call that runs in its own thread; of this thread's none can be in TensorFlow."""
    frames = current_frames()
    del frames[threading.get_ident()]  # its own frame in a local variable would be a cycle
    for frame in frames.values():
        inner: Any = frame
        while inner is not None:
            if inner.f_code in _RUNNING:
                found = inner.f_locals
                request = found.get("request")  # not there yet: it has not looked whether the session is closed
                if request is not None and request.in_caller and found.get("session") is session:
                    return True
            inner = inner.f_back
    return False


def _note_session() -> None:
    """A session was made."""
    if not forks.session_noted:
        forks.note_session(caller_place())


def watch(session: Any) -> None:
    """Makes a session's calls those that the watchdog sees, if it is not one of ours. Does nothing the second time.

    ``run`` of this one session is by compiled calls from then on, in TensorFlow's pool: TensorFlow's own ``close()``,
    which it keeps, must not meet a call that runs in its caller's thread. A subclass keeps a ``run`` of its own.
    """
    if isinstance(session, Session) or getattr(session, "_tf1sessions_calls", None) is not None:
        return
    session._tf1sessions_calls = SessionCalls(session, "pool")
    if private.callable_api:
        if type(session).run is _original_run:
            session.run = types.MethodType(run, session)
        if type(session)._do_run is _original_do_run:
            session._do_run = types.MethodType(do_run, session)


def watched_session(given: Any, where: str) -> Any:
    """Returns the session of a GraphSession, or the session that was given itself, watched: see :func:`watch`.

    Raises:
        ConfigError: It is neither; ``where`` says who was given it.
    """
    session = getattr(given, "session", given)
    if not isinstance(session, (tf.Session, tf.InteractiveSession)):
        raise ConfigError(
            f"session is {given!r:.200}",
            where=where,
            next_step="Give a GraphSession, a Session or an InteractiveSession.",
        )
    watch(session)
    return session


def make_callable(session: Any, fetches: Any, feed_list: Any = None, accept_options: bool = False) -> Any:
    """As ``Session.make_callable``, by compiled calls. Queue runners enqueue with what this returns."""
    made = _original_make_callable(session, fetches, feed_list, accept_options)  # its checks, and its graph update
    if feed_list is not None or accept_options:
        return made  # it calls run() itself, or needs its own way for RunOptions
    return functools.partial(run, session, fetches)


class Session(tf.Session):  # type: ignore[misc]
    """``tf.compat.v1.Session`` with compiled calls under ``run``: the same results, checks and errors, faster.

    Args:
        target, graph, config: As for ``tf.compat.v1.Session``. ``config`` may also be a
            :class:`~tf1sessions.SessionConfig`.
        execution: ``"auto"`` runs a request in the calling thread when its graph is small and made of operations that
            wait for nothing, and in TensorFlow's thread pool otherwise; ``"pool"`` always uses the pool; ``"caller"``
            refuses a request that is not safe in the calling thread.

    Raises:
        ConfigError: For an unknown ``execution``, and a lane in ``config`` on which ``graph`` is not: a GraphSession
            makes its graph there.
        MemoryPlanConflict: ``config`` asks for another share of the GPUs than this process has been given.
        ExecutionModeError: From ``run``, with ``execution="caller"``.

    A request that reads a variable and changes it, without a control dependency between the two, has no defined order:
    TensorFlow 1.15 gives now the one, now the other. In the calling thread it is the same one each time.

    Thread-safety: ``run`` and ``close`` may be called from any thread. Adding operations to the graph may not; see
    :class:`~tf1sessions.GraphSession`.

    Example:
        >>> import tf1sessions as t1
        >>> tf = t1.tf1
        >>> with tf.Graph().as_default(), t1.Session() as session:
        ...     x = tf.placeholder(tf.float32, [None])
        ...     print(session.run(2. * x, {x: [1., 2.]}))
        [2. 4.]
    """

    _session: Any = None  # what TensorFlow's __del__ reads when __init__ has raised
    _tf1sessions_calls: Any = None

    def __init__(
        self, target: str = "", graph: Any = None, config: Any = None, *, execution: str | None = None
    ) -> None:
        if forks.refusing:
            raise forks.error()
        to_proto = getattr(config, "to_proto", None)
        if to_proto is not None:
            _check_lane(graph, config.lane)
            execution = execution or config.execution
            config = to_proto()
        calls = SessionCalls(self, execution or "auto")
        if gpu_settings.nothing_to_agree_on():
            super().__init__(target, graph, config)
        else:
            with gpu_settings.joining(config, target) as (agreed, made):
                super().__init__(target, graph, agreed)
                made(self)
        _note_session()
        self._tf1sessions_calls = calls

    if private.callable_api:
        run = run  # the function above, as a method: one frame less in each call
        make_callable = make_callable
        _do_run = do_run

    def close(self) -> None:
        """Closes the session; closing again does nothing.

        Calls that run in TensorFlow's pool end with ``CancelledError``; those in their caller's thread, which wait for
        nothing, end first. A Python function that runs in it cannot be ended: after 10 s it is named in the log
        ``tf1sessions``, and the session is closed when it returns.
        """
        if self._session is None or self._closed:
            return
        if private.callable_api:
            close(self)
        else:
            super().close()
        calls = self.__dict__.get("_tf1sessions_calls")
        if calls is not None and not forks.forked():  # there its lock may be held for ever
            calls.clear()
        watchdog.forget(self)


def _check_lane(graph: Any, lane: str | None) -> None:
    if lane is not None and getattr(graph, "lane", None) != lane:
        raise ConfigError(
            f"lane is {lane!r}, and the session's graph is not on it",
            where="the session's config",
            next_step="Use GraphSession(config), which builds its graph on the lane, or load(path, config=...).",
        )


class CompiledCall:
    """A request that was compiled once; made by :meth:`GraphSession.compile`.

    Calling it with one value for each feed, in their order, returns what ``run(fetches, ...)`` would return: owned by
    the caller, with the same checks and errors.

    Attributes:
        in_caller: Whether it runs in the calling thread rather than in TensorFlow's pool; None when it is not compiled
            because only ``run`` can do it.

    Thread-safety: safe to call from any number of threads at once.
    """

    __slots__ = ("_feeds", "_fetches", "_only_targets", "_picks", "_run", "_session", "in_caller")

    def __init__(self, session: Any, feeds: Any, fetches: Any, targets: Any) -> None:
        if forks.refusing:  # a lock may be held for ever
            raise forks.error()
        self._session = session
        self._feeds = tuple(feeds) if isinstance(feeds, (list, tuple)) else (() if feeds is None else (feeds,))
        listed = list(targets) if isinstance(targets, (list, tuple)) else ([] if targets is None else [targets])
        # With targets, what runs is (fetches, targets), and the first of the two is returned.
        self._picks = bool(listed)
        self._only_targets = fetches is None
        self._fetches: Any = fetches
        if listed:
            self._fetches = (listed[:1] if fetches is None else fetches, listed)
        if session._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        plan = None
        if private.callable_api:
            single = [feed for feed in self._feeds if isinstance(feed, (_Tensor, tf.Variable, _Operation, str))]
            try:
                for feed in single:
                    session.graph.as_graph_element(feed, allow_tensor=True, allow_operation=False)
            except (KeyError, TypeError, ValueError) as error:
                raise TypeError(f"Cannot interpret feed_dict key as Tensor: {error.args[0]}") from error
            if len(single) == len(self._feeds):  # composites and tuples of tensors are left to run()
                refs = (_leaves(self._fetches), self._feeds)
                plan = calls_of(session).plan(session, None, self._fetches, self._feeds, refs)
        self._run = None if plan is None else plan.run
        self.in_caller = None if plan is None else plan.request.in_caller

    def __call__(self, *values: Any) -> Any:
        if len(values) != len(self._feeds):
            raise TypeError(
                f"the compiled call takes {len(self._feeds)} value(s), for "
                f"{[getattr(feed, 'name', feed) for feed in self._feeds]}, and got {len(values)}"
            )
        session = self._session
        if self._run is not None:
            if forks.refusing:
                raise forks.error()
            result = self._run(session, values)
            if result is not _ASK:
                return self._pick(result) if self._picks else result
        with session.graph.as_default():  # in a TF2 program a tensor of it can be a dict's key here only
            result = session.run(self._fetches, dict(zip(self._feeds, values, strict=True)))
        return self._pick(result) if self._picks else result

    def _pick(self, result: Any) -> Any:
        return None if self._only_targets else result[0]

    def __repr__(self) -> str:
        where = {True: "caller", False: "pool", None: "run"}[self.in_caller]
        return f"<CompiledCall of {len(self._feeds)} feed(s), runs in {where}>"


# -- a whole process --------------------------------------------------------------------------------------------------


def install_fast_path() -> bool:
    """Puts compiled calls under every session of this process, those that TensorFlow's own classes make included.

    For processes that belong to one script: MonitoredTrainingSession, Supervisor and Estimator make
    ``python.client.session.Session`` themselves, and all of them meet in ``BaseSession.run``. Calling it again does
    nothing.

    Returns:
        False when this TensorFlow lacks the private API; ``run`` is then left as it is.
    """
    global _original_init, _original_run
    if not private.callable_api:
        return False
    base = private.session.BaseSession
    if _original_init is not None:
        return True
    _original_init = base.__init__
    _original_run = base.run

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        if forks.refusing:
            raise forks.error()
        asked = dict(zip(("target", "graph", "config"), args, strict=False)) | kwargs
        # The options of a script that TensorFlow ignores are told once, and ignored.
        with gpu_settings.joining(asked.get("config"), asked.get("target"), refuse=False) as (_, made):
            _original_init(self, *args, **kwargs)
            made(self)
        _note_session()

    __init__.__wrapped__ = _original_init  # type: ignore[attr-defined]
    __init__.__doc__ = _original_init.__doc__

    base._session = None  # what its __del__ reads when __init__ has raised
    base._tf1sessions_calls = None
    base.__init__ = __init__
    base.run = run
    base.make_callable = make_callable
    base.close = close
    base._do_run = do_run
    return True
