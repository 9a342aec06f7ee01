"""RowCall: one compiled call for the rows of several requests. No threads and no waiting here.

::

    arguments of a request ─▶ read ─▶ Rows: arrays, how many rows, key
    Rows of one key ─▶ run ─▶ joined, padded to an allowed size ─▶ CompiledCall ─▶ each request its rows

Feeds have rows whose first dimension the graph leaves open. Which fetches have rows is found by following those through
the graph (row_independence.py); a fetch in which rows may depend on each other is refused.
"""

from __future__ import annotations

import bisect
import functools
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tf1sessions.errors import ConfigError, UsageError
from tf1sessions.pipelines.retry_safety import changed_by
from tf1sessions.pipelines.row_independence import RowStates
from tf1sessions.pipelines.row_states import COUNT, FREE, Mixed, RowsAlong
from tf1sessions.runtime import tf
from tf1sessions.sessions.calls import CompiledCall
from tf1sessions.sessions.feed_values import Feed, asarray
from tf1sessions.sessions.operations import prune

__all__ = ["RowCall", "Rows"]


#: How many rows are computed one by one to check that they do not depend on each other. Arbitrary.
_CHECKED_ROWS = 16
#: By how many roundings of their largest value two rows may differ that are the same. Arbitrary: a sum of thousands of
#: terms in another order differs by some dozens.
_EPSILONS = 1000


@dataclass(eq=False)
class Rows:
    """The fed rows of one request.

    Attributes:
        given: Which inputs are given, by their positions.
        values: An array for each of them.
        count: How many rows.
        key: Equal for requests that may share a run.
    """

    given: tuple[int, ...]
    values: tuple[Any, ...]
    count: int
    key: tuple[Any, ...]


