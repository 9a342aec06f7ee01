"""A source of a TensorFlow 1 operation, rewritten for today's headers."""

from __future__ import annotations

import dataclasses
import difflib
import re

from tf1sessions.source.edits import Edit

from .code import CppSource
from .headers import NEEDED, include_edits, includes
from .rules import RULES

__all__ = ["Rewritten", "SourceChange", "rewrite"]

_HEADERS = "includes of headers that have moved"
_MISSING = "includes that came along with others before"
_OF_TENSORFLOW = re.compile(
    r"\b(?:tensorflow|OpKernel\w*|InferenceContext|CUDA_1D_KERNEL_LOOP|\w*Cuda\w*LaunchConfig)\b"
)


@dataclasses.dataclass(frozen=True)
class SourceChange:
    """A change that a rule made in a file.

    Attributes:
        rule: The rule's name.
        since: Whether headers of TensorFlow "1" needed it already, or those of "2" do.
        lines: The numbers of the lines in the user's file, from 1.
    """

    rule: str
    since: str
    lines: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Rewritten:
    """A file, before and after.

    Attributes:
        path: The user's file.
        before: Its text.
        added: Includes that are put before it: lines, or "".
        after: Its text, rewritten, without ``added``; as many lines as ``before``.
        changes: What was changed, in the order of the rules.
    """

    path: str
    before: str
    added: str
    after: str
    changes: tuple[SourceChange, ...]

    def diff(self) -> str:
        """Return the difference as ``diff -u`` has it, "" where there is none."""
        lines = difflib.unified_diff(
            self.before.splitlines(keepends=True),
            (self.added + self.after).splitlines(keepends=True),
            self.path,
            f"{self.path} (rewritten)",
        )
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def rewrite(text: str, path: str = "source.cc", own: frozenset[str] = frozenset()) -> Rewritten:
    """Rewrite a C++ source.

    Args:
        text: The source. One that has nothing of TensorFlow in it stays as it is.
        path: Its name, for the report.
        own: Addresses of includes that are the user's own files.

    Example:
        >>> rewrite("tensorflow::Status Check() { return tensorflow::Status::OK(); }").after
        'tensorflow::Status Check() { return absl::OkStatus(); }'
    """
    code = CppSource(text)
    if not (_OF_TENSORFLOW.search(code.bare) or any("tensorflow" in each.address for each in includes(code))):
        return Rewritten(path, text, "", text, ())
    changes: list[SourceChange] = []
    headers: list[str] = []
    code = _changed(code, include_edits(code, own), SourceChange(_HEADERS, "1", ()), changes)
    for rule in RULES:
        edits = rule.edits(code)
        code = _changed(code, edits, SourceChange(rule.name, rule.since, ()), changes)
        if edits and rule.header:
            headers.append(rule.header)
    there = {each.address for each in includes(code)}
    missing = [header for pattern, header in NEEDED if pattern.search(code.bare)]
    added = [header for header in dict.fromkeys(headers + missing) if header not in there]
    if set(added) & set(missing):
        changes.append(SourceChange(_MISSING, "2", (1,)))
    return Rewritten(path, text, "".join(f'#include "{each}"\n' for each in added), code.text, tuple(changes))


def _changed(code: CppSource, edits: list[Edit], what: SourceChange, changes: list[SourceChange]) -> CppSource:
    """Return the code after the edits, which are noted in ``changes``."""
    if not edits:
        return code
    parts, place = [], 0
    for edit in edits:
        parts += [code.text[place : edit.start], edit.text, _ends_of_lines(code.text[edit.start : edit.end], edit.text)]
        place = edit.end
    lines = dict.fromkeys(code.text.count("\n", 0, edit.start) + 1 for edit in edits)
    changes.append(dataclasses.replace(what, lines=tuple(lines)))
    return CppSource("".join([*parts, code.text[place:]]))


def _ends_of_lines(old: str, new: str) -> str:
    """Return the ends of lines that ``new`` lacks, so that the lines after it keep their numbers."""
    end = "\\\n" if "\\\n" in old or "\\\r\n" in old else "\n"  # inside a macro they are continued
    return end * (old.count("\n") - new.count("\n"))
