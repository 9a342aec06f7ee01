"""A GraphDef of TensorFlow 1 made again in the graph of the moment, usually that of a ``tf.function``.

Each operation is made as it was, under its old name; loops and conditions as ``tf.while_loop`` and ``tf.cond``, which
TensorFlow 2 can differentiate and save. What is inside of them is made in functions of their own, so the graph is gone
through by *contexts*: outside of everything, in one side of a condition, in the body of a loop. Before a loop or a
condition is made, all that it needs from around it is there, and is made once.

    Replay(graph_def, outputs).run({("x", 0): tensor})
      └─ build(what is wanted) ─┬─ one operation
                                ├─ a condition: all ends that share what is inside ─▶ tf.cond ─▶ build in each branch
                                └─ a loop: all its Exits ─▶ tf.while_loop ─▶ build in condition and body

Operations with an effect keep the order that control inputs gave them; TensorFlow 2 adds that in which they are made.
What raises a counter, and waits for nothing, is made first.
"""

from __future__ import annotations

import contextlib
from collections import ChainMap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any

from tf1sessions.errors import ConversionError
from tf1sessions.models.signature_inference import SOURCES
from tf1sessions.porting.graphs.conditions import ConditionGroup, Conditions
from tf1sessions.porting.graphs.counters import counters
from tf1sessions.porting.graphs.former import COMPOSED, current_name
from tf1sessions.porting.graphs.functions import Functions
from tf1sessions.porting.graphs.kept_loops import KeptLoops
from tf1sessions.porting.graphs.known import KNOWN
from tf1sessions.porting.graphs.local_lists import LocalLists, flow
from tf1sessions.porting.graphs.partitions import change_parts
from tf1sessions.porting.graphs.random_streams import draw
from tf1sessions.porting.graphs.references import (
    HANDLES,
    PART_READS,
    REFERENCES,
    TABLES,
    TABLES_BY_HANDLE,
    Reference,
    VariablePart,
    changes_reference,
    make_change,
    passes_on,
    read_part,
    reads,
    waits,
)
from tf1sessions.porting.graphs.structure import (
    CONTROL,
    ENTER,
    EXIT,
    NEXT,
    NOT_KEPT,
    SWITCH,
    Frame,
    Key,
    Structure,
    WhileLoop,
    described,
    loop_starts,
    reach,
)
from tf1sessions.runtime import private, tf

__all__ = ["GraphReplay"]

Env = MutableMapping[Any, Any]
#: Keys, and what makes other tensors of some of them and of their tensors.
Change = tuple[Sequence[Key], Callable[[Sequence[Key], Sequence[Any]], Sequence[Any]]]

_PLACEHOLDERS = {"Placeholder", "PlaceholderV2"}
#: An iterator that nothing starts: its kernel does, when it is used first.
_ONE_SHOT = "OneShotIterator"
#: What has one output, and no effect: where that is given, nothing of it is made.
_GIVEN_WHOLE = {*_PLACEHOLDERS, "PlaceholderWithDefault", "Const"}
#: How often the shapes of loop variables are widened before they are left open. Arbitrary; one or two steps are usual.
_MOST_WIDENINGS = 4


def _negation(values: Sequence[bool | None]) -> bool | None:
    return None if values[0] is None else not values[0]


def _conjunction(values: Sequence[bool | None]) -> bool | None:
    return False if False in values else None if None in values else True


def _disjunction(values: Sequence[bool | None]) -> bool | None:
    return True if True in values else None if None in values else False


#: What the logical operations give, of inputs of which some are not known.
_LOGIC: Mapping[str, Callable[[Sequence[bool | None]], bool | None]] = {
    "Identity": lambda values: values[0],
    "PlaceholderWithDefault": lambda values: values[0],
    "LogicalNot": _negation,
    "LogicalAnd": _conjunction,
    "LogicalOr": _disjunction,
}