class RowCall:
    """Feeds and fetches of a session, compiled; called with the rows of one or more requests.

    Args:
        session: The session, watched.
        feeds, fetches, max_batch_size, allowed_batch_sizes, shared, row_wise, check: As for
            :class:`~tf1sessions.pipelines.batching.Batcher`.

    Attributes:
        names: Of the inputs.
        max_rows: The most rows of a run.

    Raises:
        ConfigError: No feed has rows; a fetch mixes the rows of requests; sizes contradict each other.

    Thread-safety: safe to use from any number of threads at once.
    """

    def __init__(
        self,
        session: Any,
        feeds: Any,
        fetches: Any,
        *,
        max_batch_size: int,
        allowed_batch_sizes: Sequence[int] | None,
        shared: Sequence[Any],
        row_wise: Sequence[Any] | bool,
        check: bool,
    ) -> None:
        self._session = session
        self._inputs, self._positions, self._refs, fixed_rows = _read_feeds(session.graph, feeds, shared)
        self._assemble, self._outputs = _read_fetches(
            session.graph, fetches, self._inputs, fixed_rows, shared, row_wise
        )
        self._sizes = _read_sizes(max_batch_size, allowed_batch_sizes, fixed_rows)
        self.max_rows = self._sizes[-1] if self._sizes else max_batch_size
        self.names = tuple(each.name for each in self._inputs)
        self._all_names = set(self.names)
        self._unchecked = check
        if check and self.changed_by is not None:
            raise ConfigError(
                f"the graph changes something ({self.changed_by}), so nothing can be computed several times",
                where="Batcher(check=True)",
                next_step="Leave check= out.",
            )
        self._checked: list[tuple[Any, ...]] = []
        self._calls: dict[tuple[int, ...], CompiledCall] = {}
        self._compiling = threading.Lock()
        self._call(tuple(index for index, each in enumerate(self._inputs) if not each.optional))

    @functools.cached_property
    def changed_by(self) -> str | None:
        """The operation by which a run changes something, or None when it may be repeated."""
        elements = [each.element for each in self._outputs]
        tensors = [each for each in elements if isinstance(each, tf.Tensor)]
        targets = [each for each in elements if not isinstance(each, tf.Tensor)]
        return changed_by(self._session.graph, prune(tensors, targets, _always_fed(self._inputs)))

    # -- from arguments to rows ------------------------------------------------------------------------------------

    def read(self, args: tuple[Any, ...], named: Mapping[str, Any]) -> Rows:
        """Checks and converts the inputs of one request.

        Args:
            args: The inputs in order, or one dict of them, by name or by tensor.
            named: The inputs by name.

        Raises:
            UsageError: An input is missing, unknown, or has another dtype or shape; or there are too many rows.
        """
        rows: int | None = None
        given: list[int] = []
        values: list[Any] = []
        key: list[Any] = []
        for index, (each, value) in enumerate(zip(self._inputs, self._in_order(args, named), strict=True)):
            if value is None:
                if not each.optional:
                    next_step = f"The inputs are {', '.join(self.names)}."
                    raise UsageError(f"input {each.name!r} is missing", next_step=next_step)
                key.append(None)
                continue
            array = each.array(value)
            given.append(index)
            values.append(array)
            if not each.has_rows:
                key.append(_Same(array))
                continue
            key.append(array.shape[1:])
            if rows is None:
                rows, first = len(array), each.name
            elif rows != len(array):
                raise UsageError(
                    f"input {each.name!r} has {len(array)} rows, and {first!r} has {rows}",
                    next_step="Give all inputs of a request the same number of rows.",
                )
        if rows is None:
            raise UsageError("no input that has rows was given", next_step=f"The inputs are {', '.join(self.names)}.")
        if rows > self.max_rows and self.changed_by is not None:
            raise UsageError(
                f"the request has {rows} rows, a batch at most {self.max_rows}, and it cannot be run in parts, because"
                f" the graph changes something: {self.changed_by}",
                next_step="Ask for fewer rows at a time.",
            )
        return Rows(tuple(given), tuple(values), rows, tuple(key))

    def _in_order(self, args: tuple[Any, ...], named: Mapping[str, Any]) -> list[Any]:
        """The value of each input; None for one that is left out."""
        by_name = args[0] if len(args) == 1 and not named and type(args[0]) is dict else {} if args else named
        if by_name.keys() == self._all_names:  # most requests
            return [by_name[name] for name in self.names]
        known = ", ".join(self.names)
        pairs = list(named.items())
        if args and isinstance(args[0], Mapping):
            pairs += args[0].items()
            args = args[1:]
        if len(args) > len(self._inputs) or (args and pairs):
            raise UsageError(
                f"{len(args)} values were given in order, and {len(pairs)} by name",
                next_step=f"Give each input once: {known}.",
            )
        values = [*args, *[None] * (len(self._inputs) - len(args))]
        for name, value in pairs:
            index = self._positions.get(name if isinstance(name, str) else id(name))
            if index is None:
                raise UsageError(f"there is no input {name!r}", next_step=f"The inputs are {known}.")
            values[index] = value
        return values

    # -- from rows to results --------------------------------------------------------------------------------------

    def run(self, batch: Sequence[Rows], sizes: list[tuple[int, int]]) -> list[Any]:
        """Runs the rows of one key together, or those of one request that are too many in parts.

        Args:
            batch: At most ``max_rows`` rows, or one request.
            sizes: Gets the rows and the padding of each run, before it.

        Returns:
            For each request its results, in the structure of the fetches. Each array is its own.
        """
        given = batch[0].given
        columns = [list(column) for column in zip(*[each.values for each in batch], strict=True)]
        count = sum([each.count for each in batch])
        if self._unchecked and count > 1 and batch[0].key not in self._checked:
            self._check_rows(given, columns)
            self._checked.append(batch[0].key)
        if count <= self.max_rows:
            results = self._run_padded(given, columns, count, sizes)
        else:
            runs = [
                self._run_padded(
                    given,
                    [
                        [column[0][start : start + self.max_rows]] if self._inputs[index].has_rows else column
                        for index, column in zip(given, columns, strict=True)
                    ],
                    min(self.max_rows, count - start),
                    sizes,
                )
                for start in range(0, count, self.max_rows)
            ]
            results = [
                np.concatenate(parts) if output.has_rows else parts[0]
                for output, *parts in zip(self._outputs, *runs, strict=True)
            ]
        return self._part(results, batch)

    def _check_rows(self, given: tuple[int, ...], columns: list[list[Any]]) -> None:
        """Computes rows together, alone and in reverse order.

        Raises:
            ConfigError: A row of a fetch is another one then.
        """
        joined = [
            _join(column, 0)[:_CHECKED_ROWS] if self._inputs[index].has_rows else column[0]
            for index, column in zip(given, columns, strict=True)
        ]
        count = min(len(value) for index, value in zip(given, joined, strict=True) if self._inputs[index].has_rows)
        count = min(count, self.max_rows)

        def run(chosen: list[int]) -> list[Any]:
            values = [
                [value[chosen] if self._inputs[index].has_rows else value]
                for index, value in zip(given, joined, strict=True)
            ]
            return self._run_padded(given, values, len(chosen), [])  # padding is at the end

        order = list(range(count))
        together, backwards, alone = run(order), run(order[::-1]), [run([row]) for row in order]
        for number, output in enumerate(self._outputs):
            if not output.has_rows:
                continue
            for row in order:
                wanted = together[number][row]
                found_alone, found_backwards = alone[row][number][0], backwards[number][count - 1 - row]
                for how, found in (("alone", found_alone), ("in another order", found_backwards)):
                    if not _alike(wanted, found):
                        raise ConfigError(
                            f"row {row} of fetch {output.element.name!r} is another one when it is computed {how}",
                            where="Batcher(check=True)",
                            next_step="Leave the fetch out: the rows of one request would depend on those of others.",
                        )

    def _run_padded(
        self, given: tuple[int, ...], columns: list[list[Any]], count: int, sizes: list[tuple[int, int]]
    ) -> list[Any]:
        """Runs ``count`` rows at an allowed size; the padding is at the end of the results."""
        size = self._sizes[bisect.bisect_left(self._sizes, count)] if self._sizes else count
        values = [
            _join(column, size - count) if self._inputs[index].has_rows else column[0]
            for index, column in zip(given, columns, strict=True)
        ]
        sizes.append((count, size - count))
        results: list[Any] = self._call(given)(*values)
        for index, output in enumerate(self._outputs):
            if output.has_rows:
                shape = np.shape(results[index])
                if not shape or shape[0] != size:
                    raise UsageError(
                        f"fetch {output.element.name!r} has shape {list(shape)} after a run of {size} rows: its rows"
                        " are not those of the inputs",
                        where="Batcher(fetches=...)",
                        next_step="Leave it out, or name it in shared= if it is the same whichever rows run together.",
                    )
        return results

    def _part(self, results: list[Any], batch: Sequence[Rows]) -> list[Any]:
        """Gives each request its rows: copies, because a view would keep the rows of all others alive."""
        if len(batch) == 1 and not self._sizes:  # no rows of others, and no padding
            return [self._assemble(results)]
        answers, stop = [], 0
        for each in batch:
            start, stop = stop, stop + each.count
            parts = []
            for result, output in zip(results, self._outputs, strict=True):
                part = result[start:stop] if output.has_rows else result
                if isinstance(part, np.ndarray) and (len(batch) > 1 or part.shape != result.shape):
                    part = part.copy()
                parts.append(part)
            answers.append(self._assemble(parts))
        return answers

    def _call(self, given: tuple[int, ...]) -> CompiledCall:
        """The compiled call that feeds the inputs at these positions."""
        found = self._calls.get(given)
        if found is None:
            with self._compiling:
                found = self._calls.get(given)
                if found is None:
                    feeds = [self._inputs[index].tensor for index in given]
                    fetches = [each.element for each in self._outputs]
                    found = self._calls[given] = CompiledCall(self._session, feeds, fetches, None)
        return found


