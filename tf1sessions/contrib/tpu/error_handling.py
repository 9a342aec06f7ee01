"""Errors of the threads that feed and drain a TPU."""

from ...estimator.tpu_errors import ErrorRendezvous

__all__ = ["ErrorRendezvous"]
