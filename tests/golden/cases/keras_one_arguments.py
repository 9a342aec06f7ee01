"""Layers and models with the arguments of Keras 1, as the package ``keras`` 2.2 takes them."""

import warnings

import numpy as np

# Each of ``keras.layers``.
LAYERS = (
    "Activation('relu')",
    "AtrousConvolution2D(4, 3, 3, atrous_rate=(2, 2))",
    "AveragePooling1D(pool_length=3, stride=2, border_mode='same')",
    "AveragePooling2D((3, 3), border_mode='same', dim_ordering='th')",
    "BatchNormalization(mode=0, axis=1, beta_init='one')",
    "BatchNormalization(mode=1)",
    "Conv2D(4, 3, 3)",
    "Conv2D(4, 3, strides=3)",
    "Conv2D(4, 3, 3, init='one', border_mode='same', subsample=(2, 1), bias=False, dim_ordering='tf')",
    "Conv2D(4, 3, 3, padding='same', activation='relu')",
    "Conv2D(filters=4, nb_row=3, nb_col=2)",
    "Conv2D(nb_filter=4, nb_row=3, nb_col=2, W_regularizer='l2', b_constraint='nonneg')",
    "Conv2D(4, kernel_size=3, dim_ordering='th')",
    "Conv2DTranspose(4, 3, 3, output_shape=(None, 8, 8, 4), subsample=(2, 2))",
    "Conv3D(4, 3, 2, 1)",
    "Conv3D(nb_filter=4, kernel_dim1=3, kernel_dim2=2, kernel_dim3=1, subsample=(1, 1, 2))",
    "ConvLSTM2D(4, 3, 2, inner_activation='sigmoid', forget_bias_init='one')",
    "Convolution1D(4, 3, border_mode='same', subsample_length=2)",
    "Convolution1D(nb_filter=4, filter_length=3, input_dim=2, input_length=7)",
    "Convolution2D(4, 3, 3, input_shape=(8, 8, 1), name='c')",
    "Cropping2D(((1, 1), (2, 2)), dim_ordering='th')",
    "Deconvolution2D(4, 3, 3, output_shape=(None, 8, 8, 4), border_mode='same')",
    "Dense(output_dim=3, input_dim=2, init='uniform', W_regularizer='l2', activation='tanh', bias=False)",
    "Dense(3, output_dim=4)",
    "Dense(3, no_such=4)",
    "Dropout(p=0.25)",
    "Embedding(5, 3, init='one', W_constraint='nonneg', input_length=4)",
    "Embedding(5, 3, dropout=0.2)",
    "GRU(3, inner_init='one', dropout_W=0.1, dropout_U=0.2, consume_less='mem')",
    "GaussianDropout(p=0.5)",
    "GaussianNoise(sigma=0.5)",
    "LSTM(3, forget_bias_init='one', inner_activation='sigmoid')",
    "LSTM(output_dim=3, forget_bias_init='zero', input_dim=2, input_length=4, return_sequences=True)",
    "LocallyConnected1D(4, 3, subsample_length=2)",
    "LocallyConnected2D(4, 3, 2)",
    "MaxPooling1D(pool_length=3, stride=2)",
    "MaxPooling2D(pool_size=(2, 2), strides=None, border_mode='valid', dim_ordering='tf')",
    "MaxPooling3D((2, 2, 2), dim_ordering='th')",
    "PReLU(init='one')",
    "SeparableConv2D(4, 3, 2, subsample=(2, 2), bias=False)",
    "SimpleRNN(output_dim=3, U_regularizer='l1')",
    "SpatialDropout1D(p=0.5)",
    "SpatialDropout2D(p=0.5, dim_ordering='th')",
    "UpSampling1D(length=3)",
    "UpSampling2D((2, 3), dim_ordering='tf')",
    "ZeroPadding2D((1, 2), dim_ordering='th')",
    "ZeroPadding3D((1, 2, 3), dim_ordering='tf')",
)
NAMES = (
    "activation axis batch_input_shape cropping data_format dilation_rate dropout filters implementation "
    "input_length kernel_size padding pool_size rate recurrent_activation recurrent_dropout return_sequences size "
    "stddev strides unit_forget_bias units use_bias"
)
OBJECTS = (
    "alpha_initializer beta_initializer bias_constraint bias_regularizer embeddings_constraint embeddings_initializer "
    "kernel_constraint kernel_initializer kernel_regularizer recurrent_initializer recurrent_regularizer"
)


def _layer(keras, expression):
    """The arguments of a layer, or the class of the error."""
    try:
        layer = eval("keras.layers." + expression, {"keras": keras})
    except (TypeError, ValueError) as error:
        return type(error).__name__
    found = layer.get_config()
    values = {name: found[name] for name in NAMES.split() if name in found}
    for name in OBJECTS.split():
        if found.get(name) is not None:
            values[name] = found[name]["class_name"]
    return values


def _batches(samples, size):
    while True:
        yield np.zeros((size, 2)), np.zeros((size, 3))


class _Sized:
    """A generator that says how large its batches are."""

    def __init__(self, batch_size):
        self.batch_size, self.drawn = batch_size, 0

    def __iter__(self):
        return self

    def __next__(self):
        self.drawn += 1
        return np.zeros((self.batch_size, 2)), np.zeros((self.batch_size, 3))

    next = __next__


def _models(keras):
    """What models make of the arguments."""
    x = keras.layers.Input(shape=(2,))
    model = keras.models.Model(input=x, output=keras.layers.Dense(3)(x))
    model.compile("sgd", "mse")
    data = np.zeros((8, 2)), np.zeros((8, 3))
    found = {"fit": model.fit(*data, nb_epoch=2, verbose=0).epoch}
    found["fit both"] = model.fit(*data, nb_epoch=1, epochs=2, verbose=0).epoch
    try:
        model.fit_generator(_Sized(3), steps_per_epoch=1, nb_epoch=1, epochs=2)
    except TypeError as error:
        found["fit_generator both"] = type(error).__name__
    calls = {
        "plain": dict(samples_per_epoch=6, nb_epoch=2),
        "workers": dict(steps_per_epoch=2, nb_worker=1, pickle_safe=False, max_q_size=1),
        "validation": dict(steps_per_epoch=1, validation_data=_Sized(4), nb_val_samples=2),
    }
    for name, named in calls.items():
        sized = _Sized(3)
        steps = []
        counted = keras.callbacks.LambdaCallback(on_batch_end=lambda batch, logs, steps=steps: steps.append(batch))
        history = model.fit_generator(sized, verbose=0, callbacks=[counted], **named)
        found["fit_generator " + name] = [history.epoch, steps]
    for name, named in {"val_samples": dict(val_samples=2), "steps": dict(steps=2)}.items():
        found["predict_generator " + name] = list(model.predict_generator(_Sized(4), **named).shape)
        found["evaluate_generator " + name] = float(model.evaluate_generator(_Sized(4), **named)) >= 0
    plain = model.fit_generator(_batches(6, 3), samples_per_epoch=2, nb_epoch=1, verbose=0)
    found["fit_generator unsized"] = plain.epoch
    sequential = keras.models.Sequential([keras.layers.Dense(3, input_dim=2)])
    sequential.compile("sgd", "mse")
    found["sequential"] = sequential.fit(*data, nb_epoch=3, verbose=0).epoch
    return found


def results(keras):
    """All that is compared, by expression."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {expression: _layer(keras, expression) for expression in LAYERS}
        found.update(_models(keras))
    return found
