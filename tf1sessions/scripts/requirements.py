"""Requirements of a program's requirements.txt that this Python lacks, for ``tf1sessions run --requirements``.

Pure but for :func:`read`, which reads files, and :func:`compare`, which asks for the installed releases; nothing is
installed and no index is asked. TensorFlow is not loaded.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from tf1sessions import files
from tf1sessions.errors import ScriptUsageError
from tf1sessions.scripts import old_libraries
from tf1sessions.texts import printable, quoted, table

__all__ = ["Unmet", "compare", "parse", "read", "report"]

#: No release has as many; Python refuses to read 4,300.
_MOST_DIGITS = 1000
_MOST_SHOWN = 200

# The first release with wheels for Python 3.7, 3.8 and so on.
_FIRST_PYTHON = 7
_WHEELS = {
    "h5py": "2.8.0 2.10.0 3.1.0 3.6.0 3.8.0 3.10.0 3.12.0",
    "matplotlib": "2.2.3 3.1.2 3.3.3 3.5.0 3.6.0 3.8.0 3.9.2",
    "numpy": "1.14.5 1.17.3 1.19.3 1.21.2 1.23.2 1.26.0 2.1.0",
    "pandas": "0.23.2 0.25.3 1.1.3 1.3.3 1.5.1 2.1.1 2.2.3",
    "pillow": "5.2.0 6.2.1 8.0.0 8.4.0 9.3.0 10.1.0 11.0.0",
    "scikit-learn": "0.19.2 0.22 0.24.0 1.0.2 1.1.3 1.3.1 1.5.2",
    "scipy": "1.1.0 1.3.2 1.5.4 1.7.2 1.9.2 1.11.2 1.14.1",
    "tensorflow": "1.13.1 2.2.0 2.5.0 2.8.0 2.12.0 2.16.1 2.20.0",
}
_SAME_WHEELS = {"tensorflow-cpu": "tensorflow", "tensorflow-gpu": "tensorflow"}

# What does the same under another name.
_INSTEAD = {
    "gym": ("gymnasium",),
    "keras": ("tf-keras",),
    "opencv-contrib-python": ("opencv-contrib-python-headless", "opencv-python", "opencv-python-headless"),
    "opencv-python": ("opencv-python-headless", "opencv-contrib-python", "opencv-contrib-python-headless"),
    "pil": ("pillow",),
    "sklearn": ("scikit-learn",),
    "tensorflow-cpu": ("tensorflow",),
    "tensorflow-estimator": ("tf1sessions",),
    "tensorflow-gpu": ("tensorflow",),
}
# Bridged as a whole, and not row by row.
_BRIDGED = {
    *("future", "keras", "numpy", "pil", "pillow", "protobuf", "setuptools"),
    *("tensorflow", "tensorflow-cpu", "tensorflow-estimator", "tensorflow-gpu"),
}
# Distribution -> the import name of its table.
_TABLES = {"gym": "gym", "pyyaml": "yaml", "scikit-learn": "sklearn", "sklearn": "sklearn"}


@dataclass(frozen=True)
class Unmet:
    """A requirement that is not met here.

    Args:
        name: The distribution that is asked for.
        asked: Its specifier, such as ``==1.15.0``; empty for any release.
        used: The distribution that is used: itself, or one in its place; None if there is none.
        installed: The release of that.
        pythons: The last Python with wheels for the release asked for, such as ``"3.7"``; None where that is this one,
            or is not known.
        bridged: Whether tf1sessions gives back what changed in between.
    """

    name: str
    asked: str
    used: str | None
    installed: str | None
    pythons: str | None
    bridged: bool

    def to_json(self) -> dict[str, Any]:
        """Plain data, for ``--json``."""
        return asdict(self)


def read(path: str) -> list[Requirement]:
    """The requirements in a file, and in those that it includes, that are meant for this Python.

    Options of pip are passed over, and so are files, folders and addresses that name no distribution.

    Raises:
        ScriptUsageError: A file cannot be read, or a line in it is no requirement.
    """
    found: list[Requirement] = []
    _read(path, found, set())
    return found


def _read(path: str, found: list[Requirement], seen: set[str]) -> None:
    if os.path.realpath(path) in seen:
        return
    seen.add(os.path.realpath(path))
    try:
        text = files.read_whole(path).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        reason = "it is not text in UTF-8" if isinstance(error, UnicodeDecodeError) else f"{error}"
        raise ScriptUsageError(f"{quoted(path)} cannot be read: {printable(reason)}", where="--requirements") from None
    for number, line in _lines(text):
        include = re.match(r"(?:-r|--requirement)[\s=]*(\S.*)", line)
        if include:
            _read(os.path.join(os.path.dirname(path), include[1]), found, seen)
            continue
        requirement = _parse(line, f"{printable(path)}:{number}")
        if requirement is not None and (requirement.marker is None or requirement.marker.evaluate()):
            found.append(requirement)


def _lines(text: str) -> list[tuple[int, str]]:
    """The lines with something in them, and their numbers; one that ends with a backslash goes on in the next."""
    lines: list[tuple[int, str]] = []
    begun = ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.endswith("\\"):
            begun += line[:-1]
            continue
        whole = re.sub(r"(^|\s)#.*", "", begun + line).strip()
        begun = ""
        if whole:
            lines.append((number, whole))
    return lines


def parse(text: str) -> Requirement:
    """Return a requirement as ``packaging`` reads it.

    Raises:
        InvalidRequirement: It is none, or nobody can reckon with it: Python reads no number of thousands of digits, nor
            a marker that is nested so deep.
    """
    if re.search(rf"[0-9]{{{_MOST_DIGITS},}}", text):
        raise InvalidRequirement(f"it has a number of {_MOST_DIGITS:,} digits or more")
    try:
        return Requirement(text)
    except RecursionError:
        raise InvalidRequirement("its marker is nested too deep") from None


def _parse(line: str, where: str) -> Requirement | None:
    egg = re.search(r"#egg=([\w.-]+)", line)
    if egg:
        line = egg[1]
    if line.startswith("-"):
        return None
    line = re.split(r"\s--", line)[0].strip()  # --hash and other options of the line
    if re.match(r"[\w+]+://|[./~]|\S+\.(whl|zip|tar\.gz)$", line):
        return None
    try:
        return parse(line)
    except InvalidRequirement as error:
        shown = line if len(line) <= _MOST_SHOWN else line[:_MOST_SHOWN] + "..."
        raise ScriptUsageError(
            f"{quoted(shown)} is no requirement: {printable(str(error).splitlines()[0])}",
            where=where,
            next_step="Correct the line, or put a # before it.",
        ) from None


def compare(requirements: Sequence[Requirement]) -> list[Unmet]:
    """Return the requirements that the installed releases do not meet, in their order, each once."""
    unmet: dict[str, Unmet] = {}
    for requirement in requirements:
        name = canonicalize_name(requirement.name)
        used, installed = _installed(name)
        met = used == name and installed is not None and requirement.specifier.contains(installed, prereleases=True)
        if not met and name not in unmet:
            asked = str(requirement.specifier)
            pin = _pin(requirement)
            bridged = installed is not None and _is_bridged(name, pin, installed, used != name)
            unmet[name] = Unmet(requirement.name, asked, used, installed, _pythons(name, pin), bridged)
    return list(unmet.values())


def _installed(name: str) -> tuple[str | None, str | None]:
    for candidate in (name, *_INSTEAD.get(name, ())):
        try:
            return candidate, importlib.metadata.version(candidate)
        except importlib.metadata.PackageNotFoundError:
            continue
    return None, None


def _pin(requirement: Requirement) -> Version | None:
    """The newest release that is asked for, where the specifier says one."""
    for operator in ("==", "===", "~=", "<=", "<"):
        for specifier in requirement.specifier:
            if specifier.operator == operator:
                try:
                    return Version(specifier.version.removesuffix(".*"))
                except InvalidVersion:
                    return None
    return None


def _pythons(name: str, pin: Version | None) -> str | None:
    releases = _WHEELS.get(_SAME_WHEELS.get(name, name))
    if releases is None or pin is None:
        return None
    count = sum(Version(release) <= pin for release in releases.split())
    last = _FIRST_PYTHON + count - 1
    return f"3.{last}" if last < sys.version_info.minor else None


def _is_bridged(name: str, pin: Version | None, installed: str, other: bool) -> bool:
    """Whether a table has rows of releases after the one asked for."""
    if name in _BRIDGED:
        return True
    library = _TABLES.get(name, name)
    if library not in old_libraries.LIBRARIES:
        return False
    table = old_libraries.table(library)
    releases = [Version(since) for since in table.releases()]
    newest = max(releases) if other else Version(installed)  # another library's numbers say nothing
    return any((pin is None or pin < release) and release <= newest for release in releases)


def report(path: str, count: int, unmet: Sequence[Unmet]) -> list[str]:
    """The lines that say so: a table, and what it is about.

    Args:
        path: The file.
        count: How many requirements there are in it.
        unmet: Those that are not met.
    """
    here = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    if not unmet:
        return [f"tf1sessions: all {count} requirements of {quoted(path)} are met on {here}"]
    rows = [("asked for", "wheels for", "used here", "old names bridged")]
    for one in unmet:
        wheels = f"Python up to {one.pythons}" if one.pythons else ""
        used = "not installed" if one.used is None else f"{one.used} {one.installed}"
        bridged = "" if one.used is None else ("yes" if one.bridged else "no")
        rows.append((printable(f"{one.name}{one.asked}"), wheels, printable(used), bridged))
    return [
        f"tf1sessions: {len(unmet)} of {count} requirements of {quoted(path)} are not met on {here}; "
        "nothing was installed",
        *(f"  {line}" for line in table(rows)),
    ]