class GraphReplay:
    """See the module.

    Args:
        graph_def: What TensorFlow 1 wrote. Not changed, and not kept longer than this.
        outputs: The tensors that :meth:`run` gives.
        inputs: The tensors that :meth:`run` is given.
        where: Where the graph comes from, for errors.
        container: Under what name queues, readers, iterators and tables live that the graph makes, so that several
            functions share them. None refuses what takes data from such, and has tables given.

    Attributes:
        used: The inputs that are needed.
        variables: The names of the variables that are needed, references and resources.
        tables: The names of the lookup tables that are needed.

    Raises:
        ConversionError: The graph is put together in a way that TensorFlow 1 does not.

    Thread-safety: run() may be called from several threads, in graphs of their own.

    Example:
        >>> import tensorflow as tf
        >>> v1 = tf.compat.v1
        >>> with v1.Graph().as_default() as graph:
        ...     x = v1.placeholder(tf.float32, [], name="x")
        ...     y = tf.square(x, name="y")
        >>> replay = GraphReplay(graph.as_graph_def(), [("y", 0)], [("x", 0)])
        >>> function = tf.function(lambda x: replay.run({("x", 0): x})["y", 0])
        >>> print(function(3.0).numpy())
        9.0
    """

    def __init__(
        self,
        graph_def: Any,
        outputs: Sequence[Key],
        inputs: Collection[Key],
        where: str = "graph",
        container: str | None = None,
    ) -> None:
        self._where = where
        self._container = container
        self._outputs = tuple(outputs)
        self._library = graph_def.library
        self._functions = Functions(self._library, where)
        placeholders = {node.name: node for node in graph_def.node if node.op in _PLACEHOLDERS}
        self._dtypes = {
            key: tf.as_dtype(placeholders[key[0]].attr["dtype"].type) for key in inputs if key[0] in placeholders
        }
        cut = {*inputs, *_run_of(graph_def, inputs)}
        self._structure = Structure(graph_def, outputs, cut, where)
        self.used = cut.intersection(self._structure.taken(), inputs) | cut.intersection(outputs)
        self._lists = LocalLists(self._structure, where)
        self._conditions = Conditions(self._structure, self._lists)
        self._kept = KeptLoops(self._structure, self._lists, self._functions)
        self._needs: dict[Any, list[Key]] = {}
        nodes = self._structure.nodes
        self.variables = [name for name in self._structure.order if nodes[name].op in REFERENCES | HANDLES]
        self.tables = [name for name in self._structure.order if nodes[name].op in TABLES and container is None]

    @tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
    def run(
        self,
        given: Mapping[Key, Any],
        variables: Mapping[str, Any] | None = None,
        tables: Mapping[str, Any] | None = None,
        *,
        streams: Mapping[str, Any] | None = None,
        keep_loops: bool = False,
        known_shapes: bool = False,
        changes: Sequence[Change] = (),
    ) -> dict[Key, Any]:
        """Makes the graph in the default graph.

        Args:
            given: Tensors for the inputs, or what can become one.
            variables: The ``tf.Variable`` for each of :attr:`variables`, or the :class:`VariablePart` of one.
            tables: The resource of the table for each of :attr:`tables`; the ``resource_handle`` of a
                ``tf.lookup.StaticHashTable``, for one.
            streams: Random operation -> how far its stream is (random_streams.py). Others draw streams of their own.
            keep_loops: Whether loops stay what they are, as :attr:`can_keep_loops` allows: faster, and without a
                gradient.
            known_shapes: Whether loops that are kept make use of the shapes of what goes into them, which must then be
                those of the values.
            changes: Tensors that others take the place of, in the order in which that is done: their keys, and what
                makes the others of some of these keys and their tensors. Of those in a branch that is known not to be
                taken there are none.

        Returns:
            The tensors of the outputs; for an output that says that a node has run (CONTROL), its operation or None.

        Raises:
            ConversionError: A placeholder is needed that is not among the inputs, a variable that is not given, or an
                operation on a reference for which TensorFlow 2 has none; with ``known_shapes``, a loop changes them;
                a tensor to change is in a loop, or in a branch that may or may not be taken.
        """
        env: Env = {key: tf.convert_to_tensor(value, self._dtypes.get(key)) for key, value in given.items()}
        env.update({(name, CONTROL): None for name, _ in given})
        frames = self._structure.frames
        keep_loops = keep_loops and not any(frames.get(name) for name in streams or ())
        env["keep"] = keep_loops
        env["streams"] = streams or {}
        if keep_loops and known_shapes:
            env[KNOWN] = {}
        for name in self.variables:
            variable = self._one_of(variables, name, "variable", "Give a checkpoint that has its value")
            part = variable if isinstance(variable, VariablePart) else None
            variable = variable if part is None else part.variable
            private.resource_variable_ops.variable_accessed(variable)  # a GradientTape watches it
            if part is None:
                env[name, 0] = self._resource(name, variable.handle, HANDLES, variable.dtype.base_dtype)
            else:
                env[name, 0] = Reference(variable.handle, variable.dtype.base_dtype, part=part)
            env[name, CONTROL] = None
        for name in self.tables:
            table = self._one_of(tables, name, "table", "Give what is in it")
            env[name, 0] = self._resource(name, table, TABLES_BY_HANDLE, None)
            env[name, CONTROL] = None
        self._build(env, [(name, CONTROL) for name in counters(self._structure)])
        for keys, change in changes:
            self._change(env, [key for key in keys if self._is_made(env, key)], change)
        self._build(env, self._outputs)
        return {key: _value(env[key]) for key in self._outputs}

    def _change(self, env: Env, keys: Sequence[Key], change: Callable[..., Any]) -> None:
        self._build(env, keys)
        env.update(zip(keys, change(keys, [_value(env[key]) for key in keys]), strict=True))

    def _is_made(self, env: Env, key: Key) -> bool:
        """Whether a tensor is made whenever the function runs; False if it never is."""
        frame, condition = self._structure.context(key)
        self._build(env, [predicate for predicate, _ in condition if not frame])
        decided = {side: self._decided(env, predicate) for predicate, side in condition if not frame}
        if frame or None in decided.values():
            raise ConversionError(
                f"{described(key)} would be combined over devices, and is in a {'loop' if frame else 'condition'}",
                where=self._where,
                next_step="Give a switch such as is_training as Python's True or False, so that no condition is left.",
                nodes=(key[0],),
            )
        return all(side == found for side, found in decided.items())

    @property
    def can_keep_loops(self) -> bool:
        """Whether there are loops, and :meth:`run` can make them as they are."""
        return self._kept.possible and not self._conditions.lend_handles

    def _one_of(self, known: Mapping[str, Any] | None, name: str, what: str, step: str) -> Any:
        if name in (known or {}):
            return known[name]  # type: ignore[index]
        raise ConversionError(
            f"{what} {name!r} is needed and is not given",
            where=self._where,
            next_step=f"{step}, or name an input behind it.",
            nodes=(name,),
        )

    def _resource(self, name: str, handle: Any, by_handle: Collection[str], dtype: Any) -> Any:
        """A handle, for the operations that work by handles; a Reference for those that work by references."""
        return handle if self._structure.nodes[name].op in by_handle else Reference(handle, dtype)

    # -- one context -----------------------------------------------------------------------------------------------

    def _build(self, env: Env, wanted: Iterable[Key]) -> None:
        """Makes what is wanted and what it needs, in the context of ``env``. Without recursion: graphs are deep."""
        waiting = list(wanted)[::-1]  # the first one first: outputs before what changes variables
        begun: set[Key] = set()
        while waiting:
            key = waiting[-1]
            if key in env:
                waiting.pop()
                continue
            missing = [need for need in self._needs_of(env, key[0]) if need not in env]
            if missing:
                if circle := sorted({need[0] for need in missing if need in begun}):
                    raise self._circular(key[0], circle)
                begun.add(key)
                waiting += missing
                continue
            waiting.pop()
            begun.discard(key)
            self._make(env, key[0])
            assert key in env, described(key)

    def _circular(self, name: str, circle: Sequence[str]) -> ConversionError:
        return ConversionError(
            f"a condition that {name!r} is made in needs what comes of itself: {', '.join(circle)}",
            where=self._where,
            next_step="Give what decides about it as True or False, so that no condition is left; or convert the "
            "graph without its training step.",
            nodes=(name, *circle),
        )

    def _needs_of(self, env: Env, name: str) -> Sequence[Key]:
        """Return what must be there before a node can be made."""
        structure = self._structure
        if name in structure.branches:
            group = self._conditions.group(name)
            if group not in self._needs:
                self._needs[group] = [group.predicate, *self._around(group.starts(), group.inside)]
            return [key if key in env else group.source(key) for key in self._needs[group]]
        if structure.nodes[name].op in EXIT and env["keep"]:
            return self._kept.needs(name)
        if structure.nodes[name].op in EXIT:
            frame = structure.frames[name]
            if frame not in self._needs:
                loop = structure.loops[frame]
                self._needs[frame] = self._around(loop_starts(loop), _within(structure, frame))
            return self._needs[frame]
        return structure.inputs[name]

    def _around(self, starts: Iterable[Key], inside: Callable[[Key], bool]) -> list[Key]:
        """Return what is needed from outside by what is inside, from the starts backwards."""
        found: dict[Key, None] = {}
        for key in self._reach(starts, inside):
            if not inside(key):
                found.setdefault(key)
        return list(found)

    def _reach(self, starts: Iterable[Key], inside: Callable[[Key], bool]) -> Iterable[Key]:
        return reach(self._structure, starts, inside)

    def _make(self, env: Env, name: str) -> None:
        structure = self._structure
        node = structure.nodes[name]
        if name in structure.branches:
            self._make_condition(env, self._conditions.group(name))
            return
        if node.op in EXIT:
            if env["keep"]:
                self._kept.make(env, name, self._created)
            else:
                self._make_loop(env, structure.loops[structure.frames[name]])
            return
        values = [env[key] for key in structure.inputs[name] if key[1] != CONTROL]
        if node.op in SWITCH:
            env[name, 0] = env[name, 1] = values[0]  # which of the two is used follows from the branch that uses it
            env[name, CONTROL] = None
        elif node.op in ENTER or node.op in NEXT or node.op in ("LoopCond", "PlaceholderWithDefault"):
            env[name, 0], env[name, CONTROL] = values[0], None
        elif name in self._lists and not env["keep"]:
            with self._refused(name, node.op):
                self._lists.make(env, name, [_value(value) for value in values])
        elif passes_on(node.op) and isinstance(values[0], Reference):
            controls = [env[key] for key in structure.inputs[name] if key[1] == CONTROL]
            env[name, 0] = values[0].handed_on(each for each in controls if each is not None)
            env[name, CONTROL] = waits(env[name, 0])
        else:
            with self._refused(name, node.op):
                self._make_operation(env, name, values)

    def _make_operation(self, env: Env, name: str, values: list[Any]) -> None:
        node = self._structure.nodes[name]
        self._refuse(node)
        attributes = self._attributes(node)
        inlined = self._functions.is_inlined(node.op)
        kind, attributes = (node.op, attributes) if inlined else self._functions.used(node.op, attributes)
        made: Any = None
        with self._after(env, self._structure.inputs[name]):
            if values and isinstance(values[0], Reference) and values[0].part is not None and node.op in PART_READS:
                outputs = read_part(node, [values[0], *map(_value, values[1:])])
            elif changes_reference(node.op) or _takes_handle(node.op, values):
                taken = private.op_def_registry.get(node.op).input_arg
                values = [
                    value if argument.is_ref or argument.type == tf.resource.as_datatype_enum else _value(value)
                    for value, argument in zip(values, taken, strict=True)
                ]
                if any(isinstance(value, Reference) and value.part is not None for value in values):
                    made, outputs = change_parts(node, values, self._where)
                else:
                    made, outputs = make_change(node, values, attributes, self._where)
            else:
                values = [_value(value) for value in values]
                if inlined:
                    outputs = self._inlined(node, values)
                elif kind in COMPOSED:
                    outputs = self._composed(node, values)
                elif name in env["streams"]:
                    outputs = [draw(node, values, env["streams"][name])]
                elif kind == _ONE_SHOT and self._container is not None:
                    outputs = [self._iterator(node, attributes)]
                else:
                    made = self._created(kind, values, name, attributes)
                    outputs = made.outputs
        for index, output in enumerate(outputs):
            env[name, index] = output
        env[name, CONTROL] = outputs[0].op if made is None and outputs else made

    def _refuse(self, node: Any) -> None:
        """Refuse a placeholder, and what takes data from outside, unless that has a container."""
        name = node.name
        if node.op in _PLACEHOLDERS:
            raise ConversionError(
                f"placeholder {name!r} is needed and is not among the inputs",
                where=self._where,
                next_step=f"Name it as an input, or cut the graph behind it by naming an input there: {name}:0.",
                nodes=(name,),
            )
        if node.op in SOURCES and self._container is None:
            taken = self._structure.taken() | {*self._outputs}
            given = sorted(described(key) for key in taken if key[0] == name and key[1] != CONTROL) or [f"{name}:0"]
            raise ConversionError(
                f"node {name!r}, a {node.op}, takes data from a queue, a reader or an iterator, which a function of "
                "TensorFlow 2 does not have",
                where=self._where,
                next_step=f"Give that data to the function, by naming as inputs what it gives: inputs={given}.",
                nodes=(name,),
            )

    def _attributes(self, node: Any) -> dict[str, Any]:
        """The attributes of a node; with the name by which all functions share what it makes, if it makes such."""
        attributes = {
            key: value for key, value in node.attr.items() if key not in NOT_KEPT and value.WhichOneof("value")
        }
        definition = private.op_def_registry.get(node.op)
        shares = definition is not None and "shared_name" in {each.name for each in definition.attr}
        if self._container is not None and shares:
            name = f"{self._container}/{node.attr['shared_name'].s.decode() or node.name}"
            attributes["shared_name"] = tf.AttrValue(s=name.encode())
        return attributes

    def start_iterator(self, name: str) -> None:
        """Make, in the default graph, what lets the iterator of a ``make_one_shot_iterator()`` begin; called once."""
        node = self._structure.nodes[name]
        attributes = self._attributes(node)
        _, used = self._functions.used(node.op, dict(attributes))
        types = {"Tin": tf.AttrValue(list=tf.AttrValue.ListValue()), "Tout": tf.AttrValue()}
        types["Tout"].list.type.append(tf.variant.as_datatype_enum)
        made = self._created("StatefulPartitionedCall", [], name, {**types, "f": used["dataset_factory"]})
        self._created("MakeIterator", [made.outputs[0], self._iterator(node, attributes)], f"{name}_start", {})

    def _iterator(self, node: Any, attributes: Mapping[str, Any]) -> Any:
        kept = {key: attributes[key] for key in ("output_types", "output_shapes", "shared_name")}
        kept["container"] = tf.AttrValue(s=b"")
        return self._created("IteratorV2", [], node.name, kept).outputs[0]

    def _created(self, kind: str, values: list[Any], name: str, attributes: dict[str, Any]) -> Any:
        with self._refused(name, kind):
            return tf.get_default_graph().create_op(current_name(kind), values, [], name=name, attrs=attributes)

    def _composed(self, node: Any, values: list[Any]) -> list[Any]:
        with self._refused(node.name, node.op), tf.name_scope(f"{node.name}/"):
            return COMPOSED[node.op](node, values)

    def _inlined(self, node: Any, values: list[Any]) -> list[Any]:
        """A function made where it is called, with its own gradient if it has one."""
        with self._refused(node.name, node.op), tf.name_scope(f"{node.name}/"):
            slope = self._functions.gradient(node.op)
            if slope is None:
                return self._body(node.op, values)

            @tf.custom_gradient  # type: ignore[untyped-decorator]
            def called(*given: Any) -> Any:
                def gradient(*of_outputs: Any) -> Any:
                    return self._body(slope, [*given, *of_outputs])

                return self._body(node.op, list(given)), gradient

            outputs = called(*values)
            return list(outputs) if isinstance(outputs, list | tuple) else [outputs]

    def _body(self, function: str, values: Sequence[Any]) -> list[Any]:
        body = self._functions.body(function)
        graph_def = tf.GraphDef()
        graph_def.CopyFrom(body.graph_def)
        graph_def.library.CopyFrom(self._library)
        replay = GraphReplay(graph_def, [*body.outputs, *body.effects], body.inputs, self._where)
        made = replay.run(dict(zip(body.inputs, values, strict=True)))
        return [made[key] for key in body.outputs]

    @contextlib.contextmanager
    def _refused(self, name: str, kind: str) -> Iterator[None]:
        """Yield what TensorFlow refuses inside is an error of ours that names the node."""
        try:
            yield
        except ConversionError:
            raise
        except (ValueError, TypeError, KeyError, NotImplementedError, tf.errors.OpError) as error:
            raise ConversionError(
                f"node {name!r}, a {kind}, cannot be made: {error}",
                where=self._where,
                next_step="Convert a part of the graph that does without, by naming other outputs or inputs.",
                nodes=(name,),
            ) from error

    @contextlib.contextmanager
    def _after(self, env: Env, keys: Iterable[Key]) -> Any:
        """Let what is made inside run after these, as far as they are in the same graph; others have run before it."""
        graph = tf.get_default_graph()
        controls = [env[key] for key in keys if key[1] == CONTROL]
        with graph.control_dependencies([each for each in controls if each is not None and each.graph is graph]):
            yield

    # -- conditions ------------------------------------------------------------------------------------------------

    def _make_condition(self, env: Env, group: ConditionGroup) -> None:
        needs = self._needs_of(env, group.ends[0])
        ends = {name: self._structure.branches[name] for name in group.ends}
        decided = self._decided(env, group.predicate)
        if decided is not None:  # the other branch is not made at all
            with self._after(env, needs):
                self._build(env, [key for branch in ends.values() if (key := branch.inputs[decided]) is not None])
            for name, branch in ends.items():
                taken = branch.inputs[decided]
                if branch.indices is not None:
                    env[name, 0] = env[taken]
                    env[name, 1] = tf.constant(branch.indices[decided])
                env[name, CONTROL] = _has_run(env, taken)
            return
        names = self._made_inside(group)
        lists = [] if env["keep"] else self._lists.used_by(names)
        for one in lists:
            self._lists.current(env, one)  # made outside of the branches
        made = [] if env["keep"] else self._lists.lent_by(names, group.frame)
        merges = {name: branch.indices for name, branch in ends.items() if branch.indices is not None}
        borrowed: Env = {(name, CONTROL): None for name in group.borrowed}
        borrowed.update((key, env["lent", key]) for key in self._conditions.borrowed(group) if ("lent", key) in env)
        lent = {key: (side, dtype) for key, side, dtype in self._conditions.lent(group)}
        shapes: dict[Key, Any] = {}

        def side(value: bool) -> Callable[[], list[Any]]:
            def build() -> list[Any]:
                inner: Env = ChainMap({**borrowed, "stored": ()}, env)
                mine = [key for key, (of, _) in lent.items() if of == value]
                self._build(inner, [key for branch in ends.values() if (key := branch.inputs[value]) is not None])
                passed_on = {key: self._lent(inner, group, key) for key in mine}
                self._lists.store(inner)
                shapes.update({key: tensor.shape for key, tensor in passed_on.items()})
                results = [_value(inner[ends[name].inputs[value]]) for name in merges]
                results += [inner["list", one] for one in lists]
                results += [inner["list", one] if ("list", one) in inner else self._lists.nothing(one) for one in made]
                results += [passed_on[key] if of == value else tf.zeros([], dtype) for key, (of, dtype) in lent.items()]
                return [tf.identity(result) for result in results]  # its own, where it is an input of the branch

            return build

        with self._after(env, needs):
            predicate = _value(env[group.predicate])
            results = tf.cond(predicate, side(True), side(False), strict=True)
            for (name, indices), result in zip(merges.items(), results):  # noqa: B905 - lists come after them
                env[name, 0] = result
                env[name, 1] = tf.where(predicate, indices[True], indices[False])
                env[name, CONTROL] = result.op
        for name in ends.keys() - merges.keys():
            env[name, CONTROL] = results[0].op if results else None
        others = iter(results[len(merges) :])
        for one in (*lists, *made):
            env["list", one] = next(others)
        for key in lent:
            env["lent", key] = next(others)
            env["lent", key].set_shape(shapes[key])

    def _lent(self, env: Env, group: ConditionGroup, key: Key) -> Any:
        """A tensor that others take, in the branch of a group that it is in; in a condition within that, perhaps."""
        within = self._conditions.lender_within(group, key)
        if within is None:
            self._build(env, [key])
            return _value(env[key])
        self._build(env, [(within.ends[0], CONTROL)])
        if ("lent", key) in env:
            return env["lent", key]
        if self._decided(env, within.predicate) == self._conditions.side(within, key):
            return self._lent(env, within, key)
        return tf.zeros([], self._conditions.dtype(key))

    def _made_inside(self, group: ConditionGroup) -> list[str]:
        """The nodes in the branches of a group."""
        return [key[0] for key in self._reach(group.starts(), group.inside) if group.inside(key)]

    def _decided(self, env: Env, key: Key) -> bool | None:
        """Return what decides a condition, where it is known while the graph is made: of a switch that is given."""
        value = tf.get_static_value(_value(env[key]))
        if value is not None:
            return bool(value)
        if self._structure.is_given(key):
            return None
        node, inputs = self._structure.nodes[key[0]], self._structure.inputs[key[0]]
        if node.op not in _LOGIC:
            return None
        found = [self._decided(env, each) for each in inputs if each[1] != CONTROL]
        return _LOGIC[node.op](found)

    # -- loops -----------------------------------------------------------------------------------------------------

    def _make_loop(self, env: Env, loop: WhileLoop) -> None:
        structure = self._structure
        lists = self._lists.used_by(name for name in structure.nodes if _within(structure, loop.frame)((name, CONTROL)))
        constants = {(name, 0): env[structure.inputs[name][0]] for name in loop.constants}
        starts = {name: structure.inputs[enter][0] for name, (enter, _) in loop.variables.items()}
        flows = {name for name, key in starts.items() if self._lists.is_flow(key)}  # without a meaning here
        variables = [name for name in starts if name not in flows]
        begin = [_value(env[starts[name]]) for name in variables]
        begin += [self._lists.current(env, one) for one in lists]

        def inside(values: Sequence[Any]) -> Env:
            inner: Env = ChainMap({"stored": ()}, constants, env)
            for name, value in zip(variables, values):  # noqa: B905 - lists come after them
                inner[name, 0], inner[name, CONTROL] = value, None
            for name in flows:
                inner[name, 0], inner[name, CONTROL] = flow(), None
            for name in loop.constants:
                inner[name, CONTROL] = None
            for one, value in zip(lists, values[len(variables) :], strict=True):
                inner["list", one] = value
            return inner

        def condition(*values: Any) -> Any:
            inner = inside(values)
            self._build(inner, [loop.condition])
            return inner[loop.condition]

        def body(*values: Any) -> list[Any]:
            inner = inside(values)
            ends = {name: structure.inputs[back] for name, (_, back) in loop.variables.items()}
            self._build(inner, [key for keys in ends.values() for key in keys])  # what is only waited for as well
            self._lists.store(inner)
            results = [tf.identity(_value(inner[ends[name][0]])) for name in variables]
            return results + [inner["list", one] for one in lists]

        # A session begins its iterations in their order, and so draws in it.
        draws = any(
            _within(structure, loop.frame)((name, CONTROL)) for name in env["streams"] if name in structure.nodes
        )
        with self._after(env, self._needs[loop.frame]):
            ended = tf.while_loop(
                condition,
                body,
                begin,
                shape_invariants=_shapes(body, begin),
                parallel_iterations=1 if draws else loop.parallel_iterations,
                return_same_structure=True,
            )
        last = dict(zip(variables, ended))  # noqa: B905 - lists come after them
        for name, variable in loop.exits.items():
            value = flow() if variable in flows else last[variable]
            env[name, 0], env[name, CONTROL] = value, ended[0].op
        for one, value in zip(lists, ended[len(variables) :], strict=True):
            env["list", one] = value


