"""slim.model_analyzer: how big the variables and the operations of a graph are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["analyze_ops", "analyze_vars", "tensor_description"]

_LINE = "---------"


def tensor_description(var: Any) -> str:
    """The type and the sizes of a tensor, such as ``(float32 1x8x8x1024)``; "?" is an unknown size.

    Raises:
        ValueError: The tensor has an unknown rank.
    """
    sizes = "x".join("?" if size is None else str(size) for size in var.shape.as_list())
    return f"({var.dtype.name} {sizes})"


def analyze_ops(graph: Any, print_info: bool = False) -> int:
    """Return the number of elements of all outputs of a graph's operations; those of unknown shape do not count.

    Args:
        graph: The graph.
        print_info: Whether the operations are printed.
    """
    lines, total = [], 0
    for op in graph.get_operations():
        shaped = [output for output in op.outputs if output.shape.rank is not None]
        size = sum(output.shape.num_elements() or 0 for output in shaped)
        total += size
        lines.append(f"{op.name} \t-> {', '.join(tensor_description(output) for output in shaped)} [{size}]")
    if print_info:
        print(_LINE, "Operations: name -> (type shapes) [size]", _LINE, *lines, sep="\n")
    return total


def analyze_vars(variables: Iterable[Any], print_info: bool = False) -> tuple[int, int]:
    """Return the number of elements of variables, and their bytes.

    Args:
        variables: The variables.
        print_info: Whether they are printed.
    """
    lines, total, total_bytes = [], 0, 0
    for variable in variables:
        size = variable.shape.num_elements() or 0
        used = size * variable.dtype.base_dtype.size
        total, total_bytes = total + size, total_bytes + used
        lines.append(f"{variable.name} {tensor_description(variable)} [{size}, bytes: {used}]")
    if print_info:
        print(_LINE, "Variables: name (type shape) [size]", _LINE, *lines, sep="\n")
        print(f"Total size of variables: {total}", f"Total bytes of variables: {total_bytes}", sep="\n")
    return total, total_bytes
