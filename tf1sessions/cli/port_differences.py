"""Differences between plain Python and ``tf1sessions run`` that say nothing, found in the text of ported programs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any

from tf1sessions.doctor.check import check
from tf1sessions.doctor.rules.registry import RULES
from tf1sessions.errors import ScriptUsageError
from tf1sessions.source.files import SourceText
from tf1sessions.source.program import Program, SourceFile, SourceLine
from tf1sessions.source.uses import FileUses, read_file

__all__ = ["Difference", "differences"]

_SEEDS = frozenset(["tf.set_random_seed", "tf.random.set_random_seed"])
_OTHER_RULES = frozenset(name for name in RULES if not name.startswith("numpy-"))


@dataclasses.dataclass(frozen=True)
class Difference:
    """Something that plain Python computes otherwise.

    Attributes:
        rule: The doctor's rule that found it; ``"seeds"`` for the random numbers of a graph's seed.
        place: Where, in the ported text.
        what: What is there, and what to do.
    """

    rule: str
    place: SourceLine
    what: str

    def as_dict(self) -> dict[str, Any]:
        return {"rule": self.rule, "place": dataclasses.asdict(self.place), "what": self.what}


def differences(sources: Iterable[SourceText]) -> Iterator[Difference]:
    """Yield what plain Python computes otherwise in these files; files that are no Python are passed over."""
    for source in sources:
        file = read_file(source)
        if isinstance(file, FileUses):
            yield from _of_numpy(file)
            yield from _of_seeds(file)


def _of_numpy(file: FileUses) -> Iterator[Difference]:
    source = file.source
    lines = tuple(source.text.split("\n"))
    cells = None
    if source.notebook is not None:
        places = [source.place(number) for number in range(1, len(lines) + 1)]
        cells = tuple((place.cell or 1, place.line) for place in places)
    program = Program((SourceFile("__main__", source.shown, file.tree, lines, cells),))
    try:
        found = check(program, _OTHER_RULES)
    except ScriptUsageError:  # it is nested too deeply for the doctor; the port has read it all the same
        return
    for finding in found:
        if finding.place is not None:
            yield Difference(finding.rule, finding.place, f"{finding.title}. {finding.fix}")


def _of_seeds(file: FileUses) -> Iterator[Difference]:
    for use in file.uses:
        if use.name in _SEEDS and use.call is not None:
            yield Difference(
                "seeds",
                file.place(use.node),
                "By a graph's seed plain Python draws other numbers than TensorFlow 1 did: for those, run the program "
                "with `tf1sessions run --seeds tf1`, or give each operation a seed of its own.",
            )
            return