def _alike(one: Any, two: Any) -> bool:
    """Whether two rows are equal but for the order in which terms are added in batches of another size."""
    one, two = np.asarray(one), np.asarray(two)
    if one.shape != two.shape:
        return False
    if one.dtype.kind not in "fc":
        return bool(np.array_equal(one, two))
    largest = float(np.max(np.abs(one), initial=0.0, where=np.isfinite(one)))
    epsilon = float(np.finfo(one.dtype).eps)
    return bool(np.allclose(one, two, rtol=_EPSILONS * epsilon, atol=_EPSILONS * epsilon * largest, equal_nan=True))


def _join(parts: list[Any], padding: int) -> Any:
    """One array of the rows of all parts, and ``padding`` copies of the last row.

    A row that was given is the one kind that the graph can surely work on: zeros divide, empty strings do not
    parse, an index of 0 may be none.
    """
    if padding:
        row = next((part[-1:] for part in reversed(parts) if len(part)), None)
        if row is None:  # nobody gave one
            inner, dtype = parts[0].shape[1:], parts[0].dtype
            row = np.full((1, *inner), b"" if dtype.hasobject else 0, dtype)
        parts = [*parts, np.broadcast_to(row, (padding, *row.shape[1:]))]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


# -- inputs -----------------------------------------------------------------------------------------------------------


