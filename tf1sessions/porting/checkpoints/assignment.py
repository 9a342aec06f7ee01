"""Pairs of two sides whose costs are least together, and which of them could as well be others."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["assign", "undecided"]

#: What a pair costs that cannot be: more than any sum of the others.
_NEVER = 1e6


def assign(costs: Any) -> tuple[Any, Any, Any]:
    """Finds the assignment of least cost, by shortest augmenting paths (the Hungarian method, O(N^3)).

    Args:
        costs: [N, N], finite.

    Returns:
        The column of each row, and the potentials of rows and columns: ``costs - rows[:, None] - columns`` is 0 at the
        pairs of every best assignment, and nowhere negative.
    """
    size = len(costs)
    padded = np.zeros([size + 1, size + 1])
    padded[1:, 1:] = costs
    rows, columns = np.zeros(size + 1), np.zeros(size + 1)
    row_of = np.zeros(size + 1, int)  # of each column; 0 where it is free
    for row in range(1, size + 1):
        row_of[0] = row
        column = 0
        least = np.full(size + 1, np.inf)
        before = np.zeros(size + 1, int)
        seen = np.zeros(size + 1, bool)
        while row_of[column]:
            seen[column] = True
            reduced = padded[row_of[column]] - rows[row_of[column]] - columns
            better = ~seen & (reduced < least)
            least[better], before[better] = reduced[better], column
            following = int(np.argmin(np.where(seen, np.inf, least)[1:])) + 1
            step = least[following]
            rows[row_of[seen]] += step
            columns[seen] -= step
            least[~seen] -= step
            column = following
        while column:
            row_of[column] = row_of[before[column]]
            column = before[column]
    column_of = np.zeros(size, int)
    column_of[row_of[1:] - 1] = np.arange(size)
    return column_of, rows[1:], columns[1:]


def undecided(costs: Any, margin: float) -> tuple[dict[int, int], dict[int, list[int]]]:
    """Splits a best assignment into pairs that are clear and rows that could as well have another column.

    Args:
        costs: [R, C]; ``inf`` where a pair cannot be.
        margin: A pair counts as being as good as another when it is at most this much worse.

    Returns:
        Row -> its column, where that is clear; and row -> the columns that it could have, where it is not. A row
        without a column is in neither.
    """
    count, others = costs.shape
    size = count + others  # everything may stay alone, at a cost that no sum of pairs reaches
    square = np.full([size, size], 0.0)
    square[:count, :others] = np.where(np.isfinite(costs), costs, 2 * _NEVER)
    square[:count, others:] = _NEVER
    square[count:, :others] = _NEVER
    column_of, rows, columns = assign(square)
    tight = square - rows[:, None] - columns <= margin + 1e-9 * _NEVER
    onward = tight[:, column_of]  # from a row to the row whose column it could have
    reach = _closure(onward)
    clear, open_rows = {}, {}
    for row in range(count):
        mine = int(column_of[row])
        could = [
            int(column_of[other]) for other in range(size) if onward[row, other] and reach[other, row] and other != row
        ]
        real = sorted({column for column in could if column < others and np.isfinite(costs[row, column])})
        if mine < others and np.isfinite(costs[row, mine]):
            if could:
                open_rows[row] = sorted({mine, *real})
            else:
                clear[row] = mine
        elif real:
            open_rows[row] = real
    return clear, open_rows


def _closure(edges: Any) -> Any:
    """Return the nodes that each node reaches: [N, N] of bool."""
    reach = edges | np.eye(len(edges), dtype=bool)
    while True:
        further = (reach.astype(np.float32) @ reach.astype(np.float32)) > 0
        if (further == reach).all():
            return reach
        reach = further
