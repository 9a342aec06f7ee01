"""Weighted alternating least squares: a sparse matrix as a product of two of low rank.

A row's factors are the solution of a system of K equations in which the factors of the columns are constant, and the
other way round. For the entries that are not in the matrix the sum is over all of them, by a Gramian; those that are
in it add to it.

Letters of shapes: N rows, M columns, K components.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...runtime import tf1 as tf

__all__ = ["WALSModel"]


class _Side(NamedTuple):
    """The variables of the rows, or of the columns: factors and weights in shards, and the Gramian of the factors."""

    size: int
    factors: list[Any]
    weights: list[Any] | None
    gramian: Any


class WALSModel:
    """The graph of a factorization ``A ~ U V^T``, with weights ``unobserved + row_weight * col_weight`` of entries.

    For a sweep over rows, run ``row_update_prep_gramian_op`` and ``initialize_row_update_op``, and then the update
    operation of :meth:`update_row_factors` for all rows; the same for columns.

    Args:
        input_rows: N.
        input_cols: M.
        n_components: K.
        unobserved_weight: The weight of entries that are not in the matrix.
        regularization: The weight of the factors' squares; none without it.
        row_init: The first factors [N, K] of rows, a list of those of each shard, or "random".
        col_init: Those of columns.
        num_row_shards: In how many variables the factors of rows are.
        num_col_shards: In how many variables those of columns are.
        row_weights: A number, a list of weights for each shard, or None for both: then all weights are equal.
        col_weights: The same for columns.
        use_factors_weights_cache: Of no effect: the variables are read where they are.
        use_gramian_cache: Of no effect.
        use_scoped_vars: Whether names of variables begin with the name scope.

    Raises:
        ValueError: Weights do not fit.
    """

    def __init__(
        self,
        input_rows: int,
        input_cols: int,
        n_components: int,
        unobserved_weight: float = 0.1,
        regularization: float | None = None,
        row_init: Any = "random",
        col_init: Any = "random",
        num_row_shards: int = 1,
        num_col_shards: int = 1,
        row_weights: Any = 1,
        col_weights: Any = 1,
        use_factors_weights_cache: bool = True,
        use_gramian_cache: bool = True,
        use_scoped_vars: bool = False,
    ) -> None:
        del use_factors_weights_cache, use_gramian_cache
        if (row_weights is None) != (col_weights is None):
            raise ValueError("row_weights and col_weights must both be None, or neither of them.")
        self._k = n_components
        self._unobserved = unobserved_weight
        self._regularization = regularization
        scope = tf.get_default_graph().get_name_scope() if use_scoped_vars else ""
        prefix = f"{scope}/" if scope else ""
        with tf.name_scope(None):
            weights = [
                _weights(name, given, size, shards)
                for name, given, size, shards in (
                    (f"{prefix}row_weights", row_weights, input_rows, num_row_shards),
                    (f"{prefix}col_weights", col_weights, input_cols, num_col_shards),
                )
            ]
            factors = [
                self._factors(name, init, size, shards)
                for name, init, size, shards in (
                    (f"{prefix}row_factors", row_init, input_rows, num_row_shards),
                    (f"{prefix}col_factors", col_init, input_cols, num_col_shards),
                )
            ]
            zeros = tf.zeros([n_components, n_components])
            gramians = [
                tf.Variable(zeros, name=f"{prefix}{name}_gramian", use_resource=True) for name in ("row", "col")
            ]
        self._rows = _Side(input_rows, factors[0], weights[0], gramians[0])
        self._cols = _Side(input_cols, factors[1], weights[1], gramians[1])
        self._prepare_rows = _prepared(self._cols)  # rows are solved with the Gramian of the columns
        self._prepare_cols = _prepared(self._rows)
        self._nothing = tf.no_op(name="worker_init")

    def _factors(self, name: str, init: Any, size: int, shards: int) -> list[Any]:
        if isinstance(init, str):
            parts = [tf.random.normal([part, self._k]) for part in _sizes(size, shards)]
        elif isinstance(init, (list, tuple)) and len(init) == shards:
            parts = [tf.convert_to_tensor(part, tf.float32) for part in init]
        else:
            parts = tf.split(tf.convert_to_tensor(init, tf.float32), _sizes(size, shards), 0)
        return [tf.Variable(part, name=f"{name}_shard_{i}", use_resource=True) for i, part in enumerate(parts)]

    # -------------------------------------------------------------------------------------- variables and preparation

    @property
    def row_factors(self) -> list[Any]:
        """The variables of the rows' factors."""
        return self._rows.factors

    @property
    def col_factors(self) -> list[Any]:
        """The variables of the columns' factors."""
        return self._cols.factors

    @property
    def row_weights(self) -> list[Any] | None:
        """The variables of the rows' weights; None if all weights are equal."""
        return self._rows.weights

    @property
    def col_weights(self) -> list[Any] | None:
        """The variables of the columns' weights; None if all weights are equal."""
        return self._cols.weights

    @property
    def initialize_op(self) -> Any:
        """Initializes all variables."""
        sides = (self._rows, self._cols)
        variables = [v for side in sides for v in (*side.factors, *(side.weights or ()), side.gramian)]
        return tf.variables_initializer(variables)

    @property
    def worker_init(self) -> Any:
        """Does nothing: there are no caches."""
        return self._nothing

    @property
    def row_update_prep_gramian_op(self) -> Any:
        """Computes what a sweep over rows needs."""
        return self._prepare_rows

    @property
    def col_update_prep_gramian_op(self) -> Any:
        """Computes what a sweep over columns needs."""
        return self._prepare_cols

    @property
    def initialize_row_update_op(self) -> Any:
        """Does nothing: there are no caches."""
        return self._nothing

    @property
    def initialize_col_update_op(self) -> Any:
        """Does nothing: there are no caches."""
        return self._nothing

    # ------------------------------------------------------------------------------------------- updates, projections

    def update_row_factors(self, sp_input: Any = None, transpose_input: bool = False) -> tuple[Any, ...]:
        """Solves for the factors of the rows that are in ``sp_input``.

        Args:
            sp_input: A ``tf.SparseTensor`` of rows of the matrix, with the matrix's numbers of rows and columns.
            transpose_input: Whether it has columns of the transposed matrix in place of rows.

        Returns:
            The new factors, in the order in which the rows come first; the operation that updates them; the loss,
            the regularization and the sum of weights, all as of the whole matrix.
        """
        return self._update(self._rows, self._cols, sp_input, transpose_input)

    def update_col_factors(self, sp_input: Any = None, transpose_input: bool = False) -> tuple[Any, ...]:
        """Solves for the factors of the columns that are in ``sp_input``; see :meth:`update_row_factors`."""
        return self._update(self._cols, self._rows, sp_input, not transpose_input)

    def project_row_factors(
        self, sp_input: Any = None, transpose_input: bool = False, projection_weights: Any = None
    ) -> Any:
        """The factors of rows that need not be the model's.

        Args:
            sp_input: A ``tf.SparseTensor`` of rows, with the matrix's numbers of columns.
            transpose_input: Whether it is of columns of the transposed matrix.
            projection_weights: The rows' weights, a number or a vector; 1 without it.
        """
        return self._project(self._cols, sp_input, transpose_input, projection_weights)

    def project_col_factors(
        self, sp_input: Any = None, transpose_input: bool = False, projection_weights: Any = None
    ) -> Any:
        """The factors of columns that need not be the model's; see :meth:`project_row_factors`."""
        return self._project(self._rows, sp_input, not transpose_input, projection_weights)

    def _project(self, others: _Side, sp_input: Any, transpose: bool, weights: Any) -> Any:
        entries = _entries(sp_input, transpose)
        if weights is None:
            weights = 1.0
        own = tf.broadcast_to(tf.convert_to_tensor(weights, tf.float32), tf.shape(entries.numbers))
        # Without a sweep there is no Gramian: it is computed here.
        factors = tf.concat(others.factors, 0)
        return self._solve(others, entries, own, tf.matmul(factors, factors, transpose_a=True))

    def _solve(self, others: _Side, entries: _Entries, own_weights: Any, gramian: Any) -> Any:
        """Factors [rows, K] with the least loss."""
        factors = tf.gather(tf.concat(others.factors, 0), entries.columns)
        weights = self._weights_of(others, entries, own_weights)
        count = tf.size(entries.numbers)
        outer = (weights[:, tf.newaxis] * factors)[:, :, tf.newaxis] * factors[:, tf.newaxis]
        left = self._unobserved * gramian + tf.math.unsorted_segment_sum(outer, entries.places, count)
        if self._regularization is not None:
            left += self._regularization * tf.eye(self._k)
        right = ((self._unobserved + weights) * entries.values)[:, tf.newaxis] * factors
        right = tf.math.unsorted_segment_sum(right, entries.places, count)
        return tf.linalg.solve(left, right[:, :, tf.newaxis])[:, :, 0]

    def _weights_of(self, others: _Side, entries: _Entries, own_weights: Any) -> Any:
        """Return what is added to the weight of each entry that is in the matrix."""
        if others.weights is None:
            return tf.zeros_like(entries.values)
        return tf.gather(own_weights, entries.places) * tf.gather(tf.concat(others.weights, 0), entries.columns)

    def _update(self, side: _Side, others: _Side, sp_input: Any, transpose: bool) -> tuple[Any, ...]:
        entries = _entries(sp_input, transpose)
        own = tf.ones(tf.shape(entries.numbers))
        if side.weights is not None:
            own = tf.gather(tf.concat(side.weights, 0), entries.numbers)
        gramian = others.gramian.read_value()
        new = self._solve(others, entries, own, gramian)
        count = tf.cast(tf.size(entries.numbers), tf.float32)
        share = side.size / count
        weights = self._weights_of(others, entries, own)
        found = tf.reduce_sum(
            tf.gather(new, entries.places) * tf.gather(tf.concat(others.factors, 0), entries.columns), 1
        )
        observed = (self._unobserved + weights) * tf.square(entries.values - found) - self._unobserved * tf.square(
            found
        )
        elsewhere = self._unobserved * tf.reduce_sum(tf.matmul(new, gramian) * new)
        loss = share * (tf.reduce_sum(observed) + elsewhere)
        regularization = tf.zeros([])
        if self._regularization is not None:
            regularization = self._regularization * (
                share * tf.reduce_sum(tf.square(new)) + tf.reduce_sum(tf.linalg.diag_part(gramian))
            )
        sum_weights = share * (tf.reduce_sum(weights) + self._unobserved * count * others.size)
        return new, self._assign(side, entries.numbers, new), loss, regularization, sum_weights

    def _assign(self, side: _Side, numbers: Any, values: Any) -> Any:
        changes, start = [], 0
        for shard, size in zip(side.factors, _sizes(side.size, len(side.factors)), strict=True):
            here = tf.logical_and(numbers >= start, numbers < start + size)
            slices = tf.IndexedSlices(tf.boolean_mask(values, here), tf.boolean_mask(numbers, here) - start)
            changes.append(shard.scatter_update(slices))
            start += size
        return tf.group(*changes)