class _Input:
    """One fed tensor: its name in messages, its dtype and shape, whether its first dimension is the rows."""

    def __init__(self, name: str, tensor: Any, has_rows: bool) -> None:
        self.name = name
        self.tensor = tensor
        self.has_rows = has_rows
        self.optional = tensor.op.type == "PlaceholderWithDefault"
        self._feed = Feed(tensor)
        self._inner = None if tensor.shape.rank is None else tuple(tensor.shape.as_list()[1:])

    def array(self, value: Any) -> Any:
        """The array to feed for a value, converted as ``run`` does it.

        Raises:
            UsageError: It has another dtype or shape, or no rows.
        """
        if not self.has_rows:
            array = self._feed.array(value)
            if array is None:
                raise self._refused(value)
            return array
        array = value
        if type(array) is not np.ndarray or array.dtype != self._feed.dtype:
            try:
                array = asarray(value, self._feed.dtype)
            except (TypeError, ValueError, OverflowError) as error:
                raise self._refused(value) from error
        inner = array.shape[1:]
        if not array.ndim or (inner != self._inner and not self._fits(inner)):
            raise self._refused(array)
        return array

    def _fits(self, inner: tuple[int, ...]) -> bool:
        known = self._inner
        if known is None:
            return True
        return len(known) == len(inner) and all(one in (None, two) for one, two in zip(known, inner, strict=True))

    def _refused(self, value: Any) -> UsageError:
        wanted, next_step = f"{self.tensor.shape}", "It has no rows: its value is the same for all of them."
        if self.has_rows:
            inner = ["..."] if self._inner is None else ["?" if size is None else str(size) for size in self._inner]
            wanted, next_step = f"[{', '.join(['rows', *inner])}]", "Give a single row as a list of one."
        given = f"{type(value).__name__} {value!r:.100}"
        if isinstance(value, np.ndarray):
            given = f"{value.dtype.name} values of shape {list(value.shape)}"
        return UsageError(
            f"input {self.name!r} takes {self.tensor.dtype.name} values of shape {wanted}, and got {given}",
            next_step=next_step,
        )


class _Same:
    """A value without rows, as part of a key: equal to another when it is the same to the bit."""

    __slots__ = ("_value",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: Any) -> None:
        self._value = value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Same):
            return NotImplemented
        one, two = self._value, other._value
        if one is two:
            return True
        if one.shape != two.shape:
            return False
        return bool(one.tolist() == two.tolist() if one.dtype.hasobject else one.tobytes() == two.tobytes())


_Given = tuple[Any, Any, Any]  # a feed's name in a dict, or None; what was given; the tensor


