"""Names of the package ``keras`` that ``tf.keras`` has not: what they give is what Keras 2.2.4 gave on 1.15.5."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support import PythonRun

PROGRAM = """
import tf1sessions.scripts
tf1sessions.scripts.install()
import h5py, numpy as np
import keras, keras.backend as K
import tensorflow as tf
from keras.callbacks import Progbar
from keras.engine.base_layer import _collect_previous_mask
from keras.engine.saving import _deserialize_model, _serialize_model
from keras.initializers import _compute_fans
from keras.layers import AtrousConv1D, AtrousConvolution2D, ConvLSTM2DCell, ConvRNN2D, Deconv3D, Deconvolution2D
from keras.layers import Highway, MaxoutDense, merge
from keras.layers.core import Highway as of_core
from keras.legacy.layers import ConvRecurrent2D, Recurrent, merge as old_merge
from keras.models import Input, InputLayer, Model, Sequential
from keras.optimizers import clip_norm
from keras.utils import print_summary
from keras.utils.io_utils import H5Dict, HDF5Matrix, h5dict
from keras.utils.test_utils import get_test_data, keras_test, layer_test
from keras.utils.training_utils import multi_gpu_model
from keras.backend.tensorflow_backend import _preprocess_conv2d_input, _preprocess_padding
from keras.backend.tensorflow_backend import _regular_normalize_batch_in_training
from tensorflow.keras.utils import HDF5Matrix as of_tf_keras
from tensorflow.python.keras.layers.convolutional_recurrent import ConvRNN2D as inner_rnn

def raised(call):
    try:
        return call()
    except Exception as error:
        return type(error).__name__

x = np.arange(6, dtype="f").reshape(2, 3) / 4
weights = [np.arange(9.0).reshape(3, 3) / 9, np.eye(3), np.ones(3), -np.ones(3)]
highway = Sequential([Highway(activation="tanh", weights=weights, input_dim=3)])
again = Sequential.from_config(highway.get_config())
again.set_weights(highway.get_weights())
maxout = Sequential([MaxoutDense(2, nb_feature=2, weights=[np.arange(12.0).reshape(2, 3, 2) - 5, np.ones((2, 2))],
                                 input_dim=3)])
maxout.save("m.h5")
report(highway=highway.predict(x).tolist(), again=again.predict(x).tolist(), maxout=maxout.predict(x).tolist(),
       loaded=keras.models.load_model("m.h5").predict(x).tolist())

with h5py.File("d.h5", "w") as file:
    file["x"], file["y"] = np.arange(40.0).reshape(10, 4), np.arange(10.0)[:, None]
rows, targets = HDF5Matrix("d.h5", "x", 2, 9, lambda values: values / 2), HDF5Matrix("d.h5", "y", 2, 9)
model = Sequential([keras.layers.Dense(1, kernel_initializer="ones", input_shape=(4,))])
model.compile("sgd", "mse")
loss = model.fit(rows, targets, batch_size=3, shuffle=False, verbose=0).history["loss"][0]
report(matrix=[len(rows), list(rows.shape), rows.ndim, int(rows.size), str(rows.dtype), rows[0].tolist(),
               rows[1:3].tolist(), rows[[0, 2]].tolist(), rows[np.array([1, 3])].tolist()],
       outside=[raised(lambda: rows[7]), raised(lambda: rows[0:8]), raised(lambda: rows[[6, 7]])], loss=float(loss))

np.random.seed(3)
drawn = get_test_data(4, 2, (3,), num_classes=3)
np.random.seed(3)
numbers = get_test_data(4, 2, (3,), (2,), classification=False)
report(classes=[drawn[0][0][1].tolist(), drawn[0][1].tolist(), drawn[1][1].tolist()],
       numbers=[numbers[0][1][3].tolist(), numbers[1][0][1].tolist()])

embedded = keras.layers.Embedding(5, 2, mask_zero=True)(Input((3,)))
report(masks=[_collect_previous_mask(embedded) is embedded._keras_mask, _collect_previous_mask(Input((3,))),
              len(_collect_previous_mask([embedded, embedded]))])

with h5dict("s.h5", "w") as file:
    _serialize_model(model, file)
with h5dict("s.h5", "r") as file:
    read = _deserialize_model(file)
with H5Dict("e.h5", "w") as file:
    file["a"], file["b"], file["c"], file["g"]["z"] = np.arange(3), "text", ["x", "y"], np.ones(2)
with H5Dict("e.h5", "r") as file:
    kept = [file["a"].tolist(), "a" in file, "b" in file, "q" in file, len(file), sorted(file),
            file["g"]["z"].tolist(),
            str(file["b"]), [str(one) for one in file["c"]], raised(lambda: file.__setitem__("a", 1))]
