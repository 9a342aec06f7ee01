"""Canned estimators on two columns: DNNClassifier with dropout, LinearRegressor; train, evaluate, predict."""
import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)
rng = np.random.RandomState(10)
data = {"a": rng.rand(120).astype(np.float32), "b": rng.rand(120).astype(np.float32)}
label = (data["a"] + data["b"] > 1.0).astype(np.int32)
columns = [tf.feature_column.numeric_column("a"), tf.feature_column.numeric_column("b")]


def train_input():
    return tf.data.Dataset.from_tensor_slices((data, label)).shuffle(120).repeat().batch(20)


eval_input = tf.estimator.inputs.numpy_input_fn(data, label, batch_size=40, num_epochs=1, shuffle=False)
config = tf.estimator.RunConfig(tf_random_seed=10, model_dir="dnn", save_summary_steps=1000)
classifier = tf.estimator.DNNClassifier(
    hidden_units=[16, 8], feature_columns=columns, n_classes=2, dropout=0.1,
    optimizer=tf.train.AdamOptimizer(0.02), config=config)
classifier.train(train_input, steps=60)
result = classifier.evaluate(eval_input)
for name in ["accuracy", "auc", "average_loss", "precision", "global_step"]:
    print(name, "%.5f" % result[name])
for i, p in zip(range(3), classifier.predict(eval_input)):
    print("class", p["class_ids"][0], "probability %.4f" % p["probabilities"][1], "logits", np.round(p["logits"], 4))
for name in classifier.get_variable_names():
    if name.endswith("kernel"):
        print(name, np.round(classifier.get_variable_value(name).ravel()[:3], 4))

regressor = tf.estimator.LinearRegressor(
    feature_columns=columns, optimizer=tf.train.GradientDescentOptimizer(0.01),
    config=tf.estimator.RunConfig(tf_random_seed=3, model_dir="linear"))
fit = tf.estimator.inputs.numpy_input_fn(
    data, data["a"] * 2 - data["b"], batch_size=24, num_epochs=None, shuffle=False)
regressor.train(fit, steps=50)
print("linear", {k: float("%.6g" % v) for k, v in sorted(regressor.evaluate(fit, steps=2).items())})
print([float("%.5f" % regressor.get_variable_value("linear/linear_model/%s/weights" % n)) for n in "ab"])
