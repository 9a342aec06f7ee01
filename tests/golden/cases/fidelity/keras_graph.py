"""tf.keras in graph mode: Sequential and functional models, fit, evaluate, predict, a layer inside a TF1 loop."""
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import backend as K

tf.set_random_seed(55)
np.random.seed(55)
x = np.random.rand(80, 6).astype("float32")
y = (x.sum(axis=1) > 3).astype("int32")

model = keras.Sequential([
    keras.layers.Dense(12, activation="relu", input_shape=(6,)),
    keras.layers.Dropout(0.2),
    keras.layers.Dense(2, activation="softmax"),
])
model.compile(optimizer=tf.train.AdamOptimizer(0.02), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(x, y, epochs=4, batch_size=16, shuffle=True, verbose=0)
print([round(float(v), 5) for v in history.history["loss"]])
print("evaluate", np.round(model.evaluate(x, y, verbose=0), 5))
print(np.round(model.predict(x[:2]), 5))

inputs = keras.Input(shape=(6,), name="in")
h = keras.layers.Dense(8, activation="relu", kernel_initializer="he_normal")(inputs)
h = keras.layers.BatchNormalization()(h)
outputs = keras.layers.Dense(1, kernel_regularizer=keras.regularizers.l2(0.01))(h)
functional = keras.Model(inputs, outputs)
functional.compile(keras.optimizers.SGD(lr=0.05, momentum=0.9), "mse")
losses = [functional.train_on_batch(x, x[:, :1] * 2 - 1) for _ in range(8)]
print("batches", " ".join("%.5f" % l for l in losses))
print("names", [w.name for w in functional.weights][:4], "parameters", functional.count_params())

sess = K.get_session()
images = tf.placeholder(tf.float32, [None, 6])
net = keras.layers.Dense(4, activation="relu")(images)
loss = tf.reduce_mean(tf.square(net - 1.0))
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
sess.run(tf.variables_initializer([v for v in tf.global_variables() if not sess.run(tf.is_variable_initialized(v))]))
for i in range(3):
    print("loss", sess.run([loss, step], {images: x})[0])
