"""Base classes of the distributions: TensorFlow's, and one for those whose parameters broadcast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...runtime import private as _private
from ...runtime import tf1 as tf

__all__ = [
    "FULLY_REPARAMETERIZED",
    "NOT_REPARAMETERIZED",
    "Distribution",
    "Scalar",
    "checked",
    "natural",
    "parameter",
    "positive",
    "shape_of",
    "util",
]

util: Any = _private.distributions_util
Distribution: Any = tf.distributions.Distribution
FULLY_REPARAMETERIZED: Any = tf.distributions.FULLY_REPARAMETERIZED
NOT_REPARAMETERIZED: Any = tf.distributions.NOT_REPARAMETERIZED

Check = Callable[[Any], Any]


def checked(validate: bool, tensor: Any, *checks: Check) -> Any:
    """Return ``tensor``; if ``validate``, the assertions that ``checks`` make of it precede it."""
    if not validate:
        return tensor
    with tf.control_dependencies([check(tensor) for check in checks]):
        return tf.identity(tensor)


def positive(tensor: Any) -> Any:
    """Assert that all of ``tensor`` is greater than 0."""
    return tf.assert_positive(tensor)


def natural(tensor: Any) -> Any:
    """Assert that all of ``tensor`` are whole numbers of at least 0."""
    return tf.group(*util.embed_check_nonnegative_integer_form(tensor).op.control_inputs)


def parameter(name: str, doc: str) -> property:
    """A property that is the tensor of the parameter ``name``."""
    return property(lambda self: getattr(self, f"_{name}"), doc=doc)


def shape_of(tensor: Any) -> Any:
    """The shape of ``tensor``: as numbers where it is known, else as a tensor."""
    return tensor.shape.as_list() if tensor.shape.is_fully_defined() else tf.shape(tensor)


class Scalar(Distribution):  # type: ignore[misc]
    """A distribution of scalars, one for each element of what its parameters broadcast to."""

    #: The parameters that decide on the shape of the batch.
    _shaping: tuple[str, ...] = ()
    #: Whether ``param_shapes`` says them.
    _says_shapes = True

    def _set_up(
        self,
        given: dict[str, Any],
        values: dict[str, Any],
        checks: dict[str, tuple[Check, ...]] | None = None,
        reparameterization: Any = FULLY_REPARAMETERIZED,
        allow_nan_stats: bool | None = None,
    ) -> None:
        """Make tensors of ``values``, each the attribute of its name, and initialize the base class.

        Args:
            given: All arguments of the constructor.
            values: name -> what makes the tensor.
            checks: name -> assertions that precede the tensor if arguments are to be validated.
            reparameterization: The type.
            allow_nan_stats: In place of the argument.
        """
        validate = given["validate_args"]
        with tf.name_scope(given["name"], values=list(values.values())) as name:
            made = [tf.convert_to_tensor(value, name=key) for key, value in values.items()]
            asserted = [
                check(tensor)
                for key, tensor in zip(values, made, strict=True)
                for check in (checks or {}).get(key, ())
                if validate
            ]
            with tf.control_dependencies(asserted):
                tensors = [tf.identity(tensor, name=key) for key, tensor in zip(values, made, strict=True)]
            tf.debugging.assert_same_float_dtype(tensors)
        for key, tensor in zip(values, tensors, strict=True):
            setattr(self, f"_{key}", tensor)
        super().__init__(
            dtype=tensors[0].dtype,
            reparameterization_type=reparameterization,
            validate_args=validate,
            allow_nan_stats=given["allow_nan_stats"],
            parameters=given,
            graph_parents=tensors,
            name=name,
        )

    @classmethod
    def _param_shapes(cls, sample_shape: Any) -> dict[str, Any]:
        if not cls._says_shapes:
            raise NotImplementedError("_param_shapes not implemented")
        return {key: tf.convert_to_tensor(sample_shape, dtype=tf.int32) for key in cls._shaping}

    def _shaped(self) -> list[Any]:
        return [getattr(self, f"_{key}") for key in self._shaping]

    def _batch_shape_tensor(self) -> Any:
        first, *others = [tf.shape(tensor) for tensor in self._shaped()]
        for other in others:
            first = tf.broadcast_dynamic_shape(first, other)
        return first

    def _batch_shape(self) -> Any:
        first, *others = [tensor.shape for tensor in self._shaped()]
        for other in others:
            first = tf.broadcast_static_shape(first, other)
        return first

    def _event_shape_tensor(self) -> Any:
        return tf.constant([], dtype=tf.int32)

    def _event_shape(self) -> Any:
        return tf.TensorShape([])

    def _full_shape(self, n: Any) -> Any:
        """The shape of n samples."""
        return tf.concat([[n], self.batch_shape_tensor()], axis=0)

    def _undefined(self, value: Any, defined: Any, message: str, *limits: tuple[Any, Any]) -> Any:
        """Return ``value``, and NaN or an assertion, as ``allow_nan_stats`` says, where it is not ``defined``.

        Args:
            value: The statistic, of the batch's shape.
            defined: Where it is defined.
            message: What the assertion says.
            *limits: Pairs (less, greater) that are asserted.
        """
        if self.allow_nan_stats:
            nan = tf.fill(self.batch_shape_tensor(), tf.constant(float("nan"), self.dtype), name="nan")
            return tf.where(tf.logical_and(defined, tf.ones_like(value, tf.bool)), value, nan)
        with tf.control_dependencies([tf.assert_less(*limit, message=message) for limit in limits]):
            return tf.identity(value)
