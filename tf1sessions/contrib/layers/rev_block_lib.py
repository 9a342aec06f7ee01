"""Functions whose activations are not kept for the gradients, but computed again: recompute_grad, reversible blocks.

Data flow: the functions are called once for their results, which go through an identity that has a gradient of its own.
That gradient calls the functions again, with the variables that they got the first time, and takes the gradients there:
on the same inputs (``recompute_grad``), or on inputs that are computed from the outputs (``rev_block``). Nothing else
refers to what the first call computed in between, so it is released as the step goes on.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...runtime import tf1 as tf

__all__ = ["RevBlock", "recompute_grad", "rev_block"]

Function = Callable[..., Any]


class _Repeatable:
    """A function of tensors that can be called again with the variables of its first call.

    Args:
        function: The function. It gets its variables by ``tf.get_variable``, the same ones in each call.
        scope: A variable scope to be opened for it, of resource variables; None for the one that it is called in.
    """

    def __init__(self, function: Function, scope: str | None = None) -> None:
        self._function = function
        self._name = scope
        self._scope: Any = None
        self._got: list[Any] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._scope is not None:
            rest = iter(self._got)
            with tf.variable_scope(
                self._scope, reuse=True, auxiliary_name_scope=False, custom_getter=lambda *_, **__: _next(rest)
            ):
                return self._function(*args, **kwargs)
        with tf.variable_scope(self._name, use_resource=True) if self._name else contextlib.nullcontext():
            scope = tf.get_variable_scope()
            with _noting(scope, self._got):
                result = self._function(*args, **kwargs)
            self._scope = scope
        return result


def _next(variables: Iterator[Any]) -> Any:
    for variable in variables:
        return variable
    raise ValueError("The variables used on recompute were different than the variables originally used.")


@contextlib.contextmanager
def _noting(scope: Any, got: list[Any]) -> Iterator[None]:
    """Appends to ``got`` each variable that ``tf.get_variable`` gives in ``scope``, which is open, or below it."""
    outer = scope.custom_getter

    def note(getter: Function, *args: Any, **kwargs: Any) -> Any:
        variable = getter(*args, **kwargs) if outer is None else outer(getter, *args, **kwargs)
        got.append(variable)
        return variable

    scope.set_custom_getter(note)
    try:
        yield
    finally:
        scope.set_custom_getter(outer)


def _variables_between(inputs: Sequence[Any], outputs: Sequence[Any]) -> list[Any]:
    """The trained variables that ``outputs`` are computed from, apart from those that only ``inputs`` are."""
    seen = {tensor.name for tensor in inputs}
    operations = set()
    waiting = list(outputs)
    while waiting:
        tensor = waiting.pop()
        if tensor.name not in seen:
            seen.add(tensor.name)
            operations.add(tensor.op.name)
            waiting += tensor.op.inputs
    return [variable for variable in tf.trainable_variables() if variable.op.name in operations]


def _with_gradient(
    outputs: Sequence[Any], sources: Sequence[Any], gradient: Callable[[Sequence[Any]], Sequence[Any]]
) -> list[Any]:
    """``outputs``, whose gradients are given to ``gradient``, which makes those of tensors and variables of them."""

    def joined(*tensors: Any) -> Any:
        def backward(*output_grads: Any) -> list[Any]:
            # not below the "gradients" that this is in: the gradients of a while loop go by the last one in a name
            with tf.name_scope(None), tf.name_scope("recompute"):
                return [None] * len(outputs) + list(gradient(output_grads))

        return [tf.identity(tensor) for tensor in tensors[: len(outputs)]], backward

    return list(tf.custom_gradient(joined)(*outputs, *map(tf.convert_to_tensor, sources)))


def _after(tensors: Sequence[Any], first: Sequence[Any], by_data: bool) -> list[Any]:
    """``tensors``, once ``first`` are computed.

    Args:
        tensors: Tensors.
        first: Tensors of which some may be None.
        by_data: Whether floating tensors are computed from ``first``, too, which compilers cannot overlook.
    """
    known = [tensor for tensor in first if tensor is not None]
    with tf.control_dependencies(known):
        tensors = [tf.identity(tensor) for tensor in tensors]
    floating = [tf.convert_to_tensor(tensor) for tensor in known if tensor.dtype.is_floating]
    if not by_data or not floating:
        return tensors
    firsts = [tf.cast(tf.reduce_sum(tf.reshape(tensor, [-1])[:1]), tf.float32) for tensor in floating]
    nothing = tf.stop_gradient(0.0 * tf.add_n(firsts))
    return [tensor + tf.cast(nothing, tensor.dtype) if tensor.dtype.is_floating else tensor for tensor in tensors]


# ---------------------------------------------------------------------------------------------------- recompute_grad


def recompute_grad(fn: Function | None = None, use_data_dep: bool = False, tupleize_grads: bool = False) -> Function:
    """A decorator of a function that is to be computed again for its gradients: with arguments, or without.

    In the second call, operations that change something or are random do it again; a function that has an argument
    ``is_recomputing`` learns from it which call this is.

    Args:
        fn: A function of tensors, all positional, that gives a tensor or several. It may call ``tf.get_variable``, and
            must not use other tensors and variables than its arguments and what it gets.
        use_data_dep: Whether the second call also depends on the gradients of the outputs by data: for XLA.
        tupleize_grads: Whether no gradient is used before all are computed.

    Raises:
        ValueError: ``fn`` has a tensor or variable of the function around it.

    Example:
        >>> from tf1sessions import tf1
        >>> @recompute_grad
        ... def block(x):
        ...     return tf1.layers.dense(x, 8, tf1.nn.relu)
        >>> with tf1.Graph().as_default():
        ...     y = block(tf1.ones([2, 4]))
        ...     tf1.gradients(y, tf1.trainable_variables())[0].shape.as_list()
        [4, 8]
    """
    if fn is None:
        return functools.partial(recompute_grad, use_data_dep=use_data_dep, tupleize_grads=tupleize_grads)
    function = fn
    _check_closure(function)
    takes_flag = "is_recomputing" in inspect.signature(function).parameters

    @functools.wraps(function)
    def wrapped(*args: Any) -> Any:
        inputs = [tf.convert_to_tensor(arg) for arg in args]
        repeatable = _Repeatable(function)
        result = repeatable(*inputs, **({"is_recomputing": False} if takes_flag else {}))
        outputs = [tf.convert_to_tensor(tensor) for tensor in tf.nest.flatten(result)]
        variables = _variables_between(inputs, outputs)

        def gradient(output_grads: Sequence[Any]) -> Sequence[Any]:
            again = _after(inputs, output_grads, use_data_dep)
            with tf.control_dependencies([grad for grad in output_grads if grad is not None]):
                results = tf.nest.flatten(repeatable(*again, **({"is_recomputing": True} if takes_flag else {})))
            pairs = [pair for pair in zip(results, output_grads, strict=True) if pair[1] is not None]
            ys, grad_ys = zip(*pairs, strict=True)
            grads = tf.gradients(ys, again + variables, grad_ys, stop_gradients=again)
            if not tupleize_grads:
                return grads  # type: ignore[no-any-return]
            if not use_data_dep:
                return tf.tuple(grads)  # type: ignore[no-any-return]
            ready = iter(_after([grad for grad in grads if grad is not None], grads, True))
            return [None if grad is None else next(ready) for grad in grads]

        return tf.nest.pack_sequence_as(result, _with_gradient(outputs, inputs + variables, gradient))

    return wrapped


def _check_closure(function: Function) -> None:
    if not inspect.isfunction(function):
        return
    for name, value in inspect.getclosurevars(function).nonlocals.items():
        if isinstance(value, (tf.Tensor, tf.Variable)):
            raise ValueError(
                f"fn decorated with @recompute_grad closes over Tensor {value.name} (local variable name: {name}). The "
                "decorated fn must not close over Tensors or Variables because gradients will NOT be computed for "
                "them through fn. To ensure correct gradients, make the Tensor an input to fn."
            )


# -------------------------------------------------------------------------------------------------- reversible blocks


def rev_block(
    x1: Any,
    x2: Any,
    f: Function | Sequence[Function],
    g: Function | Sequence[Function],
    num_layers: int = 1,
    f_side_input: Sequence[Any] | None = None,
    g_side_input: Sequence[Any] | None = None,
    is_training: bool = True,
) -> tuple[Any, Any]:
    """Reversible residual layers (arXiv:1707.04585): ``y1 = x1 + f(x2)`` and ``y2 = x2 + g(y1)``, one after the other.

    The activations of a layer are computed from its outputs when the gradients are.

    Args:
        x1: A floating tensor.
        x2: One of the same shape.
        f: A function of a tensor, and of ``f_side_input`` if there is one, that gives a tensor of that shape; or a list
            of them, one for each layer. It may call ``tf.get_variable``.
        g: Such a function of y1 and ``g_side_input``.
        num_layers: The number of layers, each with variables of its own.
        f_side_input: Tensors that all ``f`` get, as a list.
        g_side_input: Tensors that all ``g`` get.
        is_training: Whether it is done like that; if not, these are plain residual layers.

    Raises:
        ValueError: A list of functions is of another length than ``num_layers``.
    """
    block = RevBlock(f, g, num_layers, f_side_input, g_side_input, use_efficient_backprop=is_training)
    y1, y2 = block.forward(x1, x2)
    return y1, y2


class RevBlock(tf.layers.Layer):  # type: ignore[misc]
    """The layers of :func:`rev_block` as a layer of ``[x1, x2]``.

    Args:
        f: As there.
        g: As there.
        num_layers: The number of layers.
        f_side_input: Tensors that all ``f`` get.
        g_side_input: Tensors that all ``g`` get.
        use_efficient_backprop: Whether activations are computed again for the gradients.
        name: The name of the variable scope.
        **kwargs: Arguments of any layer.

    Raises:
        ValueError: A list of functions is of another length than ``num_layers``.
    """

    def __init__(
        self,
        f: Function | Sequence[Function],
        g: Function | Sequence[Function],
        num_layers: int = 1,
        f_side_input: Sequence[Any] | None = None,
        g_side_input: Sequence[Any] | None = None,
        use_efficient_backprop: bool = True,
        name: str = "revblock",
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, **kwargs)
        self._f = _for_layers("f", f, num_layers)
        self._g = _for_layers("g", g, num_layers)
        self._f_side = tuple(f_side_input or ())
        self._g_side = tuple(g_side_input or ())
        self._efficient = use_efficient_backprop

    def forward(self, x1: Any, x2: Any) -> Any:
        """The outputs, y1 and y2."""
        return self([x1, x2])

    def backward(self, y1: Any, y2: Any) -> Any:
        """The inputs, x1 and x2, that have these outputs."""
        return self([y1, y2], forward=False)

    def call(self, inputs: Any, forward: bool = True) -> Any:
        """The outputs for inputs; or the other way round if ``forward`` is False."""
        # as they are, since they are called by the gradients, too
        run = tf.autograph.experimental.do_not_convert(self._through if forward else self._back)
        return run(*inputs)

    def _back(self, first: Any, second: Any) -> tuple[Any, Any]:
        for f, g in zip(reversed(self._f), reversed(self._g), strict=True):
            second = second - _half(g, first, self._g_side)
            first = first - _half(f, second, self._f_side)
        return first, second

    def _through(self, x1: Any, x2: Any) -> tuple[Any, Any]:
        first, second = x1, x2
        layers = []  # for each, what else f is computed from than its input, and what g is
        for f, g in zip(self._f, self._g, strict=True):
            added = _half(f, second, self._f_side)
            from_f = [*self._f_side, *_variables_between([second, *self._f_side], [added])]
            first = first + added
            added = _half(g, first, self._g_side)
            from_g = [*self._g_side, *_variables_between([first, *self._g_side], [added])]
            second = second + added
            layers.append((from_f, from_g))
        if not self._efficient:
            return first, second
        sources = list({source.name: source for pair in layers for part in pair for source in part}.values())
        gradient = functools.partial(self._gradient, [first, second], layers, sources)
        y1, y2 = _with_gradient([first, second], [x1, x2, *sources], gradient)
        return y1, y2

    def _gradient(
        self,
        outputs: Sequence[Any],
        layers: Sequence[tuple[list[Any], list[Any]]],
        sources: Sequence[Any],
        output_grads: Sequence[Any],
    ) -> list[Any]:
        """The gradients of both inputs and of ``sources``, from those of ``outputs``."""
        grads: dict[str, list[Any]] = {source.name: [] for source in sources}
        first, second = _after(outputs, output_grads, False)
        d_first, d_second = output_grads
        for f, g, (from_f, from_g) in zip(reversed(self._f), reversed(self._g), reversed(layers), strict=True):
            y1 = tf.stop_gradient(first)
            added_to_x2 = _half(g, y1, self._g_side)
            x2 = tf.stop_gradient(second - added_to_x2)
            added_to_x1 = _half(f, x2, self._f_side)
            x1 = first - added_to_x1

            d_y1, *through_g = tf.gradients(added_to_x2, [y1, *from_g], d_second, stop_gradients=self._g_side)
            d_first = _sum([d_first, d_y1])
            d_x2, *through_f = tf.gradients(added_to_x1, [x2, *from_f], d_first, stop_gradients=self._f_side)
            d_second = _sum([d_second, d_x2])
            # all of one layer before the next, so that what was computed again is released, too
            first, second, d_first, d_second, *found = tf.tuple([x1, x2, d_first, d_second, *through_f, *through_g])
            for source, grad in zip(from_f + from_g, found, strict=True):
                grads[source.name].append(grad)
        return [d_first, d_second, *map(_sum, grads.values())]


def _for_layers(name: str, functions: Function | Sequence[Function], num_layers: int) -> list[_Repeatable]:
    each = [functions] * num_layers if callable(functions) else list(functions)
    if len(each) != num_layers:
        raise ValueError(f"{name} has {len(each)} functions for {num_layers} layers.")
    return [_Repeatable(function, f"revlayer_{layer}/{name}") for layer, function in enumerate(each)]


def _half(function: _Repeatable, x: Any, side: Sequence[Any]) -> Any:
    return function(x, list(side)) if side else function(x)


def _sum(grads: Sequence[Any]) -> Any:
    found = [grad for grad in grads if grad is not None]
    if len(found) < 2:
        return found[0] if found else None
    return tf.add_n([tf.convert_to_tensor(grad) for grad in found])