class _Entries(NamedTuple):
    """The entries of a sparse tensor, of E in R rows.

    Attributes:
        numbers: The rows that have entries [R], in the order of the first entry.
        places: For each entry the place of its row in ``numbers`` [E].
        columns: The entries' columns [E].
        values: The entries [E].
    """

    numbers: Any
    places: Any
    columns: Any
    values: Any


def _entries(sp_input: Any, transpose: bool) -> _Entries:
    if not isinstance(sp_input, tf.SparseTensor):
        raise TypeError(f"sp_input must be a SparseTensor, and is {sp_input!r}")
    rows, columns = (sp_input.indices[:, i] for i in ((1, 0) if transpose else (0, 1)))
    numbers, places = tf.unique(rows)
    return _Entries(numbers, places, columns, sp_input.values)


def _prepared(side: _Side) -> Any:
    factors = tf.concat(side.factors, 0)
    return tf.group(side.gramian.assign(tf.matmul(factors, factors, transpose_a=True)))


def _sizes(size: int, shards: int) -> list[int]:
    """Return the number of rows of each shard: the first ones have one more if they do not come out even."""
    return [size // shards + (i < size % shards) for i in range(shards)]


def _weights(name: str, given: Any, size: int, shards: int) -> list[Any] | None:
    if given is None:
        return None
    sizes = _sizes(size, shards)
    if isinstance(given, Sequence) and not isinstance(given, str):
        if [len(part) for part in given] != sizes:
            raise ValueError(f"{name} must be lists of {sizes} numbers, and has {[len(part) for part in given]}")
        values = [tf.constant(part, tf.float32) for part in given]
    else:
        values = [tf.fill([part], tf.cast(given, tf.float32)) for part in sizes]
    return [tf.Variable(value, name=f"{name}_shard_{i}", use_resource=True) for i, value in enumerate(values)]
