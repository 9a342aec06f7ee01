"""The proof that a converted model gives what TensorFlow 1's side gives: the same inputs through both.

::

    the source, in a session ──▶ answered: inputs made, outputs ──┐
                                                                  ├──▶ prove: compared ──▶ Proof, or a ConversionError
    the SavedModel, loaded again ──▶ its outputs ─────────────────┘

The two are apart so that a thread can have the answers while the SavedModel is written. A signature whose inputs cannot
be made is named with the reason, and so is an output that is another in each run.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np

from tf1sessions.errors import ConversionError
from tf1sessions.models.model import Model
from tf1sessions.porting.calls import argument_names
from tf1sessions.porting.conversion import Proof
from tf1sessions.porting.parity.artifacts import ArtifactSide
from tf1sessions.porting.parity.comparison import Compared, Comparison
from tf1sessions.porting.parity.functions import tensor_arguments
from tf1sessions.porting.parity.inputs import made
from tf1sessions.porting.parity.measures import measure
from tf1sessions.porting.parity.sides import RUN_ERRORS
from tf1sessions.porting.parity.verifying import verify

__all__ = ["ReferenceAnswer", "answered", "prove"]

#: Numbers of rows to try where a model refuses the one that is made: a graph may split its batch. Arbitrary.
_OTHER_ROWS = (4, 1)


@dataclasses.dataclass(frozen=True)
class ReferenceAnswer:
    """The answer of TensorFlow 1's side for one signature.

    Attributes:
        given: The inputs that were made.
        changing: The outputs that are others in each run.
        refused: Why it takes no inputs that can be made; None where it does.
    """

    given: Mapping[str, Any]
    changing: Collection[str]
    refused: Exception | None


def answered(model: Model, signatures: Iterable[str]) -> dict[str, ReferenceAnswer]:
    """Makes inputs for these signatures, and finds out what TensorFlow 1's side makes of them."""
    found = {}
    for name in signatures:
        side = ArtifactSide(model, model.path, name, owned=False)
        given, first, refused = _first_answer(side)
        second = side.run(given) if refused is None else {}
        changing = {key for key, value in first.items() if not _same(value, second[key])}
        found[name] = ReferenceAnswer(given, changing, refused)
    return found


def prove(model: Model, answers: Mapping[str, ReferenceAnswer], written: Mapping[str, tuple[str, Any]]) -> Proof:
    """Compares what both sides give for inputs that are made, the same ones in each run.

    Args:
        model: TensorFlow 1's side.
        answers: Of it, to its signatures.
        written: Its signatures -> what they are called in the SavedModel, and the functions that are there.

    Raises:
        ConversionError: An output is another one, by more than kernels of one operation differ.
    """
    differences: dict[str, float] = {}
    not_compared: dict[str, str] = {}
    for name, (called, function) in written.items():
        answer = answers[name]
        if answer.refused is not None:
            not_compared[called] = f"it refuses the inputs that are made for it: {_reason(answer.refused)}"
            continue
        taken = {argument for argument, _ in tensor_arguments(function)}
        names = {name: argument for name, argument in argument_names(answer.given).items() if argument in taken}
        found = verify(model, function, inputs=answer.given, signature=name, names=names)
        assert isinstance(found, Comparison)
        for each in found.outputs:
            full = f"{called}: {each.name}"
            if each.name in answer.changing:
                not_compared[full] = "it is another in each run, by random numbers or by what a run changes"
            elif each.problem is not None:
                raise _differs(model.path, full, each)
            else:
                differences[full] = each.difference.absolute or 0.0 if each.difference is not None else 0.0
    return Proof(differences, not_compared)


def _first_answer(side: ArtifactSide) -> tuple[dict[str, Any], dict[str, Any], Exception | None]:
    """Inputs, and the outputs for them; or why there are none, for the first inputs that were made."""
    refused: Exception | None = None
    for rows in (None, *_OTHER_ROWS):
        try:
            given = _inputs(side, rows)
            return given, side.run(given), None
        except RUN_ERRORS as error:
            refused = refused or error
    return {}, {}, refused


def _inputs(side: ArtifactSide, rows: int | None) -> dict[str, Any]:
    """Inputs that are made; with another number of rows, where that is open."""
    assert side.inputs is not None
    required = {name: spec for name, spec in side.inputs.items() if not spec.optional}
    given = {name: value for name, (value, _) in made(required, side.view, 0).items()}
    for name, spec in required.items() if rows is not None else ():
        if spec.shape is None or (spec.shape.rank and spec.shape[0] is None):
            given[name] = np.resize(given[name], (rows, *given[name].shape[1:]))
    return given


def _same(one: Any, other: Any) -> bool:
    return one.shape == other.shape and measure(one, other).same


def _differs(where: str, name: str, compared: Compared) -> ConversionError:
    return ConversionError(
        f"the converted model does not give what TensorFlow 1's side gives: of {name}, {compared.problem}",
        where=where,
        next_step="Nothing was written. --no-check (check=False) writes it all the same; `tf1sessions verify MODEL OUT "
        "--all-tensors` then shows where the two part.",
        nodes=(name,),
    )


def _reason(error: Exception) -> str:
    """Return what TensorFlow says, without where in the graph."""
    lines = [line.strip() for line in str(getattr(error, "message", None) or error).splitlines()]
    texts = [line for line in lines if line and not line.startswith("[[")]
    return texts[-1][:200] if texts else type(error).__name__
