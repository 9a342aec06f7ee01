"""Networks: objects of layers, with a scope of their own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from ...runtime import tf1 as tf

__all__ = ["Network", "Sequential"]


class Network:
    """Base of networks: subclasses give ``call``, and give ``track_layer`` their layers.

    Args:
        name: Of the scope of the variables; made from the name of the class without it.
    """

    def __init__(self, name: str | None = None) -> None:
        self._given_name = name
        self._scope: Any = None
        self._layers: list[Any] = []

    @property
    def name(self) -> str:
        """The given name, or one that is unique when the network has been called."""
        if self._scope is not None:
            name: str = self._scope.name.rpartition("/")[2]
            return name
        return self._given_name or self._default_name()

    @classmethod
    def _default_name(cls) -> str:
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", cls.__name__).lower()

    @property
    def layers(self) -> list[Any]:
        return list(self._layers)

    @property
    def variables(self) -> list[Any]:
        return [variable for layer in self._layers for variable in layer.variables]

    weights = variables

    @property
    def trainable_variables(self) -> list[Any]:
        return [variable for layer in self._layers for variable in layer.trainable_variables]

    trainable_weights = trainable_variables

    @property
    def non_trainable_variables(self) -> list[Any]:
        return [variable for layer in self._layers for variable in layer.non_trainable_variables]

    def track_layer(self, layer: Any) -> Any:
        """Makes a layer, or another network, a part of this one; returns it.

        Raises:
            TypeError: It is neither.
        """
        if not isinstance(layer, (Network, tf.layers.Layer, tf.keras.layers.Layer)):
            raise TypeError(f"Network.track_layer() passed type {type(layer)}, not a tf.layers.Layer")
        self._layers.append(layer)
        return layer

    def get_layer(self, name: str | None = None, index: int | None = None) -> Any:
        """The layer of a name, or the ``index``-th.

        Raises:
            ValueError: There is none, or nothing was given.
        """
        if index is not None:
            if index >= len(self._layers):
                raise ValueError(
                    f"Was asked to retrieve layer at index {index} but model only has {len(self._layers)} layers."
                )
            return self._layers[index]
        if not name:
            raise ValueError("Provide either a layer name or layer index.")
        found = next((layer for layer in self._layers if layer.name == name), None)
        if found is None:
            raise ValueError(f"No such layer: {name}")
        return found

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs ``call`` in the scope."""
        scope = self._scope or self._given_name
        with tf.variable_scope(scope, default_name=self._default_name(), use_resource=True) as self._scope:
            return self.call(*args, **kwargs)

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the network computes."""
        raise NotImplementedError(f"{type(self).__name__} has no call()")


class Sequential(Network):
    """Layers and functions, one after another.

    Args:
        layers_funcs: Layers and functions of a tensor.
        name: As in :class:`Network`.
    """

    def __init__(self, layers_funcs: Iterable[Callable[..., Any]] | None = None, name: str | None = None) -> None:
        super().__init__(name=name)
        self._steps: list[Callable[..., Any]] = []
        for step in layers_funcs or ():
            self.add(step)

    def add(self, layer_func: Callable[..., Any]) -> None:
        """Adds a layer or a function at the end.

        Raises:
            TypeError: It is not callable.
        """
        if not callable(layer_func):
            raise TypeError("Sequential.add() takes only tf.layers.Layer objects or callables")
        if isinstance(layer_func, (Network, tf.layers.Layer, tf.keras.layers.Layer)):
            self.track_layer(layer_func)
        self._steps.append(layer_func)

    def call(self, inputs: Any, training: Any = None) -> Any:
        """Runs all of them."""
        for step in self._steps:
            inputs = step(inputs)
        return inputs
