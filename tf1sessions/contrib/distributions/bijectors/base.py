"""Common parts of the bijectors: TensorFlow's base class, assertions, linear operators for affine maps."""

from __future__ import annotations

from typing import Any

from ....runtime import private

__all__ = ["Bijector", "ConditionalBijector", "Identity"]

Bijector: Any = private.distributions_bijector.Bijector
Identity: Any = private.distributions_identity.Identity


class ConditionalBijector(Bijector):  # type: ignore[misc]
    """A bijector whose methods pass keyword arguments on to ``_forward``, ``_inverse`` and their Jacobians."""

    def forward(self, x: Any, name: str = "forward", **condition_kwargs: Any) -> Any:
        return self._call_forward(x, name, **condition_kwargs)

    def inverse(self, y: Any, name: str = "inverse", **condition_kwargs: Any) -> Any:
        return self._call_inverse(y, name, **condition_kwargs)

    def inverse_log_det_jacobian(
        self, y: Any, event_ndims: Any, name: str = "inverse_log_det_jacobian", **condition_kwargs: Any
    ) -> Any:
        return self._call_inverse_log_det_jacobian(y, event_ndims, name, **condition_kwargs)

    def forward_log_det_jacobian(
        self, x: Any, event_ndims: Any, name: str = "forward_log_det_jacobian", **condition_kwargs: Any
    ) -> Any:
        return self._call_forward_log_det_jacobian(x, event_ndims, name, **condition_kwargs)
