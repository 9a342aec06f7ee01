"""The compiled requests and plans of one session, and the decision where each of them runs."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Iterable, Sequence
from typing import Any

from tf1sessions.errors import ConfigError, ExecutionModeError
from tf1sessions.runtime import private, tf
from tf1sessions.sessions.feed_values import Feed
from tf1sessions.sessions.ignored_feeds import refuse_ignored_feeds
from tf1sessions.sessions.operations import judge, may_lack_values, prune
from tf1sessions.sessions.plans import CompiledRequest, Forbidden, RequestPlan, assembler

__all__ = ["CAPACITY", "EXECUTIONS", "SessionCalls", "calls_of", "milliseconds", "name_of"]

EXECUTIONS = ("auto", "caller", "pool")

#: How many requests a session keeps compiled. Arbitrary: well above what a training loop uses, and low enough that a
#: program which makes a new request at each step does not keep them all.
CAPACITY = 256


class SessionCalls:
    """The compiled requests and plans of one session. It holds no strong reference to the session.

    Args:
        session: The session.
        execution: ``"auto"``, ``"caller"`` or ``"pool"``.
        capacity: How many requests, and how many plans, are kept.

    Attributes:
        run_limit_secs: TensorFlow ends a run that takes longer, with DeadlineExceededError; None for no limit. Of
            requests that are compiled from now on, and name no limit of their own.
    """

    def __init__(self, session: Any, execution: str = "auto", capacity: int = CAPACITY) -> None:
        if execution not in EXECUTIONS:
            raise ConfigError(
                f"execution is {execution!r}", where="SessionConfig", next_step=f"Use one of {', '.join(EXECUTIONS)}."
            )
        self.execution = execution
        self.run_limit_secs: float | None = None
        self.plans: dict[Any, RequestPlan] = {}
        self.requests: dict[Any, CompiledRequest] = {}
        self._not_compiled: set[Any] = set()  # keys of requests that may fetch what has no value
        self._capacity = capacity
        self._lock = threading.RLock()
        self._refused: str | None = None
        self._one_thread = False
        self._looked = False

    def request(
        self,
        session: Any,
        feeds: Sequence[Any],
        fetches: Sequence[Any],
        targets: Sequence[Any],
        run_limit_secs: float | None = None,
    ) -> CompiledRequest | None:
        """The compiled request for tensors sorted by name; compiles it when it is new.

        None where it may fetch a tensor that has no value, which TensorFlow's own run sees.
        """
        key = self._key(feeds, fetches, targets, run_limit_secs)
        found = self.requests.get(key)
        if found is None and key not in self._not_compiled:
            with self._lock:
                found = self.requests.get(key) or self._compile(session, key, feeds, fetches, targets)
        return found

    def _key(
        self, feeds: Sequence[Any], fetches: Sequence[Any], targets: Sequence[Any], run_limit_secs: float | None
    ) -> tuple[Any, ...]:
        return (*request_key(feeds, fetches, targets), run_limit_secs or self.run_limit_secs)

    def _compile(
        self, session: Any, key: Any, feeds: Sequence[Any], fetches: Sequence[Any], targets: Sequence[Any]
    ) -> CompiledRequest | None:
        """Compile a request and keep it, with the lock held; None where it may fetch what has no value."""
        if not self._looked:
            self._refused = _refused(session)
            self._one_thread = _one_thread(session._config)
            self._looked = True
        with session.graph._session_run_lock():  # another thread that adds operations would disturb the reading
            refuse_ignored_feeds(feeds, session._config)
            operations = prune(fetches, targets, feeds)
            judgement = judge(operations, fetches, feeds, refused=self._refused, one_thread=self._one_thread)
            lacks_values = may_lack_values(operations, fetches, feeds)
        in_caller = self.execution == "caller" or (self.execution == "auto" and judgement.unsafe_in_caller is None)
        *names, run_limit_secs = key
        if in_caller and judgement.unsafe_in_caller is not None:
            raise ExecutionModeError(
                f"execution='caller' is refused for fetches {list(names[1] + names[2])}: {judgement.unsafe_in_caller}",
                where="SessionConfig(execution='caller')",
                next_step="Use execution='auto', which runs such a request in the thread pool.",
            )
        if lacks_values:
            if len(self._not_compiled) >= self._capacity:
                self._not_compiled.clear()
            self._not_compiled.add(key)
            return None
        options = private.config_pb2.CallableOptions(feed=names[0], fetch=names[1], target=names[2])
        if in_caller:
            options.run_options.inter_op_thread_pool = -1
        if run_limit_secs is not None:
            options.run_options.timeout_in_ms = milliseconds(run_limit_secs)
        made = session._do_call(session._make_callable_from_options, options)
        handle, made._handle = made._handle, None  # ours from here on; theirs would keep the session alive
        # Strings have been made from the buffer; every other array that is not known to be fresh may be a view of it.
        copied = [
            index
            for index, (tensor, fresh) in enumerate(zip(fetches, judgement.fresh, strict=True))
            if not fresh and tensor.dtype.base_dtype != tf.string
        ]
        found = CompiledRequest(session, handle, judgement, in_caller, copied)
        self._insert(self.requests, key, found)
        return found

    def plan(
        self,
        session: Any,
        key: Any,
        fetches: Any,
        feeds: Iterable[Any],
        refs: Any,
        run_limit_secs: float | None = None,
    ) -> RequestPlan | None:
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
        forbidden = Forbidden(graph, tensors, [*fetched, *targets])
        if not forbidden.look():
            return None
        order = sorted(range(len(tensors)), key=lambda index: str(tensors[index].name))
        fetched, targets = sorted(fetched, key=name_of), sorted(targets, key=name_of)
        fed_in_order = [tensors[index] for index in order]
        names = self._key(fed_in_order, fetched, targets, run_limit_secs)
        request = self.requests.get(names)
        if request is None:
            if key is not None:
                return None  # closed meanwhile, or the slow way had a reason not to compile it
            request = self.request(session, fed_in_order, fetched, targets, run_limit_secs)
            if request is None:
                return None
        plan = RequestPlan(
            request,
            [Feed(tensor) for tensor in tensors],
            None if order == list(range(len(order))) else order,
            assembler(handler, [tensor.name for tensor in fetched]),
            forbidden,
            refs,
        )
        if key is not None:
            with self._lock:
                if self.requests.get(names) is request:  # else it was evicted just now, or close() came
                    self._insert(self.plans, key, plan)
        return plan

    def _insert(self, cache: dict[Any, Any], key: Any, value: Any) -> None:
        """Keeps ``value``; with the lock held. Evicts the oldest entry not used since it was last passed."""
        while len(cache) >= self._capacity:
            self._evict(cache)
        cache[key] = value

    def _evict(self, cache: dict[Any, Any]) -> None:
        """Removes the first entry that was not used since it was last passed; those before it are passed."""
        for old in list(cache):
            entry = cache.get(old)
            if entry is None:
                continue
            if entry.recent:
                entry.recent = False
                continue
            cache.pop(old, None)
            if cache is self.requests:
                for stale in [name for name, plan in self.plans.items() if plan.request is entry]:
                    self.plans.pop(stale, None)
            return

    def clear(self) -> None:
        """Drops all plans and requests; calls that are running keep theirs until they return."""
        with self._lock:
            self.plans.clear()
            self.requests.clear()


def milliseconds(secs: float) -> int:
    """A limit as RunOptions have it, where 0 is none."""
    return max(1, math.ceil(secs * 1000))


def name_of(element: Any) -> str:
    return str(element.name)


def request_key(feeds: Sequence[Any], fetches: Sequence[Any], targets: Sequence[Any]) -> tuple[tuple[str, ...], ...]:
    return tuple([tuple([str(item.name) for item in part]) for part in (feeds, fetches, targets)])


def _refused(session: Any) -> str | None:
    """Return why no request of this session may run in the caller's thread, whatever its operations are."""
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
