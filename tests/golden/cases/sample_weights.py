"""What Keras models make of masks and weights of samples: losses, metrics, steps. For both TensorFlows.

``results(keras)`` is for ``tf.keras`` and for the package ``keras``. Python 3.6 and later.
"""

import numpy as np

X = np.arange(8, dtype="float32").reshape(4, 2)
Y = np.arange(4, dtype="float32")[:, None] ** 2
SEQUENCES = np.arange(24, dtype="float32").reshape(4, 3, 2)
SEQUENCES[1, 2] = SEQUENCES[3, 1:] = 0  # masked
TARGETS = np.arange(12, dtype="float32").reshape(4, 3, 1)
WEIGHTS = np.array([1, 0, 2, 0.5], "float32")
OF_STEPS = np.array([[1, 0, 1], [2, 0, 0], [1, 1, 1], [0.5, 0, 3]], "float32")

#: name -> (whether samples are masked, their weights)
WEIGHTINGS = {
    "plain": (False, None),
    "weights": (False, WEIGHTS),
    "masked": (True, None),
    "masked weights": (True, WEIGHTS),
    "masked weights of steps": (True, OF_STEPS),
}


def functions(keras):
    """Losses by what they give: a number, one for each sample, one for each element."""
    k = keras.backend

    def scalar(t, p):
        return k.mean(k.square(t - p))

    def of_sample(t, p):
        return k.mean(k.square(t - p), axis=-1)

    def of_element(t, p):
        return k.square(t - p)

    return {"scalar": scalar, "of_sample": of_sample, "of_element": of_element, "mse": "mse"}


def numbers(keras, weighting, **arguments):
    """What a model gives before a step, in the step, and after it, in batches of three and one."""
    masked, weights = WEIGHTINGS[weighting]
    keras.backend.clear_session()
    model = keras.models.Sequential()
    if masked:
        model.add(keras.layers.Masking(0.0, input_shape=(3, 2)))
        model.add(keras.layers.Dense(1, kernel_initializer="ones"))
    else:
        model.add(keras.layers.Dense(1, kernel_initializer="ones", input_shape=(2,)))
    model.compile("sgd", sample_weight_mode="temporal" if weights is OF_STEPS else None, **arguments)
    x, y = (SEQUENCES, TARGETS) if masked else (X, Y)
    found = [
        model.evaluate(x, y, batch_size=4, sample_weight=weights, verbose=0),
        model.train_on_batch(x, y, sample_weight=weights),
        model.evaluate(x, y, batch_size=3, sample_weight=weights, verbose=0),
    ]
    return [np.ravel(one).tolist() for one in found]


def results(keras):
    """Return by cases what :func:`numbers` gives, or the class of the error."""
    found = {}
    for weighting in WEIGHTINGS:
        for name, function in functions(keras).items():
            for use in ("loss", "metrics", "weighted_metrics"):
                arguments = {"loss": function} if use == "loss" else {"loss": "mse", use: [function]}
                try:
                    found["%s %s %s" % (use, name, weighting)] = numbers(keras, weighting, **arguments)
                except Exception as error:
                    found["%s %s %s" % (use, name, weighting)] = type(error).__name__
    return found
