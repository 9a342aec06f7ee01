"""The programs of these tests start in a process that has TensorFlow."""

from warm import run_python

__all__ = ["run_python"]
