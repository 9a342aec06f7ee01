"""The memory that a request would fill, as far as the shapes in its graph show before it runs.

TensorFlow has inferred them while it imported the graph, through constants that are sizes: a Fill, Range, Tile or Pad
whose size stands in the graph has a shape that is known, and so has what is made of it. Sizes that depend on what is
fed, and those inside functions, are not known: a trial finds those (trial.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from tf1sessions.errors import ModelFileError
from tf1sessions.sessions.machine import available_memory

__all__ = ["check_sizes"]

#: What makes much of little. Their results are counted together, since each may be kept until the last is there.
_EXPANDING = frozenset(
    """
    BroadcastTo ConcatV2 Diag Empty Fill LinSpace MatrixDiag MatrixDiagV3 MirrorPad OneHot Pack Pad PadV2
    ParameterizedTruncatedNormal RandomGamma RandomPoissonV2 RandomStandardNormal RandomUniform RandomUniformInt Range
    ScatterNd SparseToDense StatelessRandomNormal StatelessRandomUniform Tile TruncatedNormal
    """.split()
)
#: Nothing below this is looked at twice: asking the system what is free takes longer than all the rest.
_SMALL = 2**30


def check_sizes(graph: Any, names: Iterable[str], path: str) -> None:
    """Refuses a request that cannot fit into the memory that is free.

    Args:
        graph: The ``tf.Graph``.
        names: The operations that the request needs.
        path: The model's.

    Raises:
        ModelFileError: One tensor, or all that is filled, repeated, padded and drawn together, is larger.
    """
    total = largest = 0
    where = ""
    for name in names:
        operation = graph.get_operation_by_name(name)
        expands = operation.type in _EXPANDING
        for output in operation.outputs:
            shape = output.shape
            if shape.rank and shape.is_fully_defined():
                size = math.prod(shape.as_list()) * (output.dtype.size or 1)
                total += size * expands
                if size > largest:
                    largest, where = size, name
    if max(largest, total) < _SMALL:
        return
    free = available_memory()
    if free is not None and max(largest, total) > free:
        raise ModelFileError(
            f"its operations fill {max(largest, total) / 2**30:,.1f} GB, {largest / 2**30:,.1f} GB of it in {where!r}, "
            f"and this machine has {free / 2**30:,.1f} GB free",
            where=path,
            next_step="The sizes stand in the graph: change them there, or use a larger machine.",
            path=path,
        )
