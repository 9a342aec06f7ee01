"""migration_notes/contrib.md and the table of replacements, against the public names of 1.15.5 and against the code."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import contrib_page  # this folder is on the path; pytest puts it there
import pytest
from support import PythonRun

from tf1sessions.source import contrib_addresses as addresses
from tf1sessions.source import replacements

FOLDER = Path(__file__).resolve().parent
GOLDEN = contrib_page.golden()

# What today's TensorFlow and tf_keras do not take any more.
ARGUMENTS_LOST = {
    *(
        (f"contrib.framework.nest.{name}", "check_subtrees_length")
        for name in ("assert_shallow_structure", "flatten_up_to", "flatten_with_tuple_paths_up_to")
    ),
    ("contrib.keras.preprocessing.text.one_hot", "text"),
    ("contrib.keras.preprocessing.text.text_to_word_sequence", "text"),
    ("contrib.autograph.set_loop_options", "back_prop"),
    ("contrib.eager.run_test_in_graph_and_eager_modes", "reset_test"),
    ("contrib.keras.utils.GeneratorEnqueuer", "sequence"),
    ("contrib.keras.utils.GeneratorEnqueuer", "wait_time"),
    ("contrib.keras.utils.serialize_keras_object", "instance"),
}

_LIBRARY = """
import sys
sys.modules["tensorflow_probability"] = None
sys.path.insert(0, sys.argv[1])
import contrib_page
import functools, inspect
from tf1sessions import contrib, errors
from tf1sessions.source import replacements

found = contrib_page.states()
wrong = []
for symbol, what in found.items():
    if what == "raises":
        value, parts = contrib, symbol.split(".")[1:]
        try:
            for part in parts:
                value = getattr(value, part)
        except errors.MissingSymbolError as error:
            if error.name not in parts or (replacements.find(error.symbol) or "?") not in str(error):
                wrong.append([symbol, str(error)])
        except AttributeError as error:
            wrong.append([symbol, repr(error)])
lost = []
for name, kind, arguments in contrib_page.golden():
    if found.get(name, "raises") != "raises" and kind != "value" and arguments != "?":
        value = functools.reduce(getattr, name.split(".")[1:], contrib)
        try:
            taken = inspect.signature(value.__init__ if inspect.isclass(value) else value).parameters.values()
        except (TypeError, ValueError):
            continue
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in taken):
            names = {parameter.name for parameter in taken}
            lost += [[name, each] for each in arguments.split(",") if each and each[0] != "*" and each not in names]
report(found=found, wrong=wrong, lost=lost, page=contrib_page.page(found))
"""

_SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
import functools, importlib
import contrib_page
import tf1sessions.scripts
from tf1sessions.scripts import missing
tf1sessions.scripts.install()
import tensorflow as tf

failed, wrong = {}, []
for name, kind, _ in contrib_page.golden():
    if kind in ("module", "address"):
        try:
            module = importlib.import_module(f"tensorflow.{name}")
            if module.__name__ != f"tensorflow.{name}":
                wrong.append([name, module.__name__])
            module.no_such_name
        except AttributeError as error:
            if f"{name}.no_such_name is not available" not in str(error):
                wrong.append([name, str(error)])
        except ImportError as error:
            failed[name] = str(error)
    elif kind == "alias":
        try:
            importlib.import_module(f"tensorflow.{name}")
            wrong.append([name, "an import that 1.15.5 did not have"])
        except ImportError:
            pass

def is_there(name):
    try:
        functools.reduce(getattr, name.split(".")[1:], tf)
    except AttributeError:
        return False
    return True

from tensorflow.contrib.keras.api.keras.layers import Dense
from tensorflow.contrib.layers.python.layers import initializers
from tensorflow.contrib.losses.python.metric_learning.metric_loss_ops import npairs_loss
from tensorflow.contrib.slim.python.slim.learning import create_train_op
inner = {
    "keras": Dense is tf.contrib.keras.layers.Dense is tf.keras.layers.Dense,
    "file": initializers.xavier_initializer is tf.contrib.layers.xavier_initializer,
    "parent": npairs_loss is tf.contrib.losses.metric_learning.npairs_loss,
    "attribute": create_train_op is tf.contrib.slim.learning.create_train_op,
}
report(inner=inner, failed=failed, wrong=wrong, not_there=[name for name in sys.argv[2].split() if not is_there(name)])
"""


def _named(text: str) -> set[str]:
    """The names of TensorFlow in a replacement."""
    return {name.rstrip(".") for name in re.findall(r"(?<![\w.])tf\.[\w.]+", text)}


@pytest.fixture(scope="module")
def library(run_python: Callable[..., PythonRun]) -> PythonRun:
    return run_python(_LIBRARY, str(FOLDER))


@pytest.fixture(scope="module")
def script(run_python: Callable[..., PythonRun]) -> PythonRun:
    names = set().union(*map(_named, replacements.CONTRIB.values()))
    return run_python(_SCRIPT, str(FOLDER), " ".join(sorted(names)), fresh=True)


