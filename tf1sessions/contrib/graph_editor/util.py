"""Lists of operations and tensors, trees of them, scopes, placeholders, and which operations wait for another one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...runtime import tf1 as tf

__all__ = [
    "ControlOutputs",
    "ListView",
    "check_graphs",
    "concatenate_unique",
    "find_corresponding",
    "find_corresponding_elem",
    "flatten_tree",
    "get_consuming_ops",
    "get_generating_ops",
    "get_predefined_collection_names",
    "get_tensors",
    "get_unique_graph",
    "is_iterable",
    "make_list_of_op",
    "make_list_of_t",
    "make_placeholder_from_dtype_and_shape",
    "make_placeholder_from_tensor",
    "placeholder_name",
    "scope_basename",
    "scope_dirname",
    "scope_finalize",
    "transform_tree",
]

_PREFIX = "geph"
"""Of the names of placeholders that are made here: "graph editor placeholder"."""

_BOTH = (tf.Operation, tf.Tensor)


def concatenate_unique(la: list[Any], lb: Iterable[Any]) -> list[Any]:
    """Append to the list ``la`` what of ``lb`` is not in it, and return it."""
    known = set(la)
    for item in lb:
        if item not in known:
            known.add(item)
            la.append(item)
    return la


class ListView(Sequence[Any]):
    """A list that can be read and not changed; ``+`` gives a plain list."""

    def __init__(self, list_: Sequence[Any]) -> None:
        if not isinstance(list_, list):
            raise TypeError(f"Expected a list, got: {type(list_)}.")
        self._list = list_

    def __len__(self) -> int:
        return len(self._list)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._list)

    def __getitem__(self, index: Any) -> Any:
        return self._list[index]

    def __contains__(self, item: Any) -> bool:
        return any(item is each for each in self._list)

    def __bool__(self) -> bool:
        return bool(self._list)

    def __add__(self, other: Iterable[Any]) -> list[Any]:
        return [*self._list, *other]

    def __str__(self) -> str:
        return str(self._list)


def is_iterable(obj: Any) -> bool:
    """Whether ``iter(obj)`` is possible; a tensor of a graph is not meant to be iterated, and is no such thing."""
    if isinstance(obj, tf.Tensor):
        return False
    try:
        iter(obj)
    except TypeError:
        return False
    return True


def flatten_tree(tree: Any, leaves: list[Any] | None = None) -> list[Any]:
    """Append the leaves of nested iterables and values of mappings to ``leaves``, by default a new list."""
    leaves = [] if leaves is None else leaves
    if isinstance(tree, Mapping):
        tree = tree.values()
    if isinstance(tree, str) or not is_iterable(tree):
        leaves.append(tree)
    else:
        for branch in tree:
            flatten_tree(branch, leaves)
    return leaves


def transform_tree(tree: Any, fn: Callable[[Any], Any], iterable_type: Callable[[list[Any]], Any] = tuple) -> Any:
    """Return ``tree`` with ``fn`` of each leaf in the leaf's place.

    Args:
        tree: A leaf, or an iterable or a mapping of trees.
        fn: A function of a leaf.
        iterable_type: What becomes of an iterable that is neither list, tuple nor mapping.
    """
    if isinstance(tree, Mapping):
        pairs = [(key, transform_tree(value, fn, iterable_type)) for key, value in tree.items()]
        return type(tree)(pairs)  # type: ignore[call-arg]
    if isinstance(tree, str) or not is_iterable(tree):
        return fn(tree)
    branches = [transform_tree(branch, fn, iterable_type) for branch in tree]
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*branches)
    return type(tree)(branches) if isinstance(tree, list | tuple) else iterable_type(branches)


def check_graphs(*args: Any) -> None:
    """Raise a ValueError if the arguments with a graph do not belong to the same one."""
    graphs = [each.graph for each in args if each.graph is not None]
    for number, graph in enumerate(graphs):
        if graph is not graphs[0]:
            raise ValueError(f"Argument[{number}]: Wrong graph!")


def get_unique_graph(tops: Any, check_types: Any = None, none_if_empty: bool = False) -> Any:
    """Return the one graph that operations and tensors belong to.

    Args:
        tops: A graph, or an iterable of operations and tensors.
        check_types: Which classes the items may have; operations and tensors by default.
        none_if_empty: Return None for no items, and do not raise.

    Raises:
        TypeError: ``tops`` or an item of it is something else.
        ValueError: They belong to several graphs, or there are none.
    """
    if isinstance(tops, tf.Graph):
        return tops
    if not is_iterable(tops):
        raise TypeError(f"{type(tops)} is not iterable")
    types = _BOTH if check_types is None else check_types
    graph = None
    for top in tops:
        if not isinstance(top, types):
            raise TypeError(f"Expected a type in ({_type_names(types)}), got: {type(top)}")
        if graph is None:
            graph = top.graph
        elif graph is not top.graph:
            raise ValueError(f"Operation {top} does not belong to given graph")
    if graph is None and not none_if_empty:
        raise ValueError("Can't find the unique graph of an empty list")
    return graph


def _type_names(types: Any) -> str:
    return ", ".join(str(each) for each in (types if isinstance(types, tuple) else (types,)))


def make_list_of_op(ops: Any, check_graph: bool = True, allow_graph: bool = True, ignore_ts: bool = False) -> list[Any]:
    """Return a new list of operations.

    Args:
        ops: An operation, an iterable of operations, or a graph, which gives all of its operations.
        check_graph: Require that all belong to one graph.
        allow_graph: Take a graph.
        ignore_ts: Leave tensors out, and do not raise.

    Raises:
        TypeError: ``ops`` is something else.
        ValueError: The operations belong to several graphs.
    """
    return _make_list(ops, tf.Operation, tf.Tensor if ignore_ts else None, check_graph, allow_graph)


def make_list_of_t(ts: Any, check_graph: bool = True, allow_graph: bool = True, ignore_ops: bool = False) -> list[Any]:
    """Return a new list of tensors.

    Args:
        ts: A tensor, an iterable of tensors, or a graph, which gives the outputs of all of its operations.
        check_graph: Require that all belong to one graph.
        allow_graph: Take a graph.
        ignore_ops: Leave operations out, and do not raise.

    Raises:
        TypeError: ``ts`` is something else.
        ValueError: The tensors belong to several graphs.
    """
    return _make_list(ts, tf.Tensor, tf.Operation if ignore_ops else None, check_graph, allow_graph)


def _make_list(given: Any, kind: Any, ignored: Any, check_graph: bool, allow_graph: bool) -> list[Any]:
    if isinstance(given, tf.Graph):
        if not allow_graph:
            raise TypeError(f"allow_graph is False: cannot convert a tf.Graph to a list of {kind}")
        return list(given.get_operations()) if kind is tf.Operation else get_tensors(given)
    items = list(given) if is_iterable(given) else [given]
    if ignored is not None:
        items = [item for item in items if not isinstance(item, ignored)]
    if check_graph:
        get_unique_graph(items, check_types=kind, none_if_empty=True)
    return items


def get_tensors(graph: Any) -> list[Any]:
    """Return the outputs of all operations of ``graph``, in the order in which they were made."""
    if not isinstance(graph, tf.Graph):
        raise TypeError(f"Expected a graph, got: {type(graph)}")
    return [tensor for op in graph.get_operations() for tensor in op.outputs]


def get_generating_ops(ts: Any) -> list[Any]:
    """Return the operation of each of the tensors ``ts``."""
    return [tensor.op for tensor in make_list_of_t(ts, allow_graph=False)]


def get_consuming_ops(ts: Any) -> list[Any]:
    """Return the operations that take one of the tensors ``ts``, each once."""
    found: list[Any] = []
    for tensor in make_list_of_t(ts, allow_graph=False):
        concatenate_unique(found, tensor.consumers())
    return found


class ControlOutputs:
    """The operations of a graph that wait for another one without taking a tensor from it.

    Example:
        >>> import tf1sessions as t1
        >>> tf = t1.tf1
        >>> with tf.Graph().as_default() as graph:
        ...     first = tf.no_op(name="first")
        ...     with tf.control_dependencies([first]):
        ...         _ = tf.no_op(name="second")
        >>> [op.name for op in t1.contrib.graph_editor.ControlOutputs(graph).get(first)]
        ['second']
    """

    def __init__(self, graph: Any) -> None:
        if not isinstance(graph, tf.Graph):
            raise TypeError(f"Expected a graph, got: {type(graph)}")
        self._graph = graph
        self._control_outputs: dict[Any, list[Any]] = {}
        self.update()

    def update(self) -> ControlOutputs:
        """Read the graph again, after it was changed."""
        self._control_outputs.clear()
        for op in self._graph.get_operations():
            for control_input in op.control_inputs:
                concatenate_unique(self._control_outputs.setdefault(control_input, []), [op])
        return self

    def get_all(self) -> dict[Any, list[Any]]:
        """The operations that others wait for, and those that wait for each."""
        return self._control_outputs

    def get(self, op: Any) -> Sequence[Any]:
        """The operations that wait for ``op``."""
        return self._control_outputs.get(op, ())

    @property
    def graph(self) -> Any:
        """The graph."""
        return self._graph


def scope_finalize(scope: str) -> str:
    """Return ``scope`` with the slash at its end, which the root scope has not."""
    return f"{scope}/" if scope and not scope.endswith("/") else scope


def scope_dirname(scope: str) -> str:
    """Return what is before the last name of ``scope``, with the slash: "a/b/" of "a/b/c"."""
    return scope[: scope.rfind("/") + 1]


def scope_basename(scope: str) -> str:
    """Return what follows the last slash of ``scope``: "c" of "a/b/c"."""
    return scope[scope.rfind("/") + 1 :]


def placeholder_name(t: Any = None, scope: str | None = None, prefix: str = _PREFIX) -> str:
    """Return the name for a placeholder in place of ``t``: "foo/geph__bar_0" of "foo/bar:0".

    Args:
        t: The tensor; without one, the name is ``prefix``.
        scope: The scope of the placeholder; by default that of ``t``, and "" is the root.
        prefix: What the name begins with.

    Raises:
        TypeError: ``t`` is no tensor.
    """
    scope = None if scope is None else scope_finalize(scope)
    if t is None:
        return (scope or "") + prefix
    if not isinstance(t, tf.Tensor):
        raise TypeError(f"Expected a tf.Tensor, got: {type(t)}")
    place = scope_dirname(t.op.name) if scope is None else scope
    name = scope_basename(t.op.name)
    if name.startswith(f"{prefix}__"):  # a placeholder of another one
        return place + name
    return f"{place}{prefix}__{name}_{t.value_index}"


def make_placeholder_from_tensor(t: Any, scope: str | None = None, prefix: str = _PREFIX) -> Any:
    """Return a placeholder of the dtype and shape of ``t`` in the default graph; see :func:`placeholder_name`."""
    return tf.placeholder(dtype=t.dtype, shape=t.shape, name=placeholder_name(t, scope=scope, prefix=prefix))


def make_placeholder_from_dtype_and_shape(
    dtype: Any, shape: Any = None, scope: str | None = None, prefix: str = _PREFIX
) -> Any:
    """Return a placeholder of this dtype and shape in the default graph; see :func:`placeholder_name`."""
    return tf.placeholder(dtype=dtype, shape=shape, name=placeholder_name(scope=scope, prefix=prefix))


def get_predefined_collection_names() -> list[str]:
    """The names of collections that TensorFlow knows."""
    keys = [name for name in dir(tf.GraphKeys) if not re.match("__.*__$", name)]
    return [getattr(tf.GraphKeys, name) for name in keys]


def find_corresponding_elem(target: Any, dst_graph: Any, dst_scope: str = "", src_scope: str = "") -> Any:
    """Return the operation or tensor of another graph that has the name of ``target``.

    Args:
        target: An operation or a tensor.
        dst_graph: The other graph.
        dst_scope: The scope in it.
        src_scope: The scope of ``target`` that ``dst_scope`` stands for.

    Raises:
        ValueError: ``target`` is not in ``src_scope``.
        TypeError: ``target`` is neither operation nor tensor.
        KeyError: The other graph has no such operation.
    """
    if not isinstance(target, _BOTH):
        raise TypeError(f"Expected tf.Tensor or tf.Operation, got: {type(target)}")
    source, destination = scope_finalize(src_scope), scope_finalize(dst_scope)
    if not target.name.startswith(source):
        raise ValueError(f"{target.name} does not start with {source}")
    name = destination + target.name[len(source) :]
    return (
        dst_graph.get_tensor_by_name(name) if isinstance(target, tf.Tensor) else dst_graph.get_operation_by_name(name)
    )


def find_corresponding(targets: Any, dst_graph: Any, dst_scope: str = "", src_scope: str = "") -> Any:
    """Return a tree of operations and tensors with those of another graph; see :func:`find_corresponding_elem`."""
    return transform_tree(targets, lambda top: find_corresponding_elem(top, dst_graph, dst_scope, src_scope))
