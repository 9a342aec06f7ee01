"""Uses of imported modules and their names in a program, resolved through imports, aliases and re-exports.

Data flow: :func:`read_file` walks the syntax tree of one file once and notes its imports, its chains of attributes
(``tf.contrib.layers.conv2d``) and what else binds names. Where a name is bound by imports of one module only, and by
nothing else in the file, every chain that begins with it is a use. Where it is bound otherwise too (a parameter called
``tf``), names.py decides for each place by its scope; what stays open is listed in :attr:`FileUses.unclear`.
projects.py does so for the files of a project, where a file may import from another what that one imported.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from ..errors import PythonTwoError
from . import python2
from .edits import Positions
from .files import SourceText
from .names import Names
from .names import canonical as names_canonical
from .nodes import literal_text
from .program import Program, SourceFile, SourceLine, Unread, absolute, too_deep

__all__ = [
    "FileUses",
    "ImportedName",
    "Modules",
    "Use",
    "bind",
    "bodies",
    "canonical",
    "chain_base",
    "read_file",
    "resolve",
    "suffix",
]

_Chain = ast.Attribute | ast.Name
_IMPORTERS = frozenset(["importlib.import_module", "import_module", "__import__"])
_DEEPEST = 5  # how far re-exports are followed: a file that imports what another one imported from a third one


@dataclasses.dataclass(frozen=True, eq=False)
class ImportedName:
    """One name that an import statement binds, or would bind.

    Attributes:
        statement: The statement.
        alias: The part of it.
        module: Of ``from module import name`` the module in full; of ``import module`` the module.
        bound: The name that it binds in the file; ``"*"`` for a star.
        meaning: What the bound name is, as a dotted name: of ``import a.b`` it is ``a``.
    """

    statement: ast.Import | ast.ImportFrom
    alias: ast.alias
    module: str
    bound: str
    meaning: str


@dataclasses.dataclass(eq=False, slots=True)  # made by the thousand: a frozen one takes twice as long
class Use:
    """A use of an imported module or of a name in it.

    Attributes:
        symbol: In full, as it was imported: ``"tensorflow.layers.dense"``, ``"tensorflow.compat.v1.Session"``.
        node: The chain of attributes, or the name. Of a module's name given as a text, the text.
        call: The call whose function it is.
        direct: Whether the chain begins with the name of an import: ``tf.layers.dense``, not ``tfl.dense`` after
            ``tfl = tf.layers``, and not what comes from another file of the project.
        name: The symbol by the name that tutorials use: ``"tf.layers.dense"``.
    """

    symbol: str
    node: ast.expr
    call: ast.Call | None = None
    direct: bool = True
    name: str = ""

    def __post_init__(self) -> None:
        self.name = canonical(self.symbol)


@functools.lru_cache(maxsize=1 << 14)
def canonical(symbol: str) -> str:
    """Return a symbol with TensorFlow as ``tf``, from ``compat.v1`` or not, and NumPy as ``np``.

    Example:
        >>> canonical("tensorflow.compat.v1.Session"), canonical("numpy.float"), canonical("tensorflow_hub.Module")
        ('tf.Session', 'np.float', 'tensorflow_hub.Module')
    """
    head, _, rest = symbol.partition(".")
    if head == "tensorflow":
        while f"{rest}.".startswith("compat.v1."):  # twice where a file with tf.compat.v1 imports that as tf
            rest = rest.removeprefix("compat.v1").removeprefix(".")
        return f"tf.{rest}" if rest else "tf"
    return f"np.{rest}".rstrip(".") if head == "numpy" else symbol


@dataclasses.dataclass(eq=False)
class FileUses:
    """A file, and what it uses of what it imports.

    Attributes:
        source: The file.
        module: The name that it is imported by.
        tree: Its syntax tree.
        imports: All names that its import statements bind, in the order of the text.
        bound: What binds each name otherwise: parameters, assignments, functions, classes.
        assigned: The chain that ``name = chain`` assigns last to a name.
        chains: The outermost chains of attributes and the names that stand alone, by the name that they begin with.
        calls: The call that a node is the function of.
        loops: All ``for`` and ``while`` statements.
        methods: The names of functions that stand directly in a class.
        meanings: What the imports of this file and its simple aliases (``tfl = tf.layers``) bind names to.
        imported: The names that import statements bind to what is not of the project.
        uses: Of all imported names.
        siblings: All files of the project, this one included.
        unclear: What would be uses, if their names were not something else as well (a parameter ``tf``).
    """

    source: SourceText
    module: str
    is_package: bool
    tree: ast.Module
    imports: list[ImportedName] = dataclasses.field(default_factory=list)
    bound: dict[str, list[ast.AST]] = dataclasses.field(default_factory=dict)
    assigned: dict[str, _Chain] = dataclasses.field(default_factory=dict)
    chains: dict[str, list[_Chain]] = dataclasses.field(default_factory=dict)
    calls: dict[ast.expr, ast.Call] = dataclasses.field(default_factory=dict)
    loops: list[ast.For | ast.AsyncFor | ast.While] = dataclasses.field(default_factory=list)
    methods: set[str] = dataclasses.field(default_factory=set)
    meanings: dict[str, str] = dataclasses.field(default_factory=dict)
    imported: set[str] = dataclasses.field(default_factory=set)
    uses: list[Use] = dataclasses.field(default_factory=list)
    unclear: list[Use] = dataclasses.field(default_factory=list)
    siblings: tuple[FileUses, ...] = ()

    @cached_property
    def libraries(self) -> frozenset[str]:
        """The packages that its imports and uses are of: the first parts of their names."""
        names = [each.meaning for each in self.imports]
        return frozenset(name.partition(".")[0] for name in {*names, *(use.symbol for use in self.uses)})

    @cached_property
    def positions(self) -> Positions:
        return Positions(self.source.text)

    @cached_property
    def parents(self) -> Mapping[ast.AST, ast.AST]:
        """The parent of each node. Made on first use: most files are not changed."""
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    def interface(self) -> FileUses:
        """Return what other files see of this one, small enough for another process: without its text and its tree."""
        statement, alias = ast.Import([]), ast.alias("")
        return FileUses(
            dataclasses.replace(self.source, text="", notebook=None),
            self.module,
            self.is_package,
            ast.Module([], []),
            [dataclasses.replace(each, statement=statement, alias=alias) for each in self.imports],
            {name: [alias] * len(nodes) for name, nodes in self.bound.items()},
            self.assigned,
            methods=self.methods,
            meanings=self.meanings,
            imported=self.imported,
        )

    @property
    def connected(self) -> tuple[FileUses, ...]:
        """This file, and those of the project that it imports or that import it, at any distance."""
        files = self.siblings or (self,)
        beside: dict[FileUses, set[FileUses]] = {each: set() for each in files}
        for each in files:
            for other in each.files_of_imports.values():
                beside[each].add(other)
                beside[other].add(each)
        found = {self}
        waiting = [self]
        while waiting:
            for other in beside[waiting.pop()] - found:
                found.add(other)
                waiting.append(other)
        return tuple(each for each in files if each in found)

    @cached_property
    def files_of_imports(self) -> Mapping[str, FileUses]:
        """The files of the project that this one imports, or imports from, by the names that it gives their modules."""
        by_module = {each.module: each for each in self.siblings}
        package = self.module.rpartition(".")[0]
        found = {}
        for imported in self.imports:
            for module in (imported.meaning, imported.module):
                other = by_module.get(module) or by_module.get(f"{package}.{module}")  # beside a script in a folder
                if other is not None and other is not self:
                    found[module] = other
        return found

    @cached_property
    def reached(self) -> frozenset[FileUses]:
        """The files of the project that this one imports, at any distance; this one where they import it."""
        found: set[FileUses] = set()
        waiting = [self]
        while waiting:
            new = {*waiting.pop().files_of_imports.values()} - found
            found |= new
            waiting += new
        return frozenset(found)

    def part_of(self, chain: ast.expr, symbol: str) -> ast.expr | None:
        """Return the part of a chain of attributes that is ``symbol``: of ``tf.contrib.rnn``, that of tf.contrib."""
        base = chain_base(chain)
        while f"{self.meanings.get(base, '')}{suffix(chain)}" != symbol:
            if not isinstance(chain, ast.Attribute):
                return None
            chain = chain.value
        return chain

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the nodes that a node is in, the nearest first."""
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent

    def statement(self, node: ast.AST) -> ast.stmt:
        """Return the innermost statement that a node is in."""
        return next(each for each in self.around(node) if isinstance(each, ast.stmt))

    def place(self, node: ast.AST) -> SourceLine:
        """Return the beginning of a node, as a user names it."""
        return self.source.place(int(getattr(node, "lineno", 1)))

    def taken(self, name: str) -> bool:
        """Whether anything in the file has the name, so that an import must not bind it."""
        return name in self.bound or any(each.bound == name for each in self.imports) or name in self.chains

    @cached_property
    def names_in_texts(self) -> Mapping[str, ast.expr]:
        """Names of the file in code that is a text (``eval("tf.Session()")``, ``globals()["sess"]``), and where."""
        found: dict[str, ast.expr] = {}
        for text in _texts_of_code(self):
            for name in re.findall(r"(?<![\w.])[^\W\d]\w*", str(text.value)):
                if name in self.bound or name in self.meanings:
                    found.setdefault(name, text)
        return found


