"""``tf.contrib.staging``: StagingArea, a buffer of tensors between the steps of a program."""

from __future__ import annotations

from typing import Any

from ..runtime import private as _private

__all__ = ["StagingArea"]

StagingArea: Any = _private.data_flow_ops.StagingArea
