"""Mixtures: a categorical distribution draws the component that is drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...runtime import tf1 as tf
from .common import FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED, Distribution, parameter, util

__all__ = ["Mixture", "MixtureSameFamily"]


class Mixture(Distribution):  # type: ignore[misc]
    """A mixture of the distributions ``components``, of one dtype and one shape, which ``cat`` draws the numbers of.

    With ``use_static_graph``, all components draw all samples, and not only those that are theirs.
    """

    cat = parameter("cat", "The categorical distribution.")
    components = parameter("components", "The components.")
    num_components = parameter("num_components", "How many components there are.")

    def __init__(
        self,
        cat: Any,
        components: Sequence[Any],
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        use_static_graph: bool = False,
        name: str = "Mixture",
    ) -> None:
        parameters = dict(locals())
        self._check(cat, components)
        self._num_components = len(components)
        self._cat, self._components = cat, list(components)
        self._static_event_shape = components[0].event_shape
        self._static_batch_shape = cat.batch_shape
        for each in components:
            self._static_event_shape = self._static_event_shape.merge_with(each.event_shape)
            self._static_batch_shape = self._static_batch_shape.merge_with(each.batch_shape)
        if self._static_event_shape.ndims is None:
            raise ValueError("Expected to know rank(event_shape) from components, but none of them has a static one")
        with tf.name_scope(name) as name:
            self._runtime_checks = []
            if validate_args:
                batch = cat.batch_shape_tensor()
                self._runtime_checks = [
                    tf.assert_equal(each.batch_shape_tensor(), batch, message="batch shapes differ")
                    for each in components
                ]
        self._use_static_graph = use_static_graph
        parents = list(cat._graph_parents)
        for each in components:
            parents += each._graph_parents
        super().__init__(
            dtype=components[0].dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=parents,
            name=name,
        )

    @staticmethod
    def _check(cat: Any, components: Sequence[Any]) -> None:
        if not isinstance(cat, tf.distributions.Categorical):
            raise TypeError(f"cat must be a Categorical distribution, but saw: {cat}")
        if not components:
            raise ValueError("components must be a non-empty list or tuple")
        if not all([isinstance(each, Distribution) for each in components]):
            raise TypeError("all entries in components must be Distribution instances")
        if len({each.dtype for each in components}) > 1:
            raise TypeError("All components must have the same dtype")
        known = tf.get_static_value(cat.event_size)
        if known is not None and known != len(components):
            raise ValueError(f"cat.num_classes != len(components): {known} vs. {len(components)}")

    def _batch_shape_tensor(self) -> Any:
        return self.cat.batch_shape_tensor()

    def _batch_shape(self) -> Any:
        return self._static_batch_shape

    def _event_shape_tensor(self) -> Any:
        return self.components[0].event_shape_tensor()

    def _event_shape(self) -> Any:
        return self._static_event_shape

    def _weights(self, log: bool) -> list[Any]:
        """A tensor for each component, with the shape of the batch and a 1 for each dimension of an event."""
        chances = (tf.nn.log_softmax if log else tf.nn.softmax)(self.cat.logits)
        found: list[Any] = tf.unstack(chances, num=self.num_components, axis=-1)
        return found

    def _spread(self, weight: Any) -> Any:
        for _ in range(self._static_event_shape.ndims):
            weight = weight[..., tf.newaxis]
        return weight

    def _mean(self) -> Any:
        with tf.control_dependencies(self._runtime_checks):
            means = [each.mean() for each in self.components]
            return tf.add_n([self._spread(w) * mean for w, mean in zip(self._weights(False), means, strict=True)])

    def _variance(self) -> Any:
        with tf.control_dependencies(self._runtime_checks):
            weights = [self._spread(weight) for weight in self._weights(False)]
            means = [each.mean() for each in self.components]
            deviations = [each.stddev() for each in self.components]
            mean = tf.add_n([w * m for w, m in zip(weights, means, strict=True)])
            squares = [w * (tf.square(s) + tf.square(m)) for w, m, s in zip(weights, means, deviations, strict=True)]
            return tf.add_n(squares) - tf.square(mean)

    def _stddev(self) -> Any:
        return tf.sqrt(self._variance())

    def _mixed(self, parts: list[Any]) -> Any:
        total = [weight + part for weight, part in zip(self._weights(True), parts, strict=True)]
        return tf.reduce_logsumexp(tf.stack(total, axis=0), axis=[0])

    def _log_prob(self, x: Any) -> Any:
        with tf.control_dependencies(self._runtime_checks):
            x = tf.convert_to_tensor(x, name="x")
            return self._mixed([each.log_prob(x) for each in self.components])

    def _log_cdf(self, x: Any) -> Any:
        with tf.control_dependencies(self._runtime_checks):
            x = tf.convert_to_tensor(x, name="x")
            return self._mixed([each.log_cdf(x) for each in self.components])

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        with tf.control_dependencies(self._runtime_checks):
            n = tf.convert_to_tensor(n, name="n")
            numbers = self.cat.sample(n, seed=seed)
            return self._sample_all(n, numbers, seed) if self._use_static_graph else self._sample_own(n, numbers, seed)

    def _sample_all(self, n: Any, numbers: Any, seed: Any) -> Any:
        drawn = []
        for each in self.components:
            seed = util.gen_new_seed(seed, "mixture")
            drawn.append(each.sample(n, seed=seed))
        ndims = self._static_event_shape.ndims
        stacked = tf.stack(drawn, axis=-ndims - 1)
        mask = self._spread(tf.one_hot(numbers, self.num_components, dtype=drawn[0].dtype))
        return tf.reduce_sum(stacked * mask, axis=-ndims - 1)

    def _sample_own(self, n: Any, numbers: Any, seed: Any) -> Any:
        """Let each component draw as often as its number was drawn, for the whole batch; take what is for the place."""
        batch, event = self.batch_shape_tensor(), self.event_shape_tensor()
        places = tf.reduce_prod(batch)
        at = tf.reshape(tf.range(n * places), [-1])
        numbers = tf.reshape(numbers, [-1])
        indices = tf.dynamic_partition(at, numbers, self.num_components)
        drawn = []
        for each, own in zip(self.components, indices, strict=True):
            seed = util.gen_new_seed(seed, "mixture")
            count = tf.size(own)
            values = tf.reshape(each.sample(count, seed=seed), tf.concat([[count * places], event], axis=0))
            drawn.append(tf.gather(values, tf.range(count) * places + tf.floormod(own, places)))
        found = tf.reshape(tf.dynamic_stitch(indices, drawn), tf.concat([[n], batch, event], axis=0))
        known = tf.get_static_value(n)
        found.set_shape(tf.TensorShape([known]).concatenate(self.batch_shape).concatenate(self.event_shape))
        return found

    def entropy_lower_bound(self, name: str = "entropy_lower_bound") -> Any:
        """Return the mean of the components' entropies, which the mixture's is not less than."""
        with self._name_scope(name, values=[self.cat.logits]), tf.control_dependencies(self._runtime_checks):
            entropies = [each.entropy() for each in self.components]
            return tf.add_n([w * entropy for w, entropy in zip(self._weights(False), entropies, strict=True)])

    def _cat_probs(self, log_probs: bool) -> list[Any]:
        """The chances of the components, or their logarithms."""
        return self._weights(log_probs)


class MixtureSameFamily(Distribution):  # type: ignore[misc]
    """A mixture whose components are the last dimension of one distribution's batch."""

    mixture_distribution = parameter("mixture_distribution", "The categorical distribution.")
    components_distribution = parameter("components_distribution", "The components.")

    def __init__(
        self,
        mixture_distribution: Any,
        components_distribution: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MixtureSameFamily",
    ) -> None:
        parameters = dict(locals())
        with tf.name_scope(name) as name:
            self._mixture_distribution = mixture_distribution
            self._components_distribution = components_distribution
            components = components_distribution
            self._event_ndims = components.event_shape.ndims
            if not mixture_distribution.dtype.is_integer:
                raise ValueError("`mixture_distribution.dtype` is not over integers")
            self._check_shapes()
            self._num_components = tf.compat.dimension_value(components.batch_shape.with_rank_at_least(1)[-1])
            if self._num_components is None:
                self._num_components = components.batch_shape_tensor()[-1]
        super().__init__(
            dtype=components.dtype,
            reparameterization_type=(
                FULLY_REPARAMETERIZED
                if mixture_distribution.reparameterization_type == FULLY_REPARAMETERIZED
                and components.reparameterization_type == FULLY_REPARAMETERIZED
                else NOT_REPARAMETERIZED
            ),
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=mixture_distribution._graph_parents + components._graph_parents,
            name=name,
        )

    def _check_shapes(self) -> None:
        batch = self.mixture_distribution.batch_shape
        own = self.components_distribution.batch_shape.with_rank_at_least(1)
        if batch.ndims and batch.is_fully_defined() and own.is_fully_defined() and batch != own[:-1]:
            raise ValueError(
                f"`mixture_distribution.batch_shape` ({batch}) is not compatible with "
                f"`components_distribution.batch_shape` ({own[:-1]})"
            )
        count = self.mixture_distribution.logits.shape.with_rank_at_least(1)[-1]
        count, mine = tf.compat.dimension_value(count), tf.compat.dimension_value(own[-1])
        if count is not None and mine is not None and count != mine:
            raise ValueError(f"`mixture_distribution components` ({count}) does not equal that of components ({mine})")

    def _batch_shape_tensor(self) -> Any:
        return self.components_distribution.batch_shape_tensor()[:-1]

    def _batch_shape(self) -> Any:
        return self.components_distribution.batch_shape.with_rank_at_least(1)[:-1]

    def _event_shape_tensor(self) -> Any:
        return self.components_distribution.event_shape_tensor()

    def _event_shape(self) -> Any:
        return self.components_distribution.event_shape

    def _spread(self, weights: Any, ndims: int | None = None) -> Any:
        for _ in range(self._event_ndims if ndims is None else ndims):
            weights = weights[..., tf.newaxis]
        return weights

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        # as in 1.15.5, the seed is not used
        x = self.components_distribution.sample(n)
        mask = tf.one_hot(self.mixture_distribution.sample(n), self._num_components, dtype=x.dtype)
        if self.mixture_distribution.batch_shape.ndims == 0:
            for _ in range(self.batch_shape.ndims or 0):
                mask = mask[:, tf.newaxis]
        return tf.reduce_sum(x * self._spread(mask), axis=-1 - self._event_ndims)

    def _padded(self, x: Any) -> Any:
        """``x`` with a dimension for the components."""
        return tf.expand_dims(x, axis=-1 - self._event_ndims)

    def _mixed(self, parts: Any) -> Any:
        weights = tf.nn.log_softmax(self.mixture_distribution.logits, axis=-1)
        return tf.reduce_logsumexp(parts + weights, axis=-1)

    def _log_prob(self, x: Any) -> Any:
        return self._mixed(self.components_distribution.log_prob(self._padded(x)))

    def _log_cdf(self, x: Any) -> Any:
        return self._mixed(self.components_distribution.log_cdf(self._padded(x)))

    def _mean(self) -> Any:
        weights = self._spread(self.mixture_distribution.probs)
        return tf.reduce_sum(weights * self.components_distribution.mean(), axis=-1 - self._event_ndims)

    def _variance(self) -> Any:
        weights, axis = self._spread(self.mixture_distribution.probs), -1 - self._event_ndims
        centered = tf.square(self.components_distribution.mean() - self._padded(self._mean()))
        inner = tf.reduce_sum(weights * self.components_distribution.variance(), axis=axis)
        return inner + tf.reduce_sum(weights * centered, axis=axis)

    def _covariance(self) -> Any:
        if self._event_ndims != 1:
            raise NotImplementedError("covariance is for vectors only")
        weights = self._spread(self.mixture_distribution.probs, 2)
        difference = self.components_distribution.mean() - self._padded(self._mean())
        outer = difference[..., tf.newaxis] * difference[..., tf.newaxis, :]
        return tf.reduce_sum(weights * (self.components_distribution.covariance() + outer), axis=-3)
