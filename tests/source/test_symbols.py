"""The table of what became of 1.15.5's names: against TensorFlow (symbol_checks.py), 1.15.5's lists, and by example."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tf1sessions.source import symbols

HERE = Path(__file__).resolve().parent
DATA = HERE.parent / "golden" / "data"
TABLE = Path(symbols.__file__).with_name("symbols.txt")


@pytest.fixture(scope="module")
def checked(run_python: Callable[..., Any]) -> dict[str, Any]:
    code = (HERE / "symbol_checks.py").read_text("utf-8")
    found: dict[str, Any] = run_python(code, env={"TF_USE_LEGACY_KERAS": "1"}).results
    return found


def test_the_table_says_what_is_so(checked: dict[str, Any]) -> None:
    assert checked["count"] > 10_000
    assert checked["wrong"] == []
    assert checked["modules"] == []
    assert checked["equal"] == []


def test_switching_version_2_behaviour_off_changes_none_of_it(checked: dict[str, Any]) -> None:
    assert checked["after"] == []


def test_parameters_have_both_names(checked: dict[str, Any]) -> None:
    assert checked["parameters"] == []


def test_what_is_elsewhere_does_the_same(checked: dict[str, Any]) -> None:
    same, seen = checked["files"]
    assert same and seen[0] == "a/one" and "NotFoundError" in seen and seen[-1] is False
    same, lines = checked["logs"]
    assert same and lines > 20
    pairs, helps, identical = checked["flags"]
    assert pairs == [[False, False], [True, True], [1.5, 1.5], [3, 3], ["other", "other"]]
    assert set(helps) == {"Help."} and identical
    assert checked["untried"] == []


def test_every_public_name_of_1_15_is_in_the_table() -> None:
    known = set(symbols.names())
    for file, prefix in (("namespace_1_15.txt.gz", ""), ("contrib_1_15.txt.gz", "tf.")):
        with gzip.open(DATA / file, "rt") as lines:
            rows = [line.rstrip("\n").split("\t") for line in lines]
        missing = [prefix + row[0] for row in rows if row[1] != "address" and prefix + row[0] not in known]
        assert missing == []
    assert {"tf.estimator.Estimator", "tf.estimator.inputs.numpy_input_fn", "tf.flags.DEFINE_string"} <= known


def test_every_public_name_that_is_gone_says_what_to_use() -> None:
    found = [symbols.find(name) for name in symbols.names()]
    gone = [symbol for symbol in found if symbol and symbol.verdict == "gone"]
    assert len(gone) > 2000
    assert [symbol.name for symbol in gone if not symbol.sentence] == []
    inside = [symbol.name for symbol in gone if symbol.sentence == symbols._GONE_INSIDE]
    assert [name for name in inside if not name.startswith(symbols._INNER)] == []
    assert [symbol.name for symbol in found if symbol and symbol.verdict != "gone" and symbol.target is None] == []


@pytest.mark.parametrize(
    ("name", "verdict", "target"),
    [
        ("tf.nn.relu", "same", "tf.nn.relu"),
        ("tf.newaxis", "same", "tf.newaxis"),
        ("tf.log", "renamed", "tf.math.log"),
        ("tf.VERSION", "renamed", "tf.version.VERSION"),
        ("tf.layers.dense", "v1", "tf.compat.v1.layers.dense"),
        ("tf.reduce_sum", "v1", "tf.compat.v1.reduce_sum"),
        ("tf.app.run", "v1", "tf.compat.v1.app.run"),
        ("tf.flags.FLAGS.batch_size", "v1", "tf.compat.v1.flags.FLAGS.batch_size"),
        ("tf.data.Dataset.from_tensor_slices", "v1", "tf.compat.v1.data.Dataset.from_tensor_slices"),
        ("tf.TensorShape.as_list", "same", "tf.TensorShape.as_list"),
        ("tf.contrib.slim.conv2d", "ours", "tf1sessions.contrib.slim.conv2d"),
        ("tf.contrib.layers.python.layers.layers.conv2d", "ours", "tf1sessions.contrib.layers.conv2d"),
        ("tf.contrib.layers.python.layers.utils.collect_named_outputs", "ours",
         "tf1sessions.contrib.layers.utils.collect_named_outputs"),
        ("tf.contrib.slim.utils.convert_collection_to_dict", "ours",
         "tf1sessions.contrib.slim.utils.convert_collection_to_dict"),  # a module without a section of its own
        ("tf.contrib.slim.queues.no_such_name", "gone", None),
        ("tf.contrib.framework.python.ops.arg_scope", "ours", "tf1sessions.contrib.framework.arg_scope"),
        ("tf.contrib.slim.python.slim.nets.vgg.vgg_16", "ours", "tf1sessions.contrib.slim.nets.vgg.vgg_16"),
        ("tf.python.estimator.model_fn.ModeKeys", "ours", "tf1sessions.estimator.model_fn.ModeKeys"),
        ("tf.contrib.keras.layers.Dense", "ours", "tf1sessions.contrib.keras.layers.Dense"),
        ("tf.contrib.keras.api.keras.layers.Dense", "ours", "tf1sessions.contrib.keras.layers.Dense"),
        ("tf.contrib.keras.api.keras.layers.no_such_name", "gone", None),
        ("tf.contrib.proto.decode_proto", "elsewhere", "tf.io.decode_proto"),
        ("tf.estimator.Estimator", "ours", "tf1sessions.estimator.Estimator"),
        ("tf.gfile.Exists", "elsewhere", "tf.io.gfile.exists"),
        ("tf.logging.info", "elsewhere", "tf.get_logger().info"),
        ("tf.flags.DEFINE_string", "elsewhere", "absl.flags.DEFINE_string"),
        ("tf.contrib.ffmpeg.decode_audio", "gone", None),
        ("tf.contrib.no_such_module.name", "gone", None),
        ("tf.mul", "gone", None),
        ("tf.python.ops.array_ops.zeros", "same", "tensorflow.python.ops.array_ops.zeros"),
        ("tf.python.framework.ops.Tensor", "moved", "tf.compat.v1.Tensor"),
        ("tf.python.layers.utils", "ours", "tf1sessions.scripts.inner.layers_utils"),
        ("tf.python.ops.gen_user_ops.my_fact", "gone", None),
        ("tf.lite.TFLiteConverter", "v1", "tf.compat.v1.lite.TFLiteConverter"),
        ("tensorflow.compat.v1.log", "renamed", "tf.math.log"),
    ],
)  # fmt: skip
def test_spot_rows(name: str, verdict: str, target: str | None) -> None:
    symbol = symbols.find(name)
    assert symbol is not None
    assert (symbol.verdict, symbol.target) == (verdict, target)
    assert (symbol.sentence is None) == (verdict != "gone")


@pytest.mark.parametrize(
    "name",
    [
        "", "tf", "tf.", "tf.nn.relu7", "tf.random.set_seed", "tf.nn.rnn_cell.GRUcell", "tf.no_such_name",
        "tf.no_such.name", "np.float",
        "tensorflow_hub.Module", "tfx.layers.dense", "tf.contribution.layers", "tf.python.no_such_module.name",
    ],
)  # fmt: skip
def test_near_misses_are_no_symbols(name: str) -> None:
    assert symbols.find(name) is None


def test_equal_objects_of_1_15() -> None:
    def equal(name: str) -> str | None:
        symbol = symbols.find(name)
        assert symbol is not None
        return symbol.equal

    assert equal("tf.contrib.rnn.BasicLSTMCell") == "tf.nn.rnn_cell.BasicLSTMCell"
    assert equal("tf.contrib.rnn.python.ops.core_rnn_cell.LSTMStateTuple") == "tf.nn.rnn_cell.LSTMStateTuple"
    assert equal("tf.contrib.rnn.LayerNormBasicLSTMCell") is None
    assert equal("tf.contrib.layers.conv2d") is None  # not tf.layers.conv2d


def test_sentences_are_of_the_longest_entry() -> None:
    symbol = symbols.find("tf.contrib.distribute.Monitor")
    assert symbol is not None and symbol.sentence == "Write the loop, with the session's run()"
    symbol = symbols.find("tf.contrib.optimizer_v2.adam.AdamOptimizer")
    assert symbol is not None and symbol.sentence == "Use tf.train.AdamOptimizer"


def test_constants_are_distinguished() -> None:
    found = [symbol for name in symbols.names() if (symbol := symbols.find(name)) is not None]
    constants = {symbol.name for symbol in found if symbol.kind == "constant"}
    assert {"tf.newaxis", "tf.VERSION", "tf.errors.NOT_FOUND"} <= constants
    assert "tf.float32" not in constants and "tf.nn.relu" not in constants


def test_the_table_is_small() -> None:
    assert TABLE.stat().st_size < 500_000