def _run_of(graph_def: Any, inputs: Collection[Key]) -> Iterable[Key]:
    """Return the ends of nodes all of which is given as inputs: nothing runs there."""
    whole = {name for name, index in inputs if index == 0}
    return [(node.name, CONTROL) for node in graph_def.node if node.name in whole and node.op in _GIVEN_WHOLE]


def _value(value: Any) -> Any:
    """A tensor as it is; what a reference holds, read here."""
    return reads(value) if isinstance(value, Reference) else value


def _takes_handle(kind: str, values: Sequence[Any]) -> bool:
    """Whether an operation works on the handle of a variable of which there is only a part."""
    definition = private.op_def_registry.get(kind)
    return (
        definition is not None
        and any(isinstance(value, Reference) and value.part is not None for value in values)
        and any(argument.type == tf.resource.as_datatype_enum for argument in definition.input_arg)
    )


def _has_run(env: Env, key: Key | None) -> Any:
    """The operation that has run when a key is there; None if there is none to wait for."""
    if key is None:
        return None
    if key[1] == CONTROL:
        return env[key]
    return waits(env[key]) if isinstance(env[key], Reference) else env[key].op


def _within(structure: Structure, frame: Frame) -> Callable[[Key], bool]:
    """Whether something is in a loop, or in one inside of that."""

    def within(key: Key) -> bool:
        return not structure.is_given(key) and structure.frames[key[0]][: len(frame)] == frame

    return within


def _shapes(body: Callable[..., list[Any]], begin: Sequence[Any]) -> list[Any]:
    """The shapes that loop variables have in all iterations: those of the beginning, as far as the body keeps them."""
    shapes = [value.shape for value in begin]
    for _ in range(_MOST_WIDENINGS):
        specs = [tf.TensorSpec(shape, value.dtype) for shape, value in zip(shapes, begin, strict=True)]
        traced = tf.function(body, input_signature=specs, autograph=False).get_concrete_function()
        after = [value.shape for value in traced.outputs]
        wider = [one.most_specific_compatible_shape(other) for one, other in zip(shapes, after, strict=True)]
        if all(_same(one, other) for one, other in zip(shapes, wider, strict=True)):
            return shapes
        shapes = wider
    return [
        shape if _same(shape, value.shape) else tf.TensorShape(None) for shape, value in zip(shapes, begin, strict=True)
    ]


def _same(one: Any, other: Any) -> bool:
    if one.rank is None or other.rank is None:
        return bool(one.rank == other.rank)
    return bool(one.as_list() == other.as_list())