class Modules:
    """The files of a project, by the names that one of them imports them by.

    Args:
        everywhere: By their names in full.
        beside: Those in the folder of the file that imports, by bare names, which come first.
        tops: What the names of ``everywhere`` begin with.
    """

    def __init__(
        self,
        everywhere: Mapping[str, FileUses] | None = None,
        beside: Mapping[str, FileUses] | None = None,
        tops: Collection[str] = (),
    ) -> None:
        self._everywhere = everywhere or {}
        self._beside = beside or {}
        self._tops = tops

    def get(self, name: str) -> FileUses | None:
        return self._beside.get(name) or self._everywhere.get(name)

    def has_top(self, name: str) -> bool:
        """Whether the name of a file begins with ``name``."""
        return name in self._tops or name in self._beside


def chain_base(chain: ast.expr) -> str:
    """Return the name that a chain of attributes begins with."""
    while isinstance(chain, ast.Attribute):
        chain = chain.value
    assert isinstance(chain, ast.Name)
    return chain.id


def bodies(node: ast.AST | None) -> list[list[ast.stmt]]:
    """Return the lists of statements in a compound statement; none for any other node."""
    found = [getattr(node, field, None) for field in ("body", "orelse", "finalbody")]
    handlers = [handler.body for handler in getattr(node, "handlers", [])]
    return [each for each in [*found, *handlers] if isinstance(each, list) and each]


