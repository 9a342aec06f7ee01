"""A model that TensorFlow 1 wrote, as a side: it runs in a session, where any of its tensors can be fetched."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from tf1sessions.errors import ConversionError, UsageError
from tf1sessions.models.interface import other_signatures
from tf1sessions.models.model import Model, Signature
from tf1sessions.porting.parity.sides import Side, array
from tf1sessions.porting.parity.views import View

__all__ = ["ArtifactSide"]


class ArtifactSide(Side):
    """A loaded model.

    Args:
        model: From :func:`tf1sessions.load`.
        what: What the user calls it.
        signature: Which of its signatures; the model's own by default.
        owned: Whether it is closed with the side.
    """

    def __init__(self, model: Model, what: str, signature: str | None = None, owned: bool = True) -> None:
        super().__init__(what, model.kind)
        self.model = model
        self._signature = _signature(model, signature, what)
        self._owned = owned
        self.inputs = self._signature.inputs
        self.outputs = self._signature.outputs
        self.notes += [note for note in model.notes if note]

    @functools.cached_property
    def view(self) -> View | None:
        feeds, fetches = self._signature.tensors()
        try:
            return View(self.model.graph, fetches.values(), feeds.values(), self.what)
        except ConversionError as error:
            self.no_view = str(error)
            return None

    def run(self, given: Mapping[str, Any]) -> dict[str, Any]:
        return {name: array(value) for name, value in self._signature(given).items()}

    def fetch(self, names: Sequence[str], given: Mapping[str, Any]) -> list[Any]:
        feeds = {self._signature.inputs[name].tensor: value for name, value in given.items()}
        return [array(value) for value in self.model.run(list(names), feeds)]

    def close(self) -> None:
        if self._owned:
            self.model.close()


def _signature(model: Model, name: str | None, what: str) -> Signature:
    if name is None:
        return model.signature
    if name not in model.signatures:
        raise UsageError(
            f"{what} has no signature {name!r}",
            where="signature=",
            next_step=other_signatures(name, model.signatures),
        )
    return model.signatures[name]