def _read_feeds(
    graph: Any, feeds: Any, shared: Sequence[Any]
) -> tuple[list[_Input], dict[Any, int], list[_Given], int | None]:
    """Returns inputs; their positions by name and by id; what keeps the ids valid; the fixed number of rows, if any."""
    if isinstance(feeds, Mapping):
        pairs = list(feeds.items())
    else:
        pairs = [(None, each) for each in (feeds if isinstance(feeds, (list, tuple)) else [feeds])]
    found: list[_Given] = []
    for name, given in pairs:
        try:
            found.append((name, given, graph.as_graph_element(given, allow_tensor=True, allow_operation=False)))
        except (KeyError, TypeError, ValueError) as error:
            raise _not_in_graph("feeds", given, "tensor") from error
    if len({id(tensor) for _, _, tensor in found}) != len(found):
        raise ConfigError(
            f"a tensor is fed twice: {[tensor.name for _, _, tensor in found]}",
            where="Batcher(feeds=...)",
            next_step="Name each one once.",
        )
    has_rows = [not _among(shared, *each) and _first(each[2]) is None for each in found]
    fixed_rows: Any = None
    if not any(has_rows):
        sizes = {_first(tensor) for _, _, tensor in found}
        if len(sizes) != 1 or sizes <= {0, "scalar"} or any(_among(shared, *each) for each in found):
            raise ConfigError(
                f"none of the feeds {[tensor.name for _, _, tensor in found]} has rows",
                where="Batcher(feeds=...)",
                next_step="Feed a tensor whose first dimension is open.",
            )
        [fixed_rows] = sizes
        has_rows = [True] * len(found)
    inputs: list[_Input] = []
    positions: dict[Any, int] = {name: index for index, (name, _, _) in enumerate(found) if name is not None}
    for index, (name, given, tensor) in enumerate(found):
        short = tensor.op.name if tensor.value_index == 0 else tensor.name
        inputs.append(_Input(name or short, tensor, has_rows[index]))
        for key in (short, tensor.name, id(tensor), id(given)):
            positions.setdefault(key, index)
    return inputs, positions, found, fixed_rows


def _read_sizes(most: int, allowed: Sequence[int] | None, fixed_rows: int | None) -> list[int]:
    """The allowed sizes in order; none when any size is."""
    sizes = sorted(set(allowed or ()))
    if fixed_rows is not None:
        if sizes not in ([], [fixed_rows]):
            raise ConfigError(
                f"allowed_batch_sizes is {sizes}, and the graph takes {fixed_rows} rows, always",
                where="Batcher",
                next_step="Leave allowed_batch_sizes out.",
            )
        return [fixed_rows]
    if allowed is not None and not (sizes and sizes[-1] <= most):
        raise ConfigError(
            f"allowed_batch_sizes is {sizes} and max_batch_size {most}",
            where="Batcher",
            next_step="Give sizes up to max_batch_size.",
        )
    return sizes


# -- outputs ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Output:
    """One fetch: the tensor, or the operation; whether its first dimension is the rows."""

    element: Any
    has_rows: bool


def _read_fetches(
    graph: Any,
    fetches: Any,
    inputs: Sequence[_Input],
    fixed_rows: int | None,
    shared: Sequence[Any],
    row_wise: Sequence[Any] | bool,
) -> tuple[Callable[[Sequence[Any]], Any], list[_Output]]:
    """Returns what puts results into the structure of the fetches, and the fetches one by one."""
    leaves: list[tuple[Any, Any]] = []
    assemble = _structure(fetches, None, leaves)
    outputs = []
    given = [(each.tensor, RowsAlong(0) if each.has_rows else FREE) for each in inputs]
    ways = [RowStates(graph, given, fixed_rows)]
    if any(each.optional for each in inputs):  # left out, their defaults are computed
        required = [pair for pair, each in zip(given, inputs, strict=True) if not each.optional]
        ways.append(RowStates(graph, required, fixed_rows))
    for name, leaf in leaves:
        try:
            element = graph.as_graph_element(leaf, allow_tensor=True, allow_operation=True)
        except (KeyError, TypeError, ValueError) as error:
            raise _not_in_graph("fetches", leaf, "tensor or operation") from error
        if not isinstance(element, tf.Tensor) or _among(shared, name, leaf, element):
            outputs.append(_Output(element, has_rows=False))
        elif row_wise is True or (row_wise and _among(row_wise, name, leaf, element)):
            outputs.append(_Output(element, has_rows=True))
        else:
            outputs.append(_Output(element, has_rows=_has_rows(element, ways)))
    if not any(isinstance(each.element, tf.Tensor) for each in outputs):
        raise ConfigError(
            "there is no tensor among the fetches",
            where="Batcher(fetches=...)",
            next_step="Fetch what callers ask for.",
        )
    return assemble, outputs


