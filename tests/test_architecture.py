"""The house as it is built, read from the source: layers, circles, where TensorFlow comes in, the map, the exports."""

from __future__ import annotations

import ast
import configparser
import copy
import dataclasses
import functools
import importlib
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pytest
from support import PACKAGE, ROOT, PythonRun

import tf1sessions
from tf1sessions.pools import boot

NAME = "tf1sessions"

# Which rooms a room may import from, besides itself; "" is the package itself, for the version and its lazy names.
BELOW: dict[str, tuple[str, ...]] = {
    "errors": (),
    "texts": (),
    "sarif": (),
    "files": (),
    "garbage": (),
    "forks": ("errors",),
    "source": ("errors", "files", "garbage"),
    "runtime": ("errors", "forks", "garbage"),
    "sessions": ("errors", "files", "forks", "runtime"),
    "pipelines": ("errors", "texts", "forks", "runtime", "sessions"),
    "models": ("errors", "runtime", "sessions", "pipelines"),
    "pools": ("", "errors", "texts", "forks", "runtime", "sessions", "models"),
    "serving": ("", "errors", "texts", "files", "garbage", "runtime", "sessions", "pipelines", "models", "pools"),
    "estimator": ("errors", "runtime"),
    "contrib": ("errors", "source", "runtime", "estimator"),
    "horovod": ("errors", "runtime", "serving"),
    "scripts": (
        "errors",
        "garbage",
        "source",
        "texts",
        "files",
        "runtime",
        "sessions",
        "estimator",
        "contrib",
        "pipelines",
        "models",
        "pools",
    ),
    "cluster": ("errors", "source", "texts", "horovod", "scripts"),
    "porting": ("errors", "garbage", "source", "texts", "sarif", "files", "runtime", "models", "scripts"),
    "doctor": ("", "errors", "source", "files", "forks", "runtime", "sessions", "scripts", "contrib"),
    "testing": ("errors", "texts", "sarif", "files", "runtime", "sessions", "pipelines", "pools", "scripts"),
    "cli": (
        "",
        "errors",
        "source",
        "texts",
        "files",
        "garbage",
        "runtime",
        "sessions",
        "models",
        "pools",
        "serving",
        "scripts",
        "cluster",
        "doctor",
        "porting",
        "testing",
    ),
    "__main__": ("cli",),
    "": ("errors",),
}

# TensorFlow and Keras by their own names: in runtime.py, and in what runs inside a script's process, after the job's
# environment and its share of the machine are in place.
IMPORTS_TENSORFLOW = {
    "tf1sessions.cluster.task_main",
    "tf1sessions.porting.recorder",  # on the machine where there is nothing but TensorFlow 1
    "tf1sessions.runtime",
    "tf1sessions.scripts.old_debugger",
    "tf1sessions.scripts.children",
    "tf1sessions.scripts.classes",
    "tf1sessions.scripts.compositions",
    "tf1sessions.scripts.frames",
    "tf1sessions.scripts.rehearsed",  # run as a program
    "tf1sessions.scripts.sample_weights",
    "tf1sessions.scripts.inner.framework",
    "tf1sessions.scripts.inner.keras_functions",
    "tf1sessions.scripts.inner.keras_mixed_precision",
    "tf1sessions.scripts.inner.keras_multi_gpu",
    "tf1sessions.scripts.inner.keras_network",
    "tf1sessions.scripts.inner.keras_old_layers",
    "tf1sessions.scripts.inner.keras_one",
    "tf1sessions.scripts.inner.keras_test_utils",
    "tf1sessions.scripts.inner.keras_package",  # when a program imports keras
    "tf1sessions.scripts.inner.keras_saved_models",
    "tf1sessions.scripts.inner.keras_scikit",
    "tf1sessions.scripts.inner.layers_utils",
    "tf1sessions.scripts.inner.lost_names",
    "tf1sessions.scripts.inner.tpu_embedding",
    "tf1sessions.scripts.layer_compositions",
    "tf1sessions.scripts.layer_seeds",
    "tf1sessions.scripts.legacy_tests",
    "tf1sessions.scripts.limits",
    "tf1sessions.scripts.members",
    "tf1sessions.scripts.namespace",
    "tf1sessions.scripts.old_graphs",
    "tf1sessions.scripts.op_libraries",
    "tf1sessions.scripts.program",
    "tf1sessions.scripts.seeds",
    "tf1sessions.scripts.shuffling",
    "tf1sessions.scripts.static_shapes",
}

# A process that runs these must be able to do without TensorFlow, also later on: the command line, the fork server
# before it preloads, and a worker before its job needs it. Commands that look into a model need it themselves: they
# import it when they run, and not before.
TENSORFLOW_FREE_ROOTS = (
    "tf1sessions.__main__",
    "tf1sessions.cli",
    "tf1sessions.pools.arrays",
    "tf1sessions.pools.fork_server",
    "tf1sessions.pools.fork_server_main",
)
COMMANDS_WITH_TENSORFLOW = {
    f"tf1sessions.cli.{name}" for name in ("build_op", "convert", "inspect", "port", "serve", "verify")
}

