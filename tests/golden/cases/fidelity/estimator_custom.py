"""An Estimator with a model_fn of its own: modes, metrics, a hook that logs, an export signature, warm reuse."""
import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)
rng = np.random.RandomState(15)
features = rng.randn(90, 5).astype(np.float32)
labels = np.argmax(features[:, :3], axis=1).astype(np.int32)


class Losses(tf.train.SessionRunHook):
    def before_run(self, run_context):
        return tf.train.SessionRunArgs([tf.train.get_global_step(), "model/loss:0"])

    def after_run(self, run_context, run_values):
        step, loss = run_values.results
        if step % 10 == 0:
            print("step", step, "loss %.5f" % loss)


def my_model(features, labels, mode, params):
    net = features["x"]
    for units in params["hidden_units"]:
        net = tf.layers.dense(net, units=units, activation=tf.nn.relu)
        net = tf.layers.dropout(net, 0.2, training=mode == tf.estimator.ModeKeys.TRAIN)
    logits = tf.layers.dense(net, 3, activation=None)
    predicted_classes = tf.argmax(logits, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={
            "class_ids": predicted_classes, "probabilities": tf.nn.softmax(logits)})
    with tf.name_scope("model"):
        per_row = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        loss = tf.reduce_mean(per_row, name="loss")
    accuracy = tf.metrics.accuracy(labels, predicted_classes, name="acc_op")
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={
            "accuracy": accuracy, "mean_per_row": tf.metrics.mean(per_row)})
    optimizer = tf.train.AdagradOptimizer(learning_rate=params["rate"])
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, training_hooks=[Losses()])


def input_fn(batch_size, training):
    dataset = tf.data.Dataset.from_tensor_slices(({"x": features}, labels))
    if training:
        return dataset.shuffle(90).repeat().batch(batch_size).make_one_shot_iterator().get_next()
    return dataset.batch(batch_size).make_one_shot_iterator().get_next()


model = tf.estimator.Estimator(
    my_model, model_dir="custom", params={"hidden_units": [12, 8], "rate": 0.1},
    config=tf.estimator.RunConfig(tf_random_seed=19830610))
model.train(lambda: input_fn(15, True), steps=30)
print({k: "%.5f" % v for k, v in sorted(model.evaluate(lambda: input_fn(30, False)).items())})
model.train(lambda: input_fn(15, True), steps=20)
print({k: "%.5f" % v for k, v in sorted(model.evaluate(lambda: input_fn(30, False)).items())})
for i, p in enumerate(model.predict(lambda: input_fn(30, False))):
    if i < 3:
        print(p["class_ids"], np.round(p["probabilities"], 4))
