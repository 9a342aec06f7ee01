"""Preparation of a pool's workers before their first job, so that TensorFlow is there what it is here."""

from __future__ import annotations

__all__ = ["code"]

code = ""
"""Python code; a pool takes what is here when it is made. Set by what changes this process's ``import tensorflow``."""