def _structure(item: Any, name: Any, leaves: list[tuple[Any, Any]]) -> Callable[[Sequence[Any]], Any]:
    """Collects the leaves of fetches, each with its key in a dict; returns what builds the same of their results."""
    if isinstance(item, Mapping):
        keys, start = list(item), len(leaves)
        kind: Any = type(item) if isinstance(item, dict) else dict
        if not any(isinstance(each, (Mapping, list, tuple)) for each in item.values()):
            leaves += item.items()
            return lambda results: kind(zip(keys, results[start : start + len(keys)], strict=True))
        parts = [_structure(each, key, leaves) for key, each in item.items()]
        return lambda results: kind((key, part(results)) for key, part in zip(keys, parts, strict=True))
    if isinstance(item, (list, tuple)):
        parts = [_structure(each, None, leaves) for each in item]
        make: Any = getattr(type(item), "_make", type(item))  # of a namedtuple
        return lambda results: make([part(results) for part in parts])
    index = len(leaves)
    leaves.append((name, item))
    return lambda results: results[index]


def _always_fed(inputs: Sequence[_Input]) -> list[Any]:
    return [each.tensor for each in inputs if not each.optional]


def _has_rows(tensor: Any, ways: Sequence[RowStates]) -> bool:
    """Whether a fetch has rows, which must not depend on each other, or is the same for all rows.

    Args:
        tensor: The fetch.
        ways: The states with all inputs given, and with those alone that are required.

    Raises:
        ConfigError: Rows of one request may depend on those of others.
    """
    states = [way.of(tensor) for way in ways]
    for wanted in (RowsAlong(0), FREE):
        if all(state == wanted for state in states):
            return wanted != FREE
    state = next((state for state in states if state not in (RowsAlong(0), FREE)), None)
    if isinstance(state, Mixed):
        why = f"{state} may mix them"
    elif isinstance(state, RowsAlong):
        why = f"their values lie along axis {state.axis}" if state.block == 1 else "each has several entries"
    elif state == COUNT:
        why = "it is computed from how many there are"
    else:
        why = "an input that may be left out decides whether it has rows"
    raise ConfigError(
        f"fetch {tensor.name!r} of shape {tensor.shape} has no row for each row of the inputs, or depends on those of"
        f" all requests of a batch: {why}",
        where="Batcher(fetches=...)",
        next_step="Leave it out. If you know that each of its rows depends on that row of the inputs alone, name it in"
        " row_wise=; if it is the same whichever rows run together, in shared=.",
    )


# -- both -------------------------------------------------------------------------------------------------------------


def _first(tensor: Any) -> int | str | None:
    """The size of a tensor's first dimension; None when it is open, "scalar" when there is none."""
    if tensor.shape.rank is None:
        return None
    return tensor.shape.as_list()[0] if tensor.shape.rank else "scalar"


def _among(shared: Sequence[Any], name: Any, given: Any, element: Any) -> bool:
    """Whether ``shared`` has a feed or a fetch, under any of its names."""
    names = (name, given, element.name, element.op.name if isinstance(element, tf.Tensor) else None)
    return any(
        each is given
        or each is element
        or (isinstance(each, str) and each in [one for one in names if type(one) is str])
        for each in shared
    )


def _not_in_graph(argument: str, given: Any, what: str) -> ConfigError:
    return ConfigError(
        f"{given!r:.200} is no {what} of the graph",
        where=f"Batcher({argument}=...)",
        next_step='Give what the graph has, or names such as "x:0".',
    )
