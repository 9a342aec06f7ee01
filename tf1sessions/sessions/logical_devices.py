"""Lanes: logical devices of one GPU or CPU, and how a graph stays on one of them.

A lane is named by its device string, such as ``"/device:GPU:1"``::

    SessionConfig(lane=...) ──▶ OwnedGraph: each operation that is made     ──▶ on_lane(its device, lane)
                                            each GraphDef that is imported ──▶ place(graph_def, lane), with functions

On a GPU each lane has a hard cap and a compute stream of its own, so sessions on different lanes neither take each
other's memory nor wait for each other's kernels. What it costs: memory that a lane leaves unused helps no other lane,
each has its own handles of cuDNN and cuBLAS, and a tensor that goes from one to another is copied.
"""

from __future__ import annotations

import re
from typing import Any

__all__ = ["is_lane", "on_lane", "place"]

_LANE = re.compile(r"/device:(CPU|GPU):(\d+)")
_DEVICE = re.compile(r"/(?:device:)?(cpu|gpu|CPU|GPU)(?::(?:\*|\d+))?(?=/|$)")
_OTHER = re.compile(r"/device:(?!CPU\b|GPU\b)\w+", re.IGNORECASE)


def is_lane(text: object) -> bool:
    """Whether ``text`` names a lane: ``/device:GPU:1``."""
    return isinstance(text, str) and _LANE.fullmatch(text) is not None


def on_lane(device: str, lane: str) -> str:
    """The device of an operation that was to be on ``device``, on a lane.

    What was on no device or on any GPU goes to the lane; what was on the CPU stays there, unless the lane is a CPU
    itself. Job and task stay, and so do devices of other kinds.

    Example:
        >>> [on_lane(device, "/device:GPU:1") for device in ("", "/job:worker/gpu:0", "/cpu:0")]
        ['/device:GPU:1', '/job:worker/device:GPU:1', '/cpu:0']
    """
    found = _DEVICE.search(device)
    if found is None:
        return device if _OTHER.search(device) else device + lane
    if found[1].upper() == "CPU" and not lane.startswith("/device:CPU:"):
        return device
    return device[: found.start()] + lane + device[found.end() :]


def place(graph_def: Any, lane: str) -> Any:
    """A copy of a GraphDef whose nodes, those of its functions included, are on ``lane``."""
    placed = type(graph_def)()
    placed.CopyFrom(graph_def)
    for nodes in (placed.node, *(function.node_def for function in placed.library.function)):
        for node in nodes:
            node.device = on_lane(node.device, lane)
    return placed