IMPORTERS = ("import_module", "__import__")  # functions that import what their first argument names
# The pytest plugin is loaded by pytest itself, and these are its modules.
PYTEST = {"pytest", "pytest_timeout"}
PYTEST_PLUGIN = {
    f"tf1sessions.testing.{name}"
    for name in ("accepted_races", "fixture_values", "plugin", "settings", "thread_fixtures", "threaded_body")
}
# Used if they are installed, by programs that used them already: imported inside functions, and not declared.
OPTIONAL = {"PIL", "google", "scipy"}  # google.protobuf comes with TensorFlow
OPTIONAL |= {"fissix"}  # of the extra "port", for files of Python 2
OPTIONAL |= {"ray"}  # of the extra "ray"
OPTIONAL |= {"grpc", "httptools", "prometheus_client", "tensorflow_serving", "uvicorn"}  # of the extra "serve"
# The same, by the tables of scripts/old_libraries; h5py comes with TensorFlow.
OPTIONAL |= {"ale_py", "gym", "gymnasium", "h5py", "matplotlib", "nltk", "pandas", "sklearn", "yaml"}

# Packages that are imported by another name than they are installed by.
IMPORTED_AS = {"nvidia-ml-py": "pynvml"}

TENSORFLOW = {"tensorflow", "tf_keras", "keras"}


# --------------------------------------------------------------------------------------------- reading the source


@dataclasses.dataclass(frozen=True)
class Module:
    name: str
    source: str
    is_package: bool = False


def modules_of(package: Path) -> list[Module]:
    found = []
    for path in sorted(package.rglob("*.py")):
        parts = [package.name, *path.relative_to(package).with_suffix("").parts]
        is_package = parts[-1] == "__init__"
        found.append(Module(".".join(parts[:-1] if is_package else parts), path.read_text("utf-8"), is_package))
    return found


@functools.cache
def _tree(source: str) -> ast.Module:
    return ast.parse(source)


@functools.cache
def _all_nodes(source: str) -> list[ast.AST]:
    return list(ast.walk(_tree(source)))


def _is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in (
        getattr(node.test, "id", ""),
        getattr(node.test, "attr", ""),
    )


def _nodes(tree: ast.AST, late: bool = True, types: bool = False) -> Iterable[ast.AST]:
    """All nodes; with ``late`` the bodies of functions, too, and with ``types`` what only type checkers see."""
    waiting = [tree]
    while waiting:
        for child in ast.iter_child_nodes(waiting.pop()):
            if not types and _is_type_checking(child):
                found = child.orelse  # type: ignore[attr-defined]
            elif not late and isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                continue
            else:
                found = [child]
            yield from found
            waiting += found


