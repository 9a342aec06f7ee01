"""Write names_in_use.json.gz: how many public repositories use each name of TensorFlow, and how many were looked at.

    python make_names_in_use.py FOLDER

FOLDER has a folder for each repository, with its sources as they were in the time of TensorFlow 1. Nothing of them is
run. A name is what a file imports or reads, as ``tensorflow.nn.relu``; what it reads from an object (a flag, a result)
counts for the object. ``compat.v1`` is left out of names. The file has no names of repositories.

Needs no TensorFlow; Python 3.10 to 3.12, whose lib2to3 reads sources of Python 2.
"""

from __future__ import annotations

import ast
import collections
import functools
import gzip
import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

DATA = Path(__file__).resolve().parents[1] / "data"
#: The largest file that is read, in bytes: more is a table, and no program.
LARGEST = 1_000_000
#: Modules of 1.15.5 that the goldens of names do not list.
UNLISTED = (
    "app app.flags compat.v2 estimator estimator.experimental estimator.export estimator.inputs estimator.tpu flags "
    "gfile logging python_io resource_loader sysconfig test"
)
#: What lib2to3 rewrites so that Python 3 can parse the source.
FIXES = ("except", "exec", "ne", "numliterals", "print", "raise", "repr")


@functools.lru_cache(maxsize=1)
def known() -> tuple[frozenset[str], frozenset[str]]:
    """The modules of 1.15.5, and its names that are none, by the goldens of names."""
    modules = {"tensorflow", *(f"tensorflow.{name}" for name in UNLISTED.split())}
    names: set[str] = set()
    for file in ("namespace_1_15.txt.gz", "contrib_1_15.txt.gz"):
        with gzip.open(DATA / file, "rt") as lines:
            for line in lines:
                name, kind, *_ = line.split("\t")
                full = "tensorflow." + name.removeprefix("tf.")
                (modules if kind in ("module", "address", "alias") else names).add(full)
    with gzip.open(DATA / "inner_1_15.txt.gz", "rt") as lines:
        for line in lines:
            module, _, own = line.rstrip("\n").partition("\t")
            modules.add(module)
            names.update(f"{module}.{name}" for name in own.split())
    above = {name[:at] for name in modules for at, letter in enumerate(name) if letter == "."}
    return frozenset(modules | above), frozenset(names - modules)


def shortened(name: str) -> str:
    """``name`` without what is read from an object: up to a name of 1.15.5, or one name below a module of it."""
    modules, names = known()
    parts = name.replace("tensorflow.compat.v1", "tensorflow", 1).split(".")
    for end in range(1, len(parts) + 1):
        part = ".".join(parts[:end])
        if part in names or part not in modules:
            return part
    return ".".join(parts)


def text_of(path: Path) -> str | None:
    """The source of a script or notebook that mentions TensorFlow; None of another file."""
    data = path.read_bytes()
    if len(data) > LARGEST or b"tensorflow" not in data:
        return None
    text = data.decode("utf-8", "replace")
    if path.suffix != ".ipynb":
        return text
    try:
        book = json.loads(text)
        cells = book.get("cells") or [cell for sheet in book.get("worksheets", []) for cell in sheet["cells"]]
        lines = "\n".join(
            "".join(cell.get("source", cell.get("input", ""))) for cell in cells if cell["cell_type"] == "code"
        )
    except (ValueError, KeyError, AttributeError, TypeError):
        return None
    return "\n".join("pass" if line.lstrip().startswith(("%", "!")) else line for line in lines.split("\n"))


def parse(text: str) -> ast.Module | None:
    """The syntax tree of a source of Python 3 or 2; None where neither reads it."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        pass
    try:
        return ast.parse(str(_two_to_three().refactor_string(text.expandtabs() + "\n", "source")))
    except Exception:  # lib2to3 has errors of many kinds
        return None


@functools.lru_cache(maxsize=1)
def _two_to_three():
    from lib2to3.refactor import RefactoringTool

    return RefactoringTool([f"lib2to3.fixes.fix_{fix}" for fix in FIXES])


def is_tensorflow(name: str) -> bool:
    """Whether ``name`` is the package or something in it."""
    return name == "tensorflow" or name.startswith("tensorflow.")


class Names:
    """What the names of one file mean, and which of TensorFlow it uses.

    Args:
        tree: The file. A name means the same in all of it.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.found: set[str] = set()
        self._meanings: dict[str, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                self._import(node)
            elif isinstance(node, ast.ImportFrom):
                self._import_from(node)
        for _ in range(2):  # an alias of an alias
            for node in ast.walk(tree):
                self._assign(node)
        self._read(tree)

    def _import(self, node: ast.Import) -> None:
        for alias in node.names:
            if is_tensorflow(alias.name):
                self.found.add(alias.name)
                self._meanings[alias.asname or "tensorflow"] = alias.name if alias.asname else "tensorflow"

    def _import_from(self, node: ast.ImportFrom) -> None:
        if node.level or not is_tensorflow(node.module or ""):
            return
        for alias in node.names:
            if alias.name == "*":
                self.found.add(str(node.module))
            else:
                self._meanings[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                self.found.add(f"{node.module}.{alias.name}")

    def _assign(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.value, ast.Attribute):
            target, meaning = node.targets[0], self._meaning(node.value)
            if isinstance(target, ast.Name) and meaning is not None:
                self._meanings.setdefault(target.id, meaning)

    def _read(self, tree: ast.Module) -> None:
        inside: set[int] = set()  # attributes that are part of a longer one
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and id(node) not in inside:
                part: ast.expr = node
                while isinstance(part, ast.Attribute):
                    part = part.value
                    inside.add(id(part))
                meaning = self._meaning(node)
                if meaning is not None:
                    self.found.add(meaning)

    def _meaning(self, node: ast.expr) -> str | None:
        """The dotted name that an expression is below TensorFlow; None of another one."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if isinstance(node, ast.Name) and node.id in self._meanings:
            return ".".join([self._meanings[node.id], *reversed(parts)])
        return None


def names_of(repository: Path) -> set[str]:
    """The names that the files of one repository use."""
    return {shortened(name) for tree in _trees(repository) for name in Names(tree).found}


def _trees(repository: Path) -> Iterator[ast.Module]:
    for path in sorted(repository.rglob("*")):
        if path.suffix in (".py", ".ipynb") and path.is_file():
            text = text_of(path)
            tree = None if text is None else parse(text)
            if tree is not None:
                yield tree


def main(folder: str) -> None:
    """Write the table of the repositories in ``folder``."""
    warnings.simplefilter("ignore")
    counts: collections.Counter[str] = collections.Counter()
    looked_at = 0
    for repository in sorted(Path(folder).iterdir()):
        names = names_of(repository)
        looked_at += bool(names)
        counts.update(names)
    table = {"repositories": looked_at, "names": dict(sorted(counts.items()))}
    with open(DATA / "names_in_use.json.gz", "wb") as raw:
        with gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as file:
            file.write(json.dumps(table, indent=0).encode())


if __name__ == "__main__":
    main(sys.argv[1])
