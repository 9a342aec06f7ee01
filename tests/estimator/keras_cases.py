"""Programs that make an Estimator of a Keras model; see estimator_cases.py. The file has to run on Python 3.7 too."""

import os

import numpy as np
from estimator_cases import World, plain

CASES = {}
X = np.arange(16, dtype=np.float32).reshape(8, 2) / 8
Y = X.sum(1, keepdims=True)


def case(function):
    CASES[function.__name__] = function
    return function


class Watch:
    """A hook that notes the variables of the graph."""

    def __new__(cls, tf, notes):
        class Hook(tf.train.SessionRunHook):
            def begin(self):
                notes["global"] = sorted(v.name for v in tf.global_variables())
                notes["trainable"] = sorted(v.name for v in tf.trainable_variables())
                notes["local"] = sorted(v.op.name.partition("_")[0] for v in tf.local_variables())
                notes["loss"] = len(tf.get_collection(tf.GraphKeys.LOSSES))

        return Hook()


def data(tf, features=X, labels=Y, batch=4, repeat=2):
    return lambda: tf.data.Dataset.from_tensor_slices((features, labels)).batch(batch).repeat(repeat)


def checkpoint(tf, folder):
    return [[name, shape] for name, shape in tf.train.list_variables(folder)]


def use(tf, made, folder, input_fn):
    """What training, an evaluation and predictions give."""
    notes = {"train": {}, "eval": {}, "predict": {}}
    found = {"first": checkpoint(tf, os.path.join(folder, "keras"))}
    made.train(input_fn, hooks=[Watch(tf, notes["train"])], steps=3)
    found["trained"] = checkpoint(tf, folder)
    found["results"] = made.evaluate(input_fn, hooks=[Watch(tf, notes["eval"])])
    predicted = list(made.predict(input_fn, hooks=[Watch(tf, notes["predict"])]))
    found["predictions"] = predicted[0], len(predicted)
    found["values"] = {name: tf.train.load_variable(folder, name) for name, _ in tf.train.list_variables(folder)}
    return plain(dict(found, notes=notes))


def sequential(tf, optimizer, **kwargs):
    keras = tf.keras
    keras.backend.clear_session()
    model = keras.Sequential(
        [
            keras.layers.BatchNormalization(input_shape=(2,), name="norm"),
            keras.layers.Dense(3, "relu", name="first"),
            keras.layers.Dense(1, name="last"),
        ]
    )
    model.compile(optimizer, "mse", **dict({"metrics": ["mae"]}, **kwargs))
    model.set_weights([np.linspace(0.1, 1, w.size).reshape(w.shape) for w in model.get_weights()])
    return model


def estimator_of(tf, *args, **kwargs):
    return tf.keras.estimator.model_to_estimator(*args, **kwargs)


@case
def optimizer_of_keras(world):
    tf, found = world.tf, {}
    for name, optimizer in (
        ("adam", "adam"),
        ("sgd", tf.keras.optimizers.SGD(0.01, momentum=0.5)),
        ("rmsprop", tf.keras.optimizers.RMSprop(0.01)),
    ):
        folder = world.folder()
        made = estimator_of(tf, sequential(tf, optimizer), model_dir=folder)
        found[name] = use(tf, made, folder, data(tf))
    return found


@case
def optimizer_of_tensorflow(world):
    tf, folder = world.tf, world.folder()
    made = estimator_of(tf, sequential(tf, tf.train.AdamOptimizer(0.01)), model_dir=folder)
    return use(tf, made, folder, data(tf, {"norm_input": X}))


