"""The decorators of the programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Program", "noted", "planted", "right"]


@dataclass(frozen=True)
class Program:
    """A program with its verdict.

    Attributes:
        run: The program.
        must: Kinds that are reported each time.
        may: Kinds that may be reported besides.
    """

    run: Callable[[], None]
    must: frozenset[str]
    may: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        return self.run.__name__


def right(run: Callable[[], None]) -> Program:
    return Program(run, frozenset())


def noted(run: Callable[[], None]) -> Program:
    return Program(run, frozenset({"publication without a seen order"}))


def planted(*kinds: str, may: tuple[str, ...] = ()) -> Callable[[Callable[[], None]], Program]:
    return lambda run: Program(run, frozenset(kinds), frozenset(may))
