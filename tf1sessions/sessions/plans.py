"""A request, compiled once for a session; and its plan: what checks the values of one ``run`` and calls it."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from tf1sessions.runtime import private, tf
from tf1sessions.sessions.feed_values import Feed
from tf1sessions.sessions.operations import Judgement
from tf1sessions.sessions.watchdog import watchdog

__all__ = ["ASK", "RESOURCE", "RUNNING", "CompiledRequest", "Forbidden", "RequestPlan", "assembler", "run_callable"]

_Tensor: Any = tf.Tensor
_Operation: Any = tf.Operation
_OpError: Any = tf.errors.OpError
_ndarray = np.ndarray


class CompiledRequest:
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

        :attr:`RequestPlan.run` does the same in place.

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
            return run_callable(session._session, self.handle, values, None)
        try:
            with watchdog.call(session, judgement.may_block):
                return run_callable(session._session, self.handle, values, None)
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
RUNNING = {CompiledRequest.run.__code__}

RESOURCE = np.dtype([("resource", np.ubyte)])

run_callable: Any = getattr(private.pywrap_session, "TF_SessionRunCallable", None)


def _raise(error: Exception) -> None:
    raise error


class Forbidden:
    """The tensors that a graph has marked as not feedable or not fetchable, as far as it concerns one request."""

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


class RequestPlan:
    """The plan of a shape of request: a call of a :class:`CompiledRequest`, and its results in the caller's structure.

    Attributes:
        run: ``run(session, values)``: the caller's results for the values fed, or ``ASK`` when TensorFlow's own checks
            must decide about them; nothing was run then.
    """

    __slots__ = ("_refs", "recent", "request", "run")

    def __init__(
        self,
        request: CompiledRequest,
        feeds: Sequence[Feed],
        order: Sequence[int] | None,
        assemble: Callable[[list[Any]], Any] | None,
        forbidden: Forbidden,
        refs: Any,
    ) -> None:
        self.request = request
        self._refs = refs
        self.recent = True
        self.run = _runner(request, tuple(feeds), order, assemble, forbidden)
        RUNNING.add(self.run.__code__)


def _runner(
    request: CompiledRequest,
    feeds: Sequence[Feed],
    order: Sequence[int] | None,
    assemble: Callable[[list[Any]], Any] | None,
    forbidden: Forbidden,
) -> Callable[[Any, Iterable[Any]], Any]:
    """The function ``run(session, values)`` of a plan. It is one function, as each call in it costs a twentieth."""
    unfeedable, unfetchable = forbidden.unfeedable, forbidden.unfetchable
    handle, copied = request.handle, request.copied

    def run(session: Any, values: Iterable[Any]) -> Any:
        if session._closed:
            return ASK
        if len(unfeedable) + len(unfetchable) != forbidden.known and not forbidden.look():
            return ASK
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
                    return ASK
                break
        if order is not None:
            given = [given[index] for index in order]
        request.recent = True
        try:
            if request.plain:
                results = run_callable(session._session, handle, given, None)
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


#: What RequestPlan.run returns instead of a result: nothing was run, the slow way must check the values.
ASK = object()


def _freeze(mapper: Any) -> None:
    """Makes a fetch mapper independent of the caller's dicts, whose keys it would read again for each result."""
    if hasattr(mapper, "_keys"):
        mapper._keys = tuple(mapper._keys)
    for each in getattr(mapper, "_mappers", ()):
        _freeze(each)


def _gives_a_tensor(mapper: Any) -> bool:
    """Whether a fetch mapper's result is that of one tensor, as it is."""
    unique = mapper.unique_fetches()
    if type(mapper).__name__ != "_ElementFetchMapper" or len(unique) != 1 or not isinstance(unique[0], _Tensor):
        return False
    return mapper._contraction_fn([mapper]) is mapper  # the identity


def assembler(handler: Any, names: Sequence[str]) -> Callable[[list[Any]], Any] | None:
    """Makes the function that turns a request's results (in ``names``' order) into the structure of the fetches.

    None stands for the only result itself.
    """
    mapper = handler._fetch_mapper
    _freeze(mapper)
    position = {name: index for index, name in enumerate(names)}
    unique = mapper.unique_fetches()
    sources = [None if isinstance(fetch, _Operation) else position[fetch.name] for fetch in unique]
    if _gives_a_tensor(mapper):
        return None
    if type(mapper).__name__ == "_ListFetchMapper" and issubclass(mapper._fetch_type, list):
        picked = [sources[indices[0]] for indices in mapper._value_indices if indices]
        if picked == list(range(len(names))) and all(map(_gives_a_tensor, mapper._mappers)):
            return list  # the results are in this order already
    build = mapper.build_results
    return lambda results: build([None if source is None else results[source] for source in sources])
