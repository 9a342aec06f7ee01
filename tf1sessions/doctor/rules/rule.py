"""The form of a rule. Free of imports of the rules, so that there is no circle."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Iterable

from ..code import Code
from ..findings import Finding, FindingSource, Severity

__all__ = ["Hit", "Rule"]


@dataclasses.dataclass(frozen=True)
class Hit:
    """A place that a rule is about.

    Attributes:
        node: Where it is.
        title: What is there, in a line.
        others: Further nodes that belong to it, such as the session that came first.
        severity: Where it is another than the rule's.
        fix: Where it is another than the rule's.
        why: Where it is another than the rule's.
    """

    node: ast.AST
    title: str
    others: tuple[ast.AST, ...] = ()
    severity: Severity | None = None
    fix: str | None = None
    why: str | None = None


@dataclasses.dataclass(frozen=True)
class Rule:
    """One problem, and how it is seen in a program's text.

    Attributes:
        name: For ``--ignore``, for comments that suppress it, and for the guide.
        severity: How bad it is.
        what: What it finds, in a few words, for ``--list-rules``.
        why: Why it is a problem.
        fix: What to write instead.
        find: Gives the places.
    """

    name: str
    severity: Severity
    what: str
    why: str
    fix: str
    find: Callable[[Code], Iterable[Hit]]

    def findings(self, code: Code) -> list[Finding]:
        """Return what the rule finds in a program; each line once."""
        found: dict[object, Finding] = {}
        for hit in self.find(code):
            place = code.file(hit.node).place(hit.node)
            others = tuple(dict.fromkeys(code.file(node).place(node) for node in hit.others))
            finding = Finding(
                rule=self.name,
                severity=self.severity if hit.severity is None else hit.severity,
                title=hit.title,
                why=hit.why or self.why,
                fix=hit.fix or self.fix,
                source=FindingSource.STATIC,
                place=place,
                others=tuple(other for other in others if other != place),
            )
            found.setdefault(place, finding)
        return list(found.values())