@case
def several_inputs_and_outputs(world):
    tf, keras, folder = world.tf, world.tf.keras, world.folder()
    keras.backend.clear_session()
    inputs = [keras.layers.Input((2,), name=name) for name in "ab"]
    both = keras.layers.concatenate(inputs)
    classes = keras.layers.Dense(3, activation="softmax", kernel_initializer="ones", name="classes")(both)
    number = keras.layers.Dense(1, kernel_initializer="ones", kernel_regularizer="l2", name="number")(both)
    model = keras.Model(inputs, [classes, number])
    losses = {"classes": "sparse_categorical_crossentropy", "number": "mse"}
    metrics = {"classes": ["accuracy"], "number": ["mae", "mse"]}
    model.compile("sgd", losses, metrics=metrics, loss_weights=[1.0, 2.0])
    made = estimator_of(tf, model, model_dir=folder)
    features, labels = {"b": X, "a": X}, {"classes": np.arange(8) % 3, "number": Y}
    found = use(tf, made, folder, data(tf, features, labels))

    def supervised():
        placeholders = {name: tf.placeholder(tf.float32, [None, 2], name=name) for name in "ab"}
        targets = {
            "classes": tf.placeholder(tf.int64, [None], name="classes_target"),
            "number": tf.placeholder(tf.float32, [None, 1], name="number_target"),
        }
        return world.estimator.experimental.build_raw_supervised_input_receiver_fn(placeholders, targets)()

    def serving():
        placeholders = {name: tf.placeholder(tf.float32, [None, 2], name=name) for name in "ab"}
        return world.estimator.export.ServingInputReceiver(placeholders, placeholders)

    modes = {"train": supervised, "eval": supervised, "infer": serving}
    exported = made.experimental_export_all_saved_models(os.path.join(folder, "export"), modes).decode()
    found["signatures"] = {}
    for tag in ("train", "eval", "serve"):
        with tf.Graph().as_default(), tf.Session() as session:
            graph = tf.saved_model.loader.load(session, [tag], exported)
            for name, signature in graph.signature_def.items():
                found["signatures"][name] = [signature.method_name, sorted(signature.inputs), sorted(signature.outputs)]
                if tag == "serve":
                    feed = {signature.inputs[key].name: X[:2] for key in "ab"}
                    found["served"] = plain(session.run({k: v.name for k, v in signature.outputs.items()}, feed))
    return found


@case
def weights_of_examples(world):
    tf, keras = world.tf, world.tf.keras
    keras.backend.clear_session()
    model = keras.Sequential([keras.layers.Dense(1, input_shape=(2,), kernel_initializer="ones")])
    model.compile("sgd", "mse", metrics=["mae"], weighted_metrics=["mse"])
    made = estimator_of(tf, model, model_dir=world.folder())
    labels = Y + np.arange(8, dtype=np.float32).reshape(8, 1)
    weighted = {"features": X, "sample_weights": np.linspace(0, 1, 8).astype(np.float32)}
    return plain([made.evaluate(data(tf, features, labels, 8, 1)) for features in (X, weighted)])


@case
def fitted_and_saved(world):
    tf = world.tf
    model = sequential(tf, "adam")
    model.fit(X, Y, epochs=2, batch_size=4, shuffle=False, verbose=0)
    folder, path = world.folder(), os.path.join(world.root, "model.h5")
    model.save(path)
    made = estimator_of(tf, keras_model_path=path, model_dir=folder)
    values = {
        name: tf.train.load_variable(os.path.join(folder, "keras"), name)
        for name in ("first/kernel", "norm/moving_mean", "training/Adam/first/kernel/m")
    }
    return plain({"values": values, "used": use(tf, made, folder, data(tf)), "still": model.get_weights()})


@case
def subclassed(world):
    tf, keras = world.tf, world.tf.keras
    keras.backend.clear_session()

    class Model(keras.Model):
        def __init__(self):
            super().__init__(name="model")
            self.layer = keras.layers.Dense(1, kernel_initializer="ones", name="layer")

        def call(self, inputs):
            return self.layer(inputs)

    model = Model()
    model.compile("adam", "mse", metrics=["mae"])
    folder = world.folder()
    made = estimator_of(tf, model, model_dir=folder)
    nothing = sorted(os.listdir(folder)) if os.path.exists(folder) else []
    made.train(data(tf), steps=2)
    found = {"results": made.evaluate(data(tf)), "predictions": next(made.predict(data(tf)))}
    return plain(dict(found, nothing=nothing, trained=checkpoint(tf, folder)))


@case
def own_layer(world):
    tf, keras, folder = world.tf, world.tf.keras, world.folder()
    keras.backend.clear_session()

    class Twice(keras.layers.Layer):
        def call(self, inputs):
            return 2 * inputs

    model = keras.Sequential([Twice(input_shape=(2,)), keras.layers.Dense(1, kernel_initializer="ones", name="last")])
    model.compile("sgd", "mse")
    made = estimator_of(tf, model, custom_objects={"Twice": Twice}, model_dir=folder)
    return use(tf, made, folder, data(tf))


@case
def errors(world):
    tf = world.tf
    model = sequential(tf, "sgd")
    bare = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    folder = world.folder()
    made = estimator_of(tf, model, model_dir=folder)

    def kind(*problem):
        return world.error(*problem)[0]

    return [
        world.error(estimator_of, tf),
        world.error(estimator_of, tf, model, "path"),
        world.error(estimator_of, tf, model, checkpoint_format="other"),
        world.error(estimator_of, tf, bare, model_dir=folder),
        world.error(estimator_of, tf, model, config=3),
        kind(made.train, data(tf, {"other": X})),
        kind(made.train, data(tf, X, {"other": Y})),
    ]


def run(tf, estimator, names=()):
    """What each case, or each of ``names``, does."""
    return {name: CASES[name](World(tf, estimator)) for name in names or CASES}