@functools.cache
def imported(module: Module, late: bool = True, types: bool = False) -> set[str]:
    """Returns the absolute dotted names that ``module`` imports, ``from a import b`` as ``a.b``.

    Those that its functions import when they are called are among them, unless ``late`` is False; those that only type
    checkers import are not, unless ``types`` is True.
    """
    package = module.name if module.is_package else module.name.rpartition(".")[0]
    tree = copy.copy(_tree(module.source))
    if module.is_package:  # its lazy names are not imports of its own
        tree.body = [node for node in tree.body if getattr(node, "name", "") != "__getattr__"]
    names = set()
    for node in _nodes(tree, late, types):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")
                base = ".".join([*parents[: len(parents) - node.level + 1], *filter(None, [base])])
            names.update(f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in IMPORTERS:
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                level = len(first.value) - len(first.value.lstrip("."))
                parents = package.split(".")
                prefix = parents[: len(parents) - level + 1] if level else []
                names.add(".".join([*prefix, *filter(None, [first.value[level:]])]))
    return names


def import_graph(
    modules: Iterable[Module], lazy: Mapping[str, str], late: bool = True, types: bool = False
) -> dict[str, set[str]]:
    """Returns module -> the modules of the package that it imports; ``lazy`` is lazy name -> its module."""
    modules = list(modules)
    known = {module.name for module in modules}
    root = min(known, key=len)
    graph = {}
    for module in modules:
        edges = set()
        for name in imported(module, late, types):
            if name.partition(".")[0] != root:
                continue
            while name not in known:  # a.b.c.attribute -> a.b.c
                if name in lazy:
                    name = lazy[name]
                    break
                name = name.rpartition(".")[0]
            edges.add(name)
        graph[module.name] = edges - {module.name}
    return graph


def circle(graph: Mapping[str, set[str]]) -> list[str]:
    """Returns one import circle as a list of names, the first repeated at its end; empty when there is none."""
    done: set[str] = set()

    def visit(name: str, path: list[str]) -> list[str]:
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done:
            return []
        for target in sorted(graph.get(name, ())):
            if found := visit(target, [*path, name]):
                return found
        done.add(name)
        return []

    for start in sorted(graph):
        if found := visit(start, []):
            return found
    return []


def room(name: str) -> str:
    """Returns the room of a module: ``tf1sessions.sessions.calls`` -> ``sessions``."""
    return name.partition(".")[2].partition(".")[0]


def upward(graph: Mapping[str, set[str]]) -> list[str]:
    """Names the imports that go against the order of the layers."""
    return [
        f"{source} imports {target}"
        for source, targets in sorted(graph.items())
        for target in sorted(targets)
        if room(target) != room(source) and room(target) not in BELOW[room(source)]
    ]


def reachable(graph: Mapping[str, set[str]], roots: Iterable[str]) -> dict[str, str]:
    """Returns each module that importing ``roots`` may import, with the path that leads there."""
    found = {root: root for root in roots}
    queue = list(found)
    for name in queue:
        for target in sorted(graph[name] - found.keys()):
            found[target] = f"{found[name]} -> {target}"
            queue.append(target)
    return found


MODULES = modules_of(PACKAGE)
NAMES = {module.name for module in MODULES}
LAZY = {f"{NAME}.{name}": home or f"{NAME}.{name}" for name, home in tf1sessions._HOMES.items()}


@functools.cache
def graph_of_all() -> dict[str, set[str]]:
    """The package's own import graph; not made while tests are collected, which each worker of pytest-xdist does."""
    return import_graph(MODULES, LAZY)


# ---------------------------------------------------------------------------------------------------- the proofs


def test_no_import_circle_not_even_for_type_checkers() -> None:
    graph = import_graph(MODULES, LAZY, types=True)
    graph[NAME] = graph_of_all()[NAME]  # what type checkers see there are its lazy names
    assert circle(graph) == []


def test_imports_point_downward() -> None:
    assert upward(graph_of_all()) == []


def test_every_room_has_a_rule_and_uses_what_it_allows() -> None:
    used: dict[str, set[str]] = {room(name): set() for name in NAMES}
    for source, targets in graph_of_all().items():
        used[room(source)] |= {room(target) for target in targets} - {room(source)}
    assert {name: set(below) for name, below in BELOW.items()} == used


def test_map_stands_in_the_order_of_the_layers() -> None:
    order = [name.removesuffix(".py").removesuffix("/") for name in drawn_map(tf1sessions.__doc__ or "")]
    assert [
        f"{name} imports {low}" for name in order for low in BELOW[name] if low and low in order[order.index(name) :]
    ] == []


def test_tensorflow_is_imported_in_its_places_only() -> None:
    found = {module.name for module in MODULES if {name.partition(".")[0] for name in imported(module)} & TENSORFLOW}
    assert found == IMPORTS_TENSORFLOW


def test_command_line_and_server_do_without_tensorflow() -> None:
    roots = [name for name in NAMES if (name + ".").startswith(tuple(root + "." for root in TENSORFLOW_FREE_ROOTS))]
    assert {room(root) for root in roots} == {"__main__", "cli", "pools"}
    paths = reachable(graph_of_all(), set(roots) - COMMANDS_WITH_TENSORFLOW)
    assert [paths[name] for name in sorted(IMPORTS_TENSORFLOW & paths.keys())] == []
    assert COMMANDS_WITH_TENSORFLOW.isdisjoint(paths)


def test_commands_import_tensorflow_only_when_they_run() -> None:
    assert COMMANDS_WITH_TENSORFLOW <= NAMES
    packages = {name.rpartition(".")[0] for name in COMMANDS_WITH_TENSORFLOW}
    paths = reachable(import_graph(MODULES, LAZY, late=False), COMMANDS_WITH_TENSORFLOW | packages)
    assert [paths[name] for name in sorted(IMPORTS_TENSORFLOW & paths.keys())] == []
    for name in COMMANDS_WITH_TENSORFLOW:  # else it need not be named here
        assert IMPORTS_TENSORFLOW & reachable(graph_of_all(), [name]).keys()


def test_third_party_imports_are_declared() -> None:
    settings = configparser.ConfigParser()
    settings.read(ROOT / "setup.cfg", encoding="utf-8")
    names = {
        re.split(r"[ <>=!;\[]", line.strip(), maxsplit=1)[0]
        for line in settings["options"]["install_requires"].splitlines()
        if line.strip()
    }
    declared = {IMPORTED_AS.get(name, name) for name in names}
    used = {name.partition(".")[0] for module in MODULES for name in imported(module)}
    library = sys.stdlib_module_names | {"tomllib"}  # new in 3.11
    assert used - library - {NAME} - TENSORFLOW - declared - PYTEST == OPTIONAL


def test_pytest_is_imported_by_its_plugin_only() -> None:
    found = {module.name for module in MODULES if {name.partition(".")[0] for name in imported(module)} & PYTEST}
    assert found == PYTEST_PLUGIN
    assert PYTEST_PLUGIN.isdisjoint(reachable(graph_of_all(), NAMES - PYTEST_PLUGIN))


def test_optional_packages_are_imported_inside_functions() -> None:
    at_import = {name.partition(".")[0] for module in MODULES for name in imported(module, late=False)}
    assert at_import & OPTIONAL == set()


def looking_in_the_working_directory(source: str) -> list[int]:
    """Return the lines where Python is started so that it looks for modules in the working directory first."""
    tree = _tree(source)
    texts = {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    found = []
    for node in _all_nodes(source):
        if not isinstance(node, ast.List) or not node.elts or ast.unparse(node.elts[0]) != "sys.executable":
            continue
        option, text = ast.literal_eval(node.elts[1]), ast.unparse(node.elts[2]).removesuffix(".format(module=module)")
        text = str(texts.get(text, boot.BOOT if text == "BOOT" else ""))
        beginning = text.partition("sys.path[:] = [entry for entry in sys.path if entry]\n")
        imports = {each for line in beginning[0].splitlines() for each in line.removeprefix("import ").split(", ")}
        if option != "-I" and not (option == "-c" and beginning[1] and imports <= {"", "sys", "os", AT_START}):
            found.append(node.lineno)
    return found


AT_START = "at_start = frozenset(sys.modules)"  # sys and os are loaded by then


def test_no_program_of_ours_takes_modules_from_the_working_directory() -> None:
    """A folder in which others can write may be it; and a helper ``queue.py`` of a user's would hide Python's."""
    assert looking_in_the_working_directory('import sys\nrun([sys.executable, "-m", "tf1sessions"])\n') == [2]
    assert looking_in_the_working_directory('_A = "import json"\nrun([sys.executable, "-c", _A])\n') == [2]
    found = {module.name: looking_in_the_working_directory(module.source) for module in MODULES}
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_modules_open_with_a_docstring() -> None:
    docstrings = {module.name: ast.get_docstring(_tree(module.source)) or "" for module in MODULES}
    assert [name for name, text in docstrings.items() if not text.strip()] == []


# A docstring's first line is imperative or a noun phrase; these begin a clause whose subject a reader has to guess.
VAGUE_OPENING = re.compile(r"(What|Who|How|It|The same|Which|Where|Why|That|Those|Of|With|By)\b")


def vague_docstrings(source: str) -> list[str]:
    """The first lines of docstrings that begin as :data:`VAGUE_OPENING`."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    texts = (ast.get_docstring(node) or "" for node in _all_nodes(source) if isinstance(node, documented))
    return [text.partition("\n")[0] for text in texts if VAGUE_OPENING.match(text)]


def test_docstrings_begin_with_a_verb_or_a_noun() -> None:
    vague = {module.name: vague_docstrings(module.source) for module in MODULES}
    assert {name: lines for name, lines in vague.items() if lines} == {}


# Private names in docstrings and comments that are TensorFlow's.
PRIVATE_IN_TENSORFLOW = {"_FlagValues", "_MklConv2D"}


def private_names_in_texts(source: str) -> set[str]:
    """The private classes, and private functions with their brackets, that docstrings and comments name."""
    nodes = [node.value for node in _all_nodes(source) if isinstance(node, ast.Expr)]
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    texts += re.findall(r"#[: ](.*)", source)
    return set(re.findall(r"(?<![\w.])(?:_[A-Z]\w*[a-z]\w*|_[a-z]\w*(?=\(\)))", "\n".join(texts)))


def test_private_names_in_texts_are_those_of_the_code() -> None:
    used = set()
    for module in MODULES:
        nodes = _all_nodes(module.source)
        used |= {getattr(node, key) for node in nodes for key in ("name", "id", "attr", "arg") if hasattr(node, key)}
    stale = {module.name: private_names_in_texts(module.source) - used - PRIVATE_IN_TENSORFLOW for module in MODULES}
    assert {name: names for name, names in stale.items() if names} == {}


# Public classes of one name in several places: what they are is the same, or ARCHITECTURE.md has both meanings.
IN_SEVERAL_PLACES = {
    "Rule",  # what is looked for in code, and reported or rewritten
    "Server",  # of a run, as the run sees it; and of models
    "Signature",  # of a model
    "Task",
    "Tensor",  # of a model, in a report
    "Trace",
    "Variable",  # of a model, in a report
}
#: The same in one folder. recorder.py is copied to where the package is not, and has what traces.py reads.
IN_ONE_FOLDER = {"CallKind", "Series", "Signature"}
#: Whose names are those of TensorFlow 1.
WRITTEN_ANEW = ("contrib", "estimator", "horovod")


def test_a_class_name_has_one_meaning() -> None:
    """Private ones may share a name where each is clear in its file, but not three of them, nor two in a folder."""
    places: dict[str, set[str]] = {}
    public: dict[str, set[str]] = {}
    for module in MODULES:
        if room(module.name) not in WRITTEN_ANEW and ".inner." not in module.name:
            for private, name in re.findall(r"^class (_?)(\w+)", module.source, re.MULTILINE):
                places.setdefault(name, set()).add(module.name)
                if not private:
                    public.setdefault(name, set()).add(module.name)
    assert {name for name, modules in public.items() if len(modules) > 1} == IN_SEVERAL_PLACES
    assert {name for name, modules in places.items() if len(modules) > 2} <= IN_SEVERAL_PLACES
    folders = {name: [module.rpartition(".")[0] for module in modules] for name, modules in places.items()}
    assert {name for name, found in folders.items() if len(set(found)) < len(found)} == IN_ONE_FOLDER


# ------------------------------------------------------------------------------------------------------------ sizes

LONGEST_FUNCTION, LONGEST_FILE = 60, 800  # in lines; a function's docstring does not count
DEEPEST_NESTING = 4  # of blocks in a function, those of functions inside of it apart

LONGER_FILES = {"tf1sessions.porting.recorder"}  # is copied as one file to where tf1sessions is not


def long_functions(source: str) -> list[str]:
    """Names the functions that have more lines than :data:`LONGEST_FUNCTION`."""
    found = []
    for node in _all_nodes(source):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or 0) - node.lineno + 1
            if ast.get_docstring(node) is not None:
                lines -= (node.body[0].end_lineno or 0) - node.body[0].lineno + 1
            if lines > LONGEST_FUNCTION:
                found.append(node.name)
    return found


def nesting(node: ast.AST) -> int:
    """Count the blocks within one another below a node; an ``elif`` is as deep as its ``if``."""
    deepest = 0
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            continue
        is_elif = isinstance(node, ast.If) and isinstance(child, ast.If) and node.orelse == [child]
        blocks = ast.If | ast.For | ast.AsyncFor | ast.While | ast.With | ast.AsyncWith | ast.Try | ast.Match
        deepest = max(deepest, nesting(child) + (isinstance(child, blocks) and not is_elif))
    return deepest


def deep_functions(source: str) -> list[str]:
    """Names the functions whose blocks are nested more deeply than :data:`DEEPEST_NESTING`."""
    functions = (node for node in _all_nodes(source) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return [node.name for node in functions if nesting(node) > DEEPEST_NESTING]


def test_functions_are_flat() -> None:
    deep = {module.name: deep_functions(module.source) for module in MODULES}
    assert {name: functions for name, functions in deep.items() if functions} == {}


def test_functions_are_short() -> None:
    long = {module.name: long_functions(module.source) for module in MODULES}
    assert {name: functions for name, functions in long.items() if functions} == {}


def test_files_are_short() -> None:
    assert {module.name for module in MODULES if module.source.count("\n") > LONGEST_FILE} == LONGER_FILES


# --------------------------------------------------------------------------------------------- the map, the exports

_ENTRY = re.compile(r"^(?P<indent> +)(?P<name>\w+(?:/|\.py))(?= {2,}\S)")


def drawn_map(docstring: str) -> list[str]:
    """Reads the names of the files and folders that a docstring lists, one a line."""
    return [found["name"] for found in map(_ENTRY.match, docstring.splitlines()) if found]


def test_map_has_a_line_for_each_room() -> None:
    real = {path.name for path in PACKAGE.glob("*.py")} | {f"{path.parent.name}/" for path in PACKAGE.glob("*/*.py")}
    assert sorted(drawn_map(tf1sessions.__doc__ or "")) == sorted(real - {"__init__.py"})


@pytest.mark.parametrize("module", [each for each in MODULES if each.is_package], ids=lambda module: module.name)
def test_packages_say_what_each_of_their_files_is_for(module: Module) -> None:
    folder = PACKAGE.joinpath(*module.name.split(".")[1:])
    real = {path.name for path in folder.glob("*.py")} | {f"{path.parent.name}/" for path in folder.glob("*/*.py")}
    docstring = ast.get_docstring(ast.parse(module.source)) or ""
    missing = {name for name in real - {"__init__.py"} if not re.search(rf"(?<![\w/]){name}", docstring)}
    gone = {name for name in re.findall(r"(?<![\w/])\w+\.py\b", docstring) if not list(folder.rglob(name))}
    assert (missing, gone) == (set(), set())


ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text("utf-8")


@functools.cache
def defined_in(file: str) -> set[str]:
    """The classes and functions of a file of the package, methods also as ``Class.method``."""
    nodes = list(ast.walk(_tree((PACKAGE / file).read_text("utf-8"))))
    kinds = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    methods = ((node.name, each) for node in nodes if isinstance(node, ast.ClassDef) for each in node.body)
    return {node.name for node in nodes if isinstance(node, kinds)} | {
        f"{name}.{each.name}" for name, each in methods if isinstance(each, kinds)
    }


def not_followed(section: str) -> list[str]:
    """Names what a reader of a section, its drawings and its text, does not find where it says.

    A file without a folder is in the folder named last before it, and a function in the file named last before it.
    """
    folder, file, lost = "", "", []
    for found in re.finditer(
        r"(?P<file>[\w/]+\.py\b)|(?P<folder>\b[\w/]+/)(?=\W)|(?<![\w.])(?P<name>[\w.]+)\(\)", section
    ):
        if found["file"]:
            file = found["file"] if "/" in found["file"] else f"{folder}/{found['file']}"
            folder = file.rpartition("/")[0]
            lost += [file] * (not (PACKAGE / file).is_file())
        elif found["folder"]:
            folder = found["folder"].rstrip("/") if (PACKAGE / found["folder"]).is_dir() else folder
        elif not (PACKAGE / file).is_file() or found["name"] not in defined_in(file):
            lost.append(f"{file}: {found['name']}()")
    return lost


@pytest.mark.parametrize("title", re.findall(r"^## (.+)(?=\n\n```text)", ARCHITECTURE, re.MULTILINE))
def test_a_flow_can_be_followed(title: str) -> None:
    section = ARCHITECTURE.partition(f"## {title}\n")[2].partition("\n## ")[0].replace("train.py", "")
    assert len(re.findall(r"\.py\b", section)) >= 7 and not_followed(section.replace("`", "")) == []


def test_files_and_classes_that_the_architecture_page_names_are_there() -> None:
    named = set(re.findall(r"[\w/]+\.py\b", ARCHITECTURE)) - {"train.py"}
    files = {path.relative_to(ROOT).as_posix() for name in (NAME, "tests") for path in (ROOT / name).rglob("*.py")}
    gone = sorted(name for name in named if not any(f"/{file}".endswith(f"/{name}") for file in files))
    assert len(named) > 40 and gone == []
    defined = {name for module in MODULES for name in re.findall(r"^ *class (\w+)", module.source, re.MULTILINE)}
    classes = set(re.findall(r"(?<![\w.])_?[A-Z][a-z]+(?:[A-Z][a-z]+)+\b(?!\.\w)", ARCHITECTURE))
    assert len(classes) > 20 and classes - defined == OF_OTHERS


def members_of(source: str) -> set[str]:
    """The methods and attributes of the classes of a module, as ``Class.member``."""
    found = set()
    for kind in (node for node in _all_nodes(source) if isinstance(node, ast.ClassDef)):
        names = {node.id for node in _nodes(kind, late=False) if isinstance(node, ast.Name)}  # run = run
        for node in ast.walk(kind):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                names.add(node.name)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                names.add(node.attr)
        found |= {f"{kind.name}.{name}" for name in names}
    return found


def test_members_that_the_architecture_page_names_are_there() -> None:
    named = set(re.findall(r"(?<![\w.])_?[A-Z]\w*[a-z]\w*\._?[a-z]\w*", ARCHITECTURE))
    assert {"RunSettings.target", "WorkerServer.spawn"} < named
    assert named - set().union(*(members_of(module.source) for module in MODULES)) == {"Session._run"}  # TensorFlow's


# Names of others that the page has: TensorFlow's, those of its protos and of TensorFlow Serving's services.
OF_OTHERS = {
    *("BaseSession", "GraphDef", "MetaGraphDef", "RunOptions", "SavedModel"),
    *("ModelService", "NumPy", "PredictionService", "TensorFlow"),
}


@pytest.mark.parametrize(
    ("drawings", "lost"),
    [
        ("models/model.py: load()", []),
        ("models/model.py: Model.batched(), load() ─▶ files.py: read()", []),
        ("contrib/ and then models/ files.py", []),
        ("models/model.py, cli/main.py: load()", ["cli/main.py: load()"]),
        ("cli/main.py, model.py", ["cli/model.py"]),
        ("models/model.py: Signature.batched()", ["models/model.py: Signature.batched()"]),
        ("load()", [": load()"]),
    ],
)
def test_what_cannot_be_followed_is_found(drawings: str, lost: list[str]) -> None:
    assert not_followed(drawings) == lost


def test_every_folder_with_modules_is_a_package() -> None:
    assert {path.parent for path in PACKAGE.rglob("*.py")} == {path.parent for path in PACKAGE.rglob("__init__.py")}


def test_what_is_installed_is_what_is_in_the_checkout() -> None:
    def files(folder: Path) -> set[str]:
        return {
            path.relative_to(folder).as_posix()
            for path in folder.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }

    assert files(PACKAGE) == files(ROOT / NAME), "Remove the folder build/ and install the package again."


def test_exports_are_exact_and_sorted() -> None:
    assert tf1sessions.__all__ == [
        "Batcher",
        "CompiledCall",
        "GraphSession",
        "MemoryPlan",
        "Model",
        "ProcessSessionPool",
        "QueuePipeline",
        "RaySessionPool",
        "Session",
        "SessionClient",
        "SessionConfig",
        "SessionServer",
        "ThreadSessionPool",
        "WorkQueue",
        "__version__",
        "contrib",
        "enable_v1_behavior",
        "errors",
        "estimator",
        "load",
        "porting",
        "scripts",
        "testing",
        "tf1",
    ]
    assert tf1sessions.__all__ == sorted(tf1sessions.__all__)
    assert set(tf1sessions.__all__) == {*tf1sessions._HOMES, "__version__", "errors"}


def test_lazy_names_are_those_that_type_checkers_see() -> None:
    tree = ast.parse((PACKAGE / "__init__.py").read_text("utf-8"))
    (block,) = [node for node in tree.body if _is_type_checking(node)]
    seen = {
        alias.asname or alias.name: None if node.module == NAME else node.module
        for node in block.body  # type: ignore[attr-defined]
        for alias in node.names
    }
    assert seen == tf1sessions._HOMES
    assert set(LAZY.values()) <= NAMES


def test_importing_the_package_loads_nothing_heavy(run_python: Callable[..., PythonRun]) -> None:
    """Nor does looking at it, and each lazy name is what its module has."""
    done = run_python(
        """
        import sys, importlib, pickle, threading
        import tf1sessions

        names = dir(tf1sessions)
        report(after_import=sorted({name.partition(".")[0] for name in sys.modules}), dir=names)
        try:
            tf1sessions.no_such_name
        except AttributeError as error:
            report(unknown=str(error))
        try:
            from tf1sessions import no_such_name
        except ImportError as error:
            report(unknown_import=str(error))
        report(after_unknown=sorted({name.partition(".")[0] for name in sys.modules}))

        tf1sessions.scripts, tf1sessions.errors, tf1sessions.contrib, tf1sessions.estimator, tf1sessions.testing
        report(after_modules=sorted({name.partition(".")[0] for name in sys.modules}))

        # Eight threads that all ask first get the same objects.
        barrier, got = threading.Barrier(8, timeout=100), []
        def ask():
            barrier.wait()
            got.append([getattr(tf1sessions, name) for name in tf1sessions.__all__])
        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        report(same=len(got) == 8 and all(a is b for other in got for a, b in zip(got[0], other)))
        report(homes={
            name: getattr(importlib.import_module(home), name) is getattr(tf1sessions, name)
            for name, home in tf1sessions._HOMES.items() if home
        })
        namespace = {}
        exec("from tf1sessions import *", namespace)
        report(star=sorted(set(namespace) - {"__builtins__"}))
        """
    ).results
    heavy = {*TENSORFLOW, "numpy", "click", "rich"}
    for moment in ("after_import", "after_unknown", "after_modules"):
        assert heavy & set(done[moment]) == set(), moment
    assert done["dir"] == tf1sessions.__all__  # nothing that a prompt should not offer
    assert done["unknown"] == "module 'tf1sessions' has no attribute 'no_such_name'"
    assert "no_such_name" in done["unknown_import"]
    assert done["same"]
    assert done["homes"] == {name: True for name, home in tf1sessions._HOMES.items() if home}
    assert done["star"] == tf1sessions.__all__


@pytest.mark.parametrize(
    "args",
    [
        ["--help"],
        ["run", "--help"],
        ["inspect", "--help"],
        ["memory", "--help"],
        ["doctor", "--help"],
        ["audit", "--help"],
        ["convert", "--help"],
        ["verify", "--help"],
        ["port", "--help"],
        ["serve", "--help"],
        ["races", "--help"],
        ["--version"],
    ],
    ids=" ".join,
)
def test_help_loads_neither_tensorflow_nor_numpy(args: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", NAME, *args],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Usage: tf1sessions" in done.stdout or tf1sessions.__version__ in done.stdout
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert f"{NAME}.cli.main" in loaded
    tops = {name.partition(".")[0] for name in loaded}
    assert tops & {*TENSORFLOW, "numpy", "rich", "multiprocessing", "asyncio"} == set()


def test_entry_point_is_there() -> None:
    settings = configparser.ConfigParser()
    settings.read(ROOT / "setup.cfg", encoding="utf-8")
    script, _, target = settings["options.entry_points"]["console_scripts"].strip().partition(" = ")
    module, _, function = target.partition(":")
    assert script == NAME
    assert callable(getattr(importlib.import_module(module), function))


def test_version_of_the_metadata() -> None:
    metadata = importlib.import_module("importlib.metadata")
    try:
        assert metadata.version(NAME) == tf1sessions.__version__
    except metadata.PackageNotFoundError:
        assert PACKAGE == ROOT / NAME, "only a checkout may be without metadata"


# -------------------------------------------------------------------------------- the proofs notice what they should


def test_lazy_names_of_a_package_are_no_import_of_its_own() -> None:
    lazy = "def __getattr__(name):\n    from .a import f\n    return f"
    assert imported(Module(f"{NAME}.room", lazy, is_package=True)) == set()
    assert imported(Module(f"{NAME}.room", lazy)) == {f"{NAME}.a.f"}
    assert imported(Module(f"{NAME}.room", lazy.replace("__getattr__", "get"), True)) == {f"{NAME}.room.a.f"}


def house(types: bool = False, **sources: str) -> dict[str, set[str]]:
    """The import graph of a package ``tf1sessions`` of these modules; ``a__b`` is the module a.b."""
    rooms = {f"{NAME}.{name.partition('__')[0]}" for name in sources if name.partition("__")[1] and name[0] != "_"}
    modules = [Module(NAME, "", True), *(Module(name, "", True) for name in sorted(rooms))]
    modules += [Module(f"{NAME}.{name.replace('__', '.')}", source) for name, source in sources.items()]
    return import_graph(modules, {f"{NAME}.Lazy": f"{NAME}.pools.lazy"}, types=types)


@pytest.mark.parametrize(
    "back",
    [
        "import tf1sessions.sessions.a",
        "from tf1sessions.sessions import a",
        "from tf1sessions.sessions.a import f",
        "from . import a",
        "from .a import f",
        "from ..sessions.a import f",
        "def late():\n    from .a import f",
        "class C:\n    def late(self):\n        import tf1sessions.sessions.a as x",
        "try:\n    import tf1sessions.sessions.a\nexcept ImportError:\n    pass",
        "import importlib\nimportlib.import_module('tf1sessions.sessions.a')",
        "from importlib import import_module\nimport_module('.a', __package__)",
        "from typing import TYPE_CHECKING\nif not TYPE_CHECKING:\n    from .a import f",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    pass\nelse:\n    from .a import f",
    ],
)
def test_a_circle_is_found(back: str) -> None:
    graph = house(sessions__a="from .b import g", sessions__b=back)
    assert circle(graph) == [f"{NAME}.sessions.a", f"{NAME}.sessions.b", f"{NAME}.sessions.a"]


@pytest.mark.parametrize(
    "near_miss",
    [
        "from . import c",
        "import a",
        "from a import f",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .a import f",
        "import typing\nif typing.TYPE_CHECKING:\n    from .a import f",
        "text = 'import tf1sessions.sessions.a'",
        "from tf1sessions.sessions.b import g",
    ],
)
def test_no_circle_is_made_up(near_miss: str) -> None:
    assert circle(house(sessions__a="from .b import g", sessions__b=near_miss, sessions__c="")) == []


def test_a_circle_for_type_checkers_is_found() -> None:
    back = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .a import f"
    assert circle(house(types=True, sessions__a="from .b import g", sessions__b=back)) != []


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("errors", "tf1sessions.runtime"),
        ("sessions__a", "tf1sessions.pools.lazy"),
        ("sessions__a", "tf1sessions.Lazy"),
        ("pools__a", "tf1sessions.scripts.a"),
        ("scripts__a", "tf1sessions.cli.a"),
        ("porting__source__a", "tf1sessions.sessions.b"),
        ("porting__a", "tf1sessions.testing.a"),
        ("sessions__a", "tf1sessions.porting.a"),
    ],
)
def test_an_upward_import_is_found(source: str, target: str) -> None:
    others = {"runtime": "", "pools__lazy": "", "scripts__b": "", "sessions__b": "", "testing__a": "", "porting__a": ""}
    base, _, name = target.rpartition(".")
    graph = house(**{"cli__a": "", "scripts__a": ""} | others | {source: f"def late():\n    from {base} import {name}"})
    real = LAZY_IN_HOUSE.get(target, target)
    assert upward(graph) == [f"{NAME}.{source.replace('__', '.')} imports {real}"]


LAZY_IN_HOUSE = {"tf1sessions.Lazy": "tf1sessions.pools.lazy"}


def test_a_downward_import_is_none() -> None:
    graph = house(errors="", runtime="from tf1sessions import errors", cli__a="from tf1sessions import runtime")
    assert upward(graph) == []


@pytest.mark.parametrize(
    ("source", "hit"),
    [
        ("import tensorflow as tf", True),
        ("def f():\n    from tensorflow.python.framework import ops", True),
        ("import importlib\nimportlib.import_module('tensorflow.python.eager.context')", True),
        ("import tf_keras", True),
        ("import tensorflow_datasets", False),
        ("from tf1sessions.runtime import tf", False),
        ("name = 'tensorflow'", False),
    ],
)
def test_an_import_of_tensorflow_is_found(source: str, hit: bool) -> None:
    names = {name.partition(".")[0] for name in imported(Module(f"{NAME}.sessions.a", source))}
    assert bool(names & TENSORFLOW) is hit


def test_late_imports_can_be_left_out() -> None:
    source = "import a\nclass C:\n    import b\n    def f(self):\n        import c\nasync def g():\n    import d"
    module = Module(f"{NAME}.sessions.a", source)
    assert imported(module) == {"a", "b", "c", "d"}
    assert imported(module, late=False) == {"a", "b"}


@pytest.mark.parametrize(
    ("lines", "docstring", "hit"),
    [(LONGEST_FUNCTION, 0, False), (LONGEST_FUNCTION + 1, 0, True), (LONGEST_FUNCTION, 9, False)],
)
@pytest.mark.parametrize("place", ["{}", "class C:\n{}"])
def test_a_long_function_is_found(lines: int, docstring: int, hit: bool, place: str) -> None:
    indent = " " * place.count("C")
    text = ['"""Title.', *["More."] * (docstring - 2), '"""'] if docstring else []
    body = [*text, *["pass"] * (lines - 1)]
    function = "\n".join([f"{indent}async def f():", *(f"{indent}    {line}" for line in body)])
    assert long_functions(place.format(function)) == ["f"] * hit


@pytest.mark.parametrize(
    ("inner", "hit"),
    [
        ("pass", False),
        ("x = [y for y in z if y]", False),
        ("if e: pass", True),
        ("with e: pass", True),
        ("while e: pass", True),
        ("async for e in x: pass", True),
        ("def inner():\n      if e: pass", False),
    ],
)
@pytest.mark.parametrize("last", ["if d:", "if d: pass\n    elif e:", "with d:"])
def test_a_deep_function_is_found(inner: str, hit: bool, last: str) -> None:
    text = f"async def f():\n if a:\n  for b in c:\n   while d:\n    {last}\n     {inner}\n"
    assert deep_functions(text) == ["f"] * hit


def test_lists_of_files_are_read() -> None:
    text = """A title.

    one.py      the first
    room/       more
    four.py     the last, see five.py
    not an entry.py
    """
    assert drawn_map(text) == ["one.py", "room/", "four.py"]


def test_reachable_gives_the_way() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": set(), "d": {"a"}}
    assert reachable(graph, ["a"]) == {"a": "a", "b": "a -> b", "c": "a -> b -> c"}


def test_files_of_tests_have_names_of_their_own() -> None:
    """pytest imports them by their bare names, so two of one name cannot be collected together."""
    names = [path.name for path in (ROOT / "tests").rglob("*.py") if path.name != "conftest.py"]
    assert sorted({name for name in names if names.count(name) > 1}) == []


#: Where ``time.sleep`` is what a program may have put in its place: TensorFlow 1's own waits, of which it may not want
#: to see anything; the hooks that stand for it while a program is watched; and processes in which no program runs.
SLEEPS_BY_ATTRIBUTE = {
    "tf1sessions.cli.memory",
    "tf1sessions.cli.signals",
    "tf1sessions.porting.recorder",  # which keeps the first
    "tf1sessions.testing.cooperative",
    "tf1sessions.testing.uncertain_order",
}


def test_no_wait_of_ours_ends_at_once_where_a_program_replaces_time_sleep() -> None:
    found = set()
    for module in MODULES:
        if not module.name.startswith(("tf1sessions.estimator.", "tf1sessions.contrib.")):
            nodes = (node for node in _all_nodes(module.source) if isinstance(node, ast.Attribute))
            if any(ast.unparse(node) == "time.sleep" for node in nodes):
                found.add(module.name)
    assert found == SLEEPS_BY_ATTRIBUTE
