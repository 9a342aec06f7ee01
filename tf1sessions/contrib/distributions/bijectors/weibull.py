"""The address of the Weibull bijector."""

from .elementwise import Weibull

__all__ = ["Weibull"]
