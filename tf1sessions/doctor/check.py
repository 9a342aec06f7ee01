"""The static findings of a program: every rule, without what comments or the caller suppress."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from ..errors import ScriptUsageError
from ..source.program import Program, SourceLine
from .code import Code
from .findings import Finding, FindingSource, Severity, in_order
from .rules.registry import RULES

__all__ = ["MACHINE_RULES", "UNREAD", "check", "while_running", "without_suppressed"]

#: The name of the finding about files that could not be read; no rule finds it.
UNREAD = "not-read"

#: The names of what machine.py finds.
MACHINE_RULES = frozenset(
    """
    dead-package few-open-files gpu-memory-held gpu-not-there gpu-without-cuda gpus-hidden launch-blocking
    legacy-keras-off little-memory old-driver onednn-on requirement-not-met slow-protobuf small-shm tf-keras-missing
    tf-keras-version tf2-behavior-off threads-variable two-tensorflows unsupported-version
    """.split()
)

_COMMENT = re.compile(r"#\s*tf1sessions:\s*ignore(?:\[([^\]]*)\])?")


def check(program: Program, ignore: Collection[str] = ()) -> list[Finding]:
    """Return what will go wrong in a program, the worst first; nothing of it is run, and TensorFlow is not needed.

    A comment ``# tf1sessions: ignore[rule]`` on the line, or on another line of its statement, suppresses that rule
    there, without brackets every rule.

    Args:
        program: From :func:`~tf1sessions.source.program.read_script` or its like.
        ignore: Names of rules to leave out.

    Raises:
        ScriptUsageError: ``ignore`` has a name that is no rule's, or the program is nested too deeply.

    Example:
        >>> from tf1sessions.source.program import read_text
        >>> text = "import tensorflow as tf\\nwith tf.Session():\\n    tf.reset_default_graph()\\n"
        >>> [(finding.rule, str(finding.place)) for finding in check(read_text(text))]
        [('reset-inside-graph', 'script.py:3')]
    """
    found = [_unread(each.place, each.reason) for each in program.unread]
    try:
        code = Code(program)
        found += [finding for rule in RULES.values() if rule.name not in ignore for finding in rule.findings(code)]
    except RecursionError as error:
        raise ScriptUsageError(
            f"{program.files[0].file} is nested too deeply to be looked at",
            next_step="Break long expressions into several statements.",
        ) from error
    return in_order(without_suppressed(found, program, ignore))


def without_suppressed(
    findings: Iterable[Finding], program: Program | None, ignore: Collection[str] = ()
) -> list[Finding]:
    """Findings of any kind, less those that a comment in the program or ``ignore`` suppresses.

    Raises:
        ScriptUsageError: ``ignore`` has a name that is no rule's.
    """
    findings = list(findings)
    known = {*RULES, UNREAD, *(finding.rule for finding in findings), *while_running(), *MACHINE_RULES}
    unknown = sorted(set(ignore) - known)
    if unknown:
        raise ScriptUsageError(
            f"there is no rule {unknown[0]!r}",
            where="--ignore",
            next_step="`tf1sessions doctor --list-rules` has them.",
        )
    return [each for each in findings if each.rule not in ignore and not _is_suppressed(each, program)]


def while_running() -> frozenset[str]:
    """The names of what dynamic.py finds."""
    from . import evidence

    return frozenset(rule.__name__.replace("_", "-") for rule in evidence.RULES)


def _is_suppressed(finding: Finding, program: Program | None) -> bool:
    place = finding.place
    if program is None or place is None or finding.rule == UNREAD:
        return False
    file = next((file for file in program.files if file.file == place.file), None)
    comments = [] if file is None else _COMMENT.finditer(file.statement(place))
    return any(comment[1] is None or finding.rule in re.split(r"[,\s]+", comment[1]) for comment in comments)


def _unread(place: SourceLine, reason: str) -> Finding:
    return Finding(
        rule=UNREAD,
        severity=Severity.NOTE,
        title=f"not looked at: {reason}",
        why="What is in it may bite as well.",
        fix="Mend it, and look again.",
        source=FindingSource.STATIC,
        place=place,
    )