def test_golden_is_whole() -> None:
    names = {name for name, _, _ in GOLDEN}
    assert len(names) == len(GOLDEN) > 3500
    assert {"contrib.layers.batch_norm", "contrib.slim.learning.train", "contrib.eager.Variable"} <= names
    tops = {name for name in names if name.count(".") == 1}
    assert tops == {f"contrib.{name}" for name in addresses.INNER} and len(tops) == 90


def test_addresses_are_those_of_1_15() -> None:
    below = [
        name.split(".", 2)[1:] for name, kind, _ in GOLDEN if kind in ("module", "address") and name.count(".") > 1
    ]
    assert [".".join(pair) for pair in below if not addresses.is_inner(*pair)] == []
    known = {".".join(pair) for pair in below}
    extra = {
        f"{module}.{folder}.{name}".replace("..", ".")
        for module, folders in addresses.INNER.items()
        for folder, names in folders.items()
        for name in names.split()
    }
    assert extra <= known


def test_page_is_what_the_code_does(library: PythonRun) -> None:
    assert contrib_page.PAGE.read_text("utf-8") == library.results["page"], "Run: python tests/contrib/contrib_page.py"


def test_every_missing_name_says_what_to_use(library: PythonRun) -> None:
    assert library.results["wrong"] == []


def test_every_argument_of_1_15_is_taken(library: PythonRun) -> None:
    lost = {(name, argument) for name, argument in library.results["lost"]}
    assert lost - ARGUMENTS_LOST == set()


def test_known_names_are_in_their_column(library: PythonRun) -> None:
    found = library.results["found"]
    assert found["contrib.layers.batch_norm"] == "ours"
    assert found["contrib.rnn.GRUCell"] == "native"
    assert found["contrib.ffmpeg.decode_audio"] == "raises"


def test_no_replacement_of_what_is_there(library: PythonRun) -> None:
    there = {f"tf.{symbol}" for symbol, what in library.results["found"].items() if what != "raises"}
    assert there & replacements.CONTRIB.keys() == set()
    raising = [f"tf.{symbol}" for symbol, what in library.results["found"].items() if what == "raises"]
    used = {replacements.entry(symbol) for symbol in raising}
    modules = {f"tf.contrib.{name}" for name in addresses.INNER}  # for names that 1.15 did not have, either
    by_address = {"tf.contrib", "tf.contrib.keras.api.keras"}  # for names that are not public
    assert replacements.CONTRIB.keys() - used - modules - by_address == set()


def test_every_module_of_1_15_can_be_imported(script: PythonRun) -> None:
    assert script.results["failed"] == {}
    assert script.results["wrong"] == []


def test_inner_addresses_have_what_was_there(script: PythonRun) -> None:
    assert [what for what, same in script.results["inner"].items() if not same] == []


def test_replacements_are_there(script: PythonRun) -> None:
    assert script.results["not_there"] == []


@pytest.mark.parametrize(
    ("symbol", "text"),
    [
        ("tf.contrib.keras.layers.Dense", "Use tf.keras.layers.Dense"),
        ("tf.contrib.keras.api.keras.layers.Dense", "Use tf.keras.layers.Dense"),
        ("tf.contrib.optimizer_v2.adam.AdamOptimizer", "Use tf.train.AdamOptimizer"),
        ("tf.contrib.proto.python.ops.decode_proto_op.decode_proto", "Use tf.io.decode_proto"),
        ("tf.contrib.distribute", "Use tf.distribute"),
    ],
)
def test_the_rest_of_the_name(symbol: str, text: str) -> None:
    assert replacements.find(symbol) == text


@pytest.mark.parametrize(
    ("line", "symbol", "found"),
    [
        ("x = tf.contrib.specs.specs.Conc(3)", "tf.contrib.specs", "tf.contrib.specs.specs.Conc"),
        ("x = contrib.keras.layers.Dense(3)", "tf.contrib.keras", "tf.contrib.keras.layers.Dense"),
        ("x = keras.layers.Dense(3)", "tf.contrib.keras.layers", "tf.contrib.keras.layers.Dense"),
        ("x = module.rpc(3)", "tf.contrib.rpc.rpc", "tf.contrib.rpc.rpc"),
        ("x = getattr(tf.contrib, name)", "tf.contrib.rpc.rpc", "tf.contrib.rpc.rpc"),
    ],
)
def test_symbols_as_the_line_has_them(tmp_path: Path, line: str, symbol: str, found: str) -> None:
    path = tmp_path / "program.py"
    path.write_text(f"import sys\nclass Any:\n    pass\nframe = sys._getframe(); {line!r}; {line}\n", "utf-8")
    frame = type("Frame", (), {"f_lineno": 4, "f_globals": {}, "f_code": type("Code", (), {"co_filename": str(path)})})
    assert replacements.as_written(symbol, frame()) == found  # type: ignore[arg-type]
