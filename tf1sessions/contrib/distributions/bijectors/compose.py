"""Bijectors that are made of others, or of functions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ....runtime import tf1 as tf
from ..common import parameter
from .base import Bijector
from .elementwise import AffineScalar, Softplus
from .matrices import FillTriangular, TransformDiagonal

__all__ = ["Chain", "Inline", "Invert", "ScaleTriL"]


def _dtype_of(bijectors: Sequence[Any]) -> Any:
    found = {bijector.dtype for bijector in bijectors if bijector.dtype is not None}
    if len(found) > 1:
        raise ValueError(f"incompatible dtypes: {sorted(dtype.name for dtype in found)}")
    return found.pop() if found else None


class Chain(Bijector):  # type: ignore[misc]
    """The composition of bijectors: ``Chain([f, g])`` maps x to ``f(g(x))``."""

    def __init__(
        self, bijectors: Sequence[Any] | None = None, validate_args: bool = False, name: str | None = None
    ) -> None:
        self._bijectors = tuple(bijectors or ())
        for bijector in self._bijectors:
            if not bijector._is_injective:
                raise NotImplementedError(f"Invert is not implemented for non-injective bijector {bijector.name}")
        # dimensions of an event before each step, relative to those before the first, and what the step needs of them
        steps = [(each.forward_min_event_ndims, each.inverse_min_event_ndims) for each in reversed(self._bijectors)]
        before = list(itertools.accumulate((after - first for first, after in steps), initial=0))
        least = max([first - gained for (first, _), gained in zip(steps, before, strict=False)], default=0)
        super().__init__(
            graph_parents=list(itertools.chain.from_iterable(each.graph_parents for each in self._bijectors)),
            forward_min_event_ndims=least,
            inverse_min_event_ndims=least + before[-1],
            is_constant_jacobian=all([each.is_constant_jacobian for each in self._bijectors]),
            validate_args=validate_args,
            dtype=_dtype_of(self._bijectors),
            name=name or ("_of_".join(["chain", *[b.name for b in self._bijectors]]) if bijectors else "identity"),
        )

    @property
    def bijectors(self) -> tuple[Any, ...]:
        """The bijectors, the last of which is applied first."""
        return self._bijectors

    def _forward_event_shape(self, input_shape: Any) -> Any:
        for bijector in reversed(self.bijectors):
            input_shape = bijector.forward_event_shape(input_shape)
        return input_shape

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        for bijector in reversed(self.bijectors):
            input_shape = bijector.forward_event_shape_tensor(input_shape)
        return input_shape

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        for bijector in self.bijectors:
            output_shape = bijector.inverse_event_shape(output_shape)
        return output_shape

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        for bijector in self.bijectors:
            output_shape = bijector.inverse_event_shape_tensor(output_shape)
        return output_shape

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        for bijector in reversed(self.bijectors):
            x = bijector.forward(x, **kwargs.get(bijector.name, {}))
        return x

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        for bijector in self.bijectors:
            y = bijector.inverse(y, **kwargs.get(bijector.name, {}))
        return y

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        total, ndims = tf.constant(0.0, dtype=x.dtype, name="fldj"), self.forward_min_event_ndims
        for bijector in reversed(self.bijectors):
            given = kwargs.get(bijector.name, {})
            total = total + bijector.forward_log_det_jacobian(x, event_ndims=ndims, **given)
            x = bijector.forward(x, **given)
            ndims += bijector.inverse_min_event_ndims - bijector.forward_min_event_ndims
        return total

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        total, ndims = tf.constant(0.0, dtype=y.dtype, name="ildj"), self.inverse_min_event_ndims
        for bijector in self.bijectors:
            given = kwargs.get(bijector.name, {})
            total = total + bijector.inverse_log_det_jacobian(y, event_ndims=ndims, **given)
            y = bijector.inverse(y, **given)
            ndims += bijector.forward_min_event_ndims - bijector.inverse_min_event_ndims
        return total


class Inline(Bijector):  # type: ignore[misc]
    """A bijector of the functions that are given."""

    def __init__(
        self,
        forward_fn: Callable[..., Any] | None = None,
        inverse_fn: Callable[..., Any] | None = None,
        inverse_log_det_jacobian_fn: Callable[..., Any] | None = None,
        forward_log_det_jacobian_fn: Callable[..., Any] | None = None,
        forward_event_shape_fn: Callable[[Any], Any] | None = None,
        forward_event_shape_tensor_fn: Callable[[Any], Any] | None = None,
        inverse_event_shape_fn: Callable[[Any], Any] | None = None,
        inverse_event_shape_tensor_fn: Callable[[Any], Any] | None = None,
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        forward_min_event_ndims: int | None = None,
        inverse_min_event_ndims: int | None = None,
        name: str = "inline",
    ) -> None:
        super().__init__(
            forward_min_event_ndims=forward_min_event_ndims,
            inverse_min_event_ndims=inverse_min_event_ndims,
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            name=name,
        )
        self._functions = {
            "forward": forward_fn,
            "inverse": inverse_fn,
            "inverse_log_det_jacobian": inverse_log_det_jacobian_fn,
            "forward_log_det_jacobian": forward_log_det_jacobian_fn,
            "forward_event_shape": forward_event_shape_fn,
            "forward_event_shape_tensor": forward_event_shape_tensor_fn,
            "inverse_event_shape": inverse_event_shape_fn,
            "inverse_event_shape_tensor": inverse_event_shape_tensor_fn,
        }

    def _given(self, name: str) -> Callable[..., Any]:
        function = self._functions[name]
        if function is None:
            raise NotImplementedError(f"Cannot call `{name}`: no function was given for it.")
        return function

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return (self._functions["forward_event_shape"] or super()._forward_event_shape)(input_shape)

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return (self._functions["forward_event_shape_tensor"] or super()._forward_event_shape_tensor)(input_shape)

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return (self._functions["inverse_event_shape"] or super()._inverse_event_shape)(output_shape)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return (self._functions["inverse_event_shape_tensor"] or super()._inverse_event_shape_tensor)(output_shape)

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        return self._given("forward")(x, **kwargs)

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        return self._given("inverse")(y, **kwargs)

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        return self._given("inverse_log_det_jacobian")(y, **kwargs)

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        return self._given("forward_log_det_jacobian")(x, **kwargs)


class Invert(Bijector):  # type: ignore[misc]
    """A bijector's inverse."""

    bijector = parameter("bijector", "The bijector that is inverted.")

    def __init__(self, bijector: Any, validate_args: bool = False, name: str | None = None) -> None:
        if not bijector._is_injective:
            raise NotImplementedError("Invert is not implemented for non-injective bijectors.")
        self._bijector = bijector
        super().__init__(
            graph_parents=bijector.graph_parents,
            forward_min_event_ndims=bijector.inverse_min_event_ndims,
            inverse_min_event_ndims=bijector.forward_min_event_ndims,
            is_constant_jacobian=bijector.is_constant_jacobian,
            validate_args=validate_args,
            dtype=bijector.dtype,
            name=name or f"invert_{bijector.name}",
        )

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return self.bijector._inverse_event_shape(input_shape)

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return self.bijector._inverse_event_shape_tensor(input_shape)

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return self.bijector._forward_event_shape(output_shape)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return self.bijector._forward_event_shape_tensor(output_shape)

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        return self.bijector._inverse(x, **kwargs)

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        return self.bijector._forward(y, **kwargs)

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        return self.bijector._forward_log_det_jacobian(y, **kwargs)

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        return self.bijector._inverse_log_det_jacobian(x, **kwargs)


class ScaleTriL(Chain):
    """Maps a vector to a lower triangle; ``diag_bijector``, softplus, and ``diag_shift`` make its diagonal positive."""

    def __init__(
        self,
        diag_bijector: Any = None,
        diag_shift: Any = 1e-5,
        validate_args: bool = False,
        name: str = "scale_tril",
    ) -> None:
        parts: Iterable[Any] = [Softplus(validate_args=validate_args) if diag_bijector is None else diag_bijector]
        if diag_shift is not None:
            parts = [AffineScalar(shift=diag_shift, validate_args=validate_args), *parts]
        chain = Chain(list(parts), validate_args=validate_args)
        super().__init__(
            [TransformDiagonal(chain, validate_args=validate_args), FillTriangular(validate_args=validate_args)],
            validate_args=validate_args,
            name=name,
        )
