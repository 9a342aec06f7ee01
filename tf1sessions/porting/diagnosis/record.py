"""The reason why a script's values differ from a recording of it: one cause, with its evidence."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["CAUSES", "Diagnosis"]

#: Cause → what it means.
CAUSES: Mapping[str, str] = {
    "none": "everything agrees within the tolerances",
    "seeds": "an operation draws with other seeds, or with none",
    "kernel": "TensorFlow computes the same operations of the same values otherwise",
    "code": "the program builds another graph, feeds or reads other data, or makes other calls",
    "unknown": "the recording does not carry enough to decide",
}


@dataclasses.dataclass(frozen=True)
class Diagnosis:
    """The leading cause of the first difference.

    Attributes:
        cause: One of :data:`CAUSES`.
        text: What it is, in a sentence.
        evidence: Why, in sentences, the strongest first.
        advice: What to do, in sentences.
        unknowns: What this recording does not show.
        about: The same for programs: ``operation``, ``type``, ``line``, ``call``, ``recorded``, ``now`` and others,
            where they apply.
        given: What the script got from the recording in a second run; empty where there was none.
        then: What that run's first difference comes from.
    """

    cause: str
    text: str
    evidence: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    unknowns: tuple[str, ...] = ()
    about: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    given: tuple[str, ...] = ()
    then: Diagnosis | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return all of it, as JSON has it."""
        found = {each.name: getattr(self, each.name) for each in dataclasses.fields(self)}
        found["untold"] = found.pop("unknowns")
        found["then"] = None if self.then is None else self.then.as_dict()
        return found

    @property
    def lines(self) -> Iterator[str]:
        """The report."""
        yield f"diagnosis: {self.cause}: {self.text}"
        for line in self.evidence:
            yield f"  {line}"
        if self.then is not None:
            yield f"  {self.again}"
            yield from (f"    {line}" for line in self.then.evidence[:4])
        for line in self.advice:
            yield f"  to do: {line}"
        for line in self.unknowns:
            yield f"  not known: {line}"

    @property
    def again(self) -> str:
        """The result of a second run, in a sentence; empty where there was none."""
        if self.then is None:
            return ""
        return f"run again with the recording's {' and '.join(self.given)}: {self.then.cause}: {self.then.text}"
