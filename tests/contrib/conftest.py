"""The programs of these tests start in a process that has TensorFlow."""

from warm import run_python, warm_address

__all__ = ["run_python", "warm_address"]