# -- one file ---------------------------------------------------------------------------------------------------------


def read_file(source: SourceText, module: str = "__main__", *, is_package: bool = False) -> FileUses | Unread:
    """Read the uses in one file; for what it imports from other files of a project see projects.py.

    Returns:
        The uses; or an Unread that says why the file is no Python that this Python can read. Its ``reason`` begins
        with "it is Python 2" where it is that.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "\d" in a string: the program's own business
            tree = ast.parse(source.text, source.shown)
    except SyntaxError as error:
        two = python2.explain_syntax(source.text, error)
        return Unread(source.place(error.lineno or 1), _reason(error, two))
    except (ValueError, RecursionError, MemoryError) as error:  # null characters; thousands of brackets
        return Unread(source.place(1), f"it is not Python: {error}")
    file = FileUses(source, module, is_package, tree)
    deep = too_deep(_walk(file))
    if deep is not None:
        return Unread(source.place(1), f"it {deep}")
    resolve(file, Modules())
    return file


def _reason(error: SyntaxError, two: PythonTwoError | None) -> str:
    if two is None:
        return f"it is not Python: {error.msg}"
    return f"it is Python 2: {str(two).partition('is Python 2: ')[2].partition(chr(10))[0]}"


def _walk(file: FileUses) -> int:
    """Note imports, chains, calls, loops and bindings, level by level; return how many levels the tree has."""
    calls = file.calls
    bound: dict[str, list[Any]] = file.bound
    chains: dict[str, list[Any]] = file.chains
    name, attribute, call, constant, load = ast.Name, ast.Attribute, ast.Call, ast.Constant, ast.Load
    level: list[ast.AST] = [file.tree]
    depth = deepest = 0
    while level:
        depth += 1
        below: list[ast.AST] = []
        for node in level:
            kind = node.__class__
            if kind is constant:
                continue
            if kind is name:
                of = chains if node.ctx.__class__ is load else bound  # type: ignore[attr-defined]
                of.setdefault(node.id, []).append(node)  # type: ignore[attr-defined]
                continue
            if kind is attribute:
                base, length = _base(node)  # type: ignore[arg-type]
                if base is not None:
                    chains.setdefault(base.id, []).append(node)
                    deepest = max(deepest, depth + length)
                    continue
            elif kind is call:
                calls[node.func] = node  # type: ignore[attr-defined, assignment]
            elif kind in _NOTED:
                _note(file, node)
            for part in _PARTS.get(kind, ()):
                child = getattr(node, part)
                if child.__class__ is list:
                    below += child
                else:
                    below.append(child)
        level = below
    file.imports.sort(key=lambda each: (each.statement.lineno, each.statement.col_offset))
    return max(deepest, depth)


#: Fields of nodes in which there is nothing to note: texts, numbers, contexts, operators.
_PLAIN = frozenset(["attr", "conversion", "ctx", "id", "is_async", "kind", "kwd_attrs", "level", "module", "name",
                    "names", "op", "ops", "rest", "simple", "type_comment", "type_ignores"])  # fmt: skip
#: Kind of node -> the fields with the nodes below it.
_PARTS = {
    kind: tuple(field for field in kind._fields if field not in _PLAIN)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST) and kind is not ast.Constant
}
_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_NOTED = frozenset([*_NAMED, *_LOOPS, ast.Assign, ast.arg, ast.Import, ast.ImportFrom])


def _note(file: FileUses, node: ast.AST) -> None:
    """Note what a statement or parameter binds, and loops."""
    if isinstance(node, ast.Assign):
        target, value = node.targets[0], node.value
        if isinstance(target, ast.Name) and isinstance(value, _Chain) and _base(value)[0] is not None:
            file.assigned[target.id] = value
    elif isinstance(node, ast.Import | ast.ImportFrom):
        file.imports += _imported(node, file)
    elif isinstance(node, ast.arg):
        file.bound.setdefault(node.arg, []).append(node)
    elif isinstance(node, _NAMED):
        if node.name:
            file.bound.setdefault(node.name, []).append(node)
        if isinstance(node, ast.ClassDef):
            file.methods.update(each.name for each in node.body if isinstance(each, ast.FunctionDef))
    elif isinstance(node, _LOOPS):
        file.loops.append(node)


def _base(chain: _Chain) -> tuple[ast.Name | None, int]:
    """The name that a chain of attributes begins with, if it does, and how many attributes it has."""
    node: ast.expr = chain
    length = 0
    while node.__class__ is ast.Attribute:
        node, length = node.value, length + 1
    return (node if node.__class__ is ast.Name else None), length


def _imported(node: ast.Import | ast.ImportFrom, file: FileUses) -> Iterator[ImportedName]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            top = alias.name.partition(".")[0]
            meaning = alias.name if alias.asname else top
            yield ImportedName(node, alias, alias.name, alias.asname or top, meaning)
        return
    package = file.module if file.is_package else file.module.rpartition(".")[0]
    base = absolute(node, package)
    for alias in node.names:
        meaning = f"{base}.{alias.name}".lstrip(".") if alias.name != "*" else base
        yield ImportedName(node, alias, base, alias.asname or alias.name, meaning)


# -- meanings ---------------------------------------------------------------------------------------------------------


def resolve(file: FileUses, project: Modules) -> None:
    """Find the uses of a file. ``project`` has the files by their modules, for names that come through them."""
    differing, aliases = bind(file, project)
    by_scope = {name for name in file.meanings if name in file.bound and name not in aliases} | differing
    names: Names | None = None
    file.uses, file.unclear = [], []
    for base, meaning in file.meanings.items():
        direct = base not in aliases and base in file.imported
        for chain in file.chains.get(base, ()):
            if base in by_scope:
                names = names or Names(Program((SourceFile(file.module, file.source.shown, file.tree, ()),)))
                path = names.path(_base(chain)[0])
                if path is None:
                    file.unclear.append(Use(meaning + suffix(chain), chain))
                    continue
                if path != names_canonical(meaning):
                    continue  # another thing of that name
            symbol = _through_project(meaning + suffix(chain), project)
            file.uses.append(Use(symbol, chain, file.calls.get(chain), direct))
    file.uses += _by_text(file)
    for found in (file.uses, file.unclear):
        found.sort(key=lambda use: (use.node.lineno, use.node.col_offset))


def bind(file: FileUses, project: Modules) -> tuple[set[str], set[str]]:
    """Bind the names of imports and aliases; return those of imports that differ, and the aliases."""
    return _bind_imports(file, project), _bind_aliases(file)


def _bind_imports(file: FileUses, project: Modules) -> set[str]:
    """Bind names to what the imports say; return those that imports bind to different things."""
    file.meanings, file.imported, differing = {}, set(), set()
    for each in file.imports:
        if each.bound == "*":
            continue
        meaning = _through_project(each.meaning, project)
        if canonical(file.meanings.setdefault(each.bound, meaning)) != canonical(meaning):
            differing.add(each.bound)
        if meaning == each.meaning:
            file.imported.add(each.bound)
    for each in file.imports:  # what the file imports by name comes before what a star brings
        target = project.get(_through_project(each.meaning, project)) if each.bound == "*" else None
        for name, inner in (target.meanings if target else {}).items():
            file.meanings.setdefault(name, inner)
    return differing


def _bind_aliases(file: FileUses) -> set[str]:
    """Bind ``tfl`` of ``tfl = tf.layers`` where nothing else in the file binds it; return such names."""
    waiting = {
        name: value for name, value in file.assigned.items() if len(file.bound[name]) == 1 and name not in file.meanings
    }
    found: set[str] = set()
    for _ in range(_DEEPEST):
        ready = {name: value for name, value in waiting.items() if chain_base(value) in file.meanings}
        for name, value in ready.items():
            file.meanings[name] = file.meanings[chain_base(value)] + suffix(value)
            del waiting[name]
        found |= ready.keys()
        if not ready:
            break
    return {name for name in found if _base_is_clear(file, name, found)}


def _base_is_clear(file: FileUses, name: str, aliases: Collection[str]) -> bool:
    base = chain_base(file.assigned[name])
    return base in aliases or base not in file.bound


def _through_project(symbol: str, project: Modules) -> str:
    """A symbol whose module is a file of the project, as what that file imported it from."""
    for _ in range(_DEEPEST):
        if not project.has_top(symbol.partition(".")[0]):
            return symbol
        parts = symbol.split(".")
        for length in range(len(parts) - 1, 0, -1):
            target = project.get(".".join(parts[:length]))
            if target is not None:
                meaning = target.meanings.get(parts[length])
                break
        else:
            return symbol
        if meaning is None or (len(target.bound.get(parts[length], ())) > 0 and parts[length] in target.imported):
            return symbol
        symbol = ".".join([meaning, *parts[length + 1 :]])
    return symbol


def _by_text(file: FileUses) -> Iterator[Use]:
    """Uses whose name is a text: ``getattr(tf, "contrib")``, ``importlib.import_module("tensorflow.contrib")``."""
    text = file.source.text
    if "getattr" not in text and "import_module" not in text and "__import__" not in text:
        return
    known = {use.node: use.symbol for use in file.uses}
    for function, call in file.calls.items():
        symbol = known.get(function) or (function.id if isinstance(function, ast.Name) else "")
        if symbol in _IMPORTERS and call.args and (name := literal_text(call.args[0])):
            yield Use(name, call.args[0], direct=False)
        elif symbol in ("getattr", "hasattr") and len(call.args) > 1 and call.args[0] in known:
            if name := literal_text(call.args[1]):
                yield Use(f"{known[call.args[0]]}.{name}", call.args[1], direct=False)


def _texts_of_code(file: FileUses) -> Iterator[ast.Constant]:
    """The texts in calls of ``eval`` and ``exec``, and the keys of ``globals()``, ``locals()`` and ``vars()``."""
    for function, call in file.calls.items():
        if not isinstance(function, ast.Name) or function.id in file.bound:
            continue
        outer = file.parents.get(call)
        if function.id in ("eval", "exec"):
            parts: Iterable[ast.AST] = (node for each in call.args for node in ast.walk(each))
        elif function.id in ("globals", "locals", "vars") and isinstance(outer, ast.Subscript):
            parts = [outer.slice]
        else:
            continue
        yield from (each for each in parts if isinstance(each, ast.Constant) and isinstance(each.value, str))


def suffix(chain: ast.expr) -> str:
    """Return the attributes of a chain, each with its dot: ``".layers.dense"``."""
    parts: list[str] = []
    while isinstance(chain, ast.Attribute):
        parts.append(f".{chain.attr}")
        chain = chain.value
    return "".join(reversed(parts))