plain = H5Dict({})
plain["g"]["v"] = 2
report(read=[bool((a == b).all()) for a, b in zip(model.get_weights(), read.get_weights())], kept=kept,
       plain=plain.data)

session = K.get_session()
gradient = tf.constant([3.0, 4.0])
report(session=[K.tensorflow_backend._SESSION is session, K._BACKEND, keras.objectives.mse is keras.losses.mse],
       fans=_compute_fans((3, 3, 4, 5)),
       clipped=[session.run(clip_norm(gradient, c, tf.constant(5.0))).tolist() for c in (1.0, 10.0, 0)])

image, sequence = Input((6, 6, 2)), Input((4, 6, 6, 2))
recurrent = ConvRNN2D(ConvLSTM2DCell(3, (2, 2)), return_sequences=True)
pair = [Input((3,)), Input((3,))]
report(shapes=[K.int_shape(AtrousConvolution2D(3, 3)(image)), K.int_shape(Deconvolution2D(3, 3)(image)),
               K.int_shape(Deconv3D(3, 2)(Input((3, 3, 3, 1)))), K.int_shape(recurrent(sequence))],
       merged=[K.int_shape(merge(pair, mode=mode)) for mode in ("sum", "concat", "cos", lambda both: both[0])],
       cell=[len(recurrent.get_weights()), ConvLSTM2DCell.from_config(recurrent.cell.get_config()).filters],
       same=[of_core is Highway, ConvRecurrent2D is inner_rnn is ConvRNN2D, old_merge is merge,
             of_tf_keras is HDF5Matrix])
layer_test(keras.layers.Dense, kwargs={"units": 3}, input_shape=(3, 2))
lines = []
print_summary(model, print_fn=lines.append)
report(tested=keras_test(lambda: 3)(), lines=len(lines) > 4)
"""


@pytest.fixture(scope="module")
def found(run_python: Callable[..., PythonRun]) -> dict[str, object]:
    return run_python(PROGRAM).results


def test_old_layers(found: dict[str, object]) -> None:
    wanted = [[0.23906, 0.46019, 0.65824], [0.84811, 0.99331, 1.10558]]
    assert found["highway"] == found["again"] == [pytest.approx(row, abs=1e-5) for row in wanted]
    assert found["maxout"] == found["loaded"] == [[4.25, 5.0], [11.0, 14.0]]
    assert found["shapes"] == [[None, 4, 4, 3], [None, 8, 8, 3], [None, 4, 4, 4, 3], [None, 4, 5, 5, 3]]
    assert found["merged"] == [[None, 3], [None, 6], [None, 1], [None, 3]]
    assert found["cell"] == [3, 3]
    assert found["same"] == [True] * 4


def test_hdf5(found: dict[str, object]) -> None:
    assert found["matrix"] == [
        7, [7, 4], 2, 28, "float64", [4.0, 4.5, 5.0, 5.5], [[6.0, 6.5, 7.0, 7.5], [8.0, 8.5, 9.0, 9.5]],
        [[4.0, 4.5, 5.0, 5.5], [8.0, 8.5, 9.0, 9.5]], [[6.0, 6.5, 7.0, 7.5], [10.0, 10.5, 11.0, 11.5]],
    ]  # fmt: skip
    assert found["outside"] == ["IndexError"] * 3
    assert found["loss"] == pytest.approx(641378.7, rel=1e-5)
    assert found["read"] == [True, True]
    assert found["kept"] == [
        [0, 1, 2], True, True, False, 2, ["a", "g"], [1.0, 1.0], "text", ["b'x'", "b'y'"], "ValueError",
    ]  # fmt: skip
    assert found["plain"] == {"g": {"v": 2}}


def test_what_tests_of_layers_use(found: dict[str, object]) -> None:
    assert found["classes"] == [pytest.approx([-0.15548, -0.56451, 0.310124], abs=1e-5), [2, 0, 1, 0], [0, 0]]
    wanted = [[1.55113, 0.67653], [0.73527, 1.41783, 2.27958]]
    assert found["numbers"] == [pytest.approx(row, abs=1e-5) for row in wanted]
    assert found["tested"] == 3
    assert found["lines"]


def test_what_authors_of_layers_use(found: dict[str, object]) -> None:
    assert found["masks"] == [True, None, 2]
    assert found["session"] == [True, "tensorflow", True]
    assert found["fans"] == [36, 45]
    assert found["clipped"] == [pytest.approx([0.6, 0.8]), [3.0, 4.0], [3.0, 4.0]]
