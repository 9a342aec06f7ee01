"""Errors of requests as answers: one status for each kind of error, in HTTP's and in gRPC's numbers."""

from __future__ import annotations

from tf1sessions.errors import (
    ClosedError,
    MessageTooLargeError,
    ModelError,
    Overloaded,
    UnsafeModelError,
)

__all__ = ["NotFound", "RequestError", "TooLarge", "status_of"]


class RequestError(ValueError):
    """A request that cannot be read, or that the model does not take. ``http`` is its status."""

    http = 400


class NotFound(RequestError):
    """There is no such model, version or address."""

    http = 404


class TooLarge(RequestError):
    """A request is larger than the server takes."""

    http = 413


#: The canonical codes that TensorFlow's errors and gRPC share, as statuses of HTTP.
_HTTP = {
    1: 499, 2: 500, 3: 400, 4: 504, 5: 404, 6: 409, 7: 403, 8: 429, 9: 400, 10: 409, 11: 400, 12: 501, 13: 500, 14: 503,
    15: 500, 16: 401,
}  # fmt: skip
_CODES = {400: 3, 401: 16, 403: 7, 404: 5, 413: 8, 429: 8, 499: 1, 500: 13, 501: 12, 503: 14, 504: 4}


def status_of(error: BaseException) -> tuple[int, int]:
    """The status of HTTP and the code of gRPC for an error of a request."""
    if isinstance(error, RequestError):
        http = error.http
    elif isinstance(error, UnsafeModelError):
        http = 403
    elif isinstance(error, Overloaded):
        http = 429
    elif isinstance(error, TimeoutError):  # DeadlineError is one, too
        http = 504
    elif isinstance(error, (ClosedError, MessageTooLargeError)):
        http = 503
    elif isinstance(error, ModelError):
        http = 500
    elif isinstance(error, (ValueError, TypeError)):
        http = 400
    else:
        code = getattr(error, "error_code", None)  # of tf.errors.OpError
        if isinstance(code, int) and code in _HTTP:
            return _HTTP[code], code
        http = 500
    return http, _CODES.get(http, 3)
