"""A small transformer that classifies sentences, as programs of 2018 were written: TPUEstimator, TFRecords, flags."""

# ruff: noqa: B905, UP004, UP008, UP010, UP031
from __future__ import absolute_import, division, print_function

import collections
import math
import os
import re

import numpy as np
import six
import tensorflow as tf

flags = tf.flags
FLAGS = flags.FLAGS

flags.DEFINE_string("data_dir", None, "The folder of the .tfrecord files.")
flags.DEFINE_string("output_dir", None, "Where the model checkpoints will be written.")
flags.DEFINE_string("init_checkpoint", None, "Initial checkpoint.")
flags.DEFINE_bool("do_write", False, "Whether to write the .tfrecord files.")
flags.DEFINE_bool("do_train", False, "Whether to run training.")
flags.DEFINE_bool("do_eval", False, "Whether to run eval.")
flags.DEFINE_bool("do_predict", False, "Whether to run the model in inference mode.")
flags.DEFINE_bool("shuffle", True, "Whether to shuffle the training examples.")
flags.DEFINE_integer("train_batch_size", 8, "Total batch size for training.")
flags.DEFINE_integer("eval_batch_size", 16, "Total batch size for eval.")
flags.DEFINE_integer("predict_batch_size", 16, "Total batch size for predict.")
flags.DEFINE_float("learning_rate", 3e-3, "The initial learning rate for Adam.")
flags.DEFINE_float("dropout", 0.1, "The dropout probability.")
flags.DEFINE_integer("num_train_steps", 20, "Number of training steps.")
flags.DEFINE_integer("num_decay_steps", 60, "Number of steps in which the learning rate goes to zero.")
flags.DEFINE_integer("num_warmup_steps", 5, "Number of warmup steps.")
flags.DEFINE_integer("save_checkpoints_steps", 10, "How often to save the model checkpoint.")
flags.DEFINE_integer("iterations_per_loop", 1000, "How many steps to make in each estimator call.")
flags.DEFINE_bool("use_tpu", False, "Whether to use TPU or GPU/CPU.")
tf.flags.DEFINE_string("tpu_name", None, "The Cloud TPU to use for training.")
tf.flags.DEFINE_string("tpu_zone", None, "GCE zone where the Cloud TPU is located in.")
tf.flags.DEFINE_string("gcp_project", None, "Project name for the Cloud TPU-enabled project.")
tf.flags.DEFINE_string("master", None, "TensorFlow master URL.")
flags.DEFINE_integer("num_tpu_cores", 8, "Total number of TPU cores to use.")

VOCAB, SEQ, HIDDEN, HEADS, LAYERS = 40, 12, 16, 2, 2


def gelu(input_tensor):
    cdf = 0.5 * (1.0 + tf.erf(input_tensor / tf.sqrt(2.0)))
    return input_tensor * cdf


def layer_norm(input_tensor, name=None):
    return tf.contrib.layers.layer_norm(inputs=input_tensor, begin_norm_axis=-1, begin_params_axis=-1, scope=name)


def dropout(input_tensor, dropout_prob):
    if dropout_prob is None or dropout_prob == 0.0:
        return input_tensor
    return tf.nn.dropout(input_tensor, 1.0 - dropout_prob)


def create_initializer(initializer_range=0.02):
    return tf.truncated_normal_initializer(stddev=initializer_range)


def attention_layer(tensor, mask, batch_size, dropout_prob):
    def transpose_for_scores(x):
        x = tf.reshape(x, [batch_size, SEQ, HEADS, HIDDEN // HEADS])
        return tf.transpose(x, [0, 2, 1, 3])

    query, key, value = [
        transpose_for_scores(tf.layers.dense(tensor, HIDDEN, name=name, kernel_initializer=create_initializer()))
        for name in ("query", "key", "value")
    ]
    scores = tf.matmul(query, key, transpose_b=True)
    scores = tf.multiply(scores, 1.0 / math.sqrt(float(HIDDEN // HEADS)))
    scores += (1.0 - tf.cast(tf.expand_dims(mask, axis=[1]), tf.float32)) * -10000.0
    probs = dropout(tf.nn.softmax(scores), dropout_prob)
    context = tf.transpose(tf.matmul(probs, value), [0, 2, 1, 3])
    return tf.reshape(context, [batch_size * SEQ, HIDDEN])


class Model(object):
    def __init__(self, is_training, input_ids, input_mask, segment_ids):
        dropout_prob = FLAGS.dropout if is_training else 0.0
        batch_size = tf.shape(input_ids)[0]
        with tf.variable_scope("bert"):
            with tf.variable_scope("embeddings"):
                table = tf.get_variable("word_embeddings", [VOCAB, HIDDEN], initializer=create_initializer())
                output = tf.nn.embedding_lookup(table, input_ids)
                types = tf.get_variable("token_type_embeddings", [2, HIDDEN], initializer=create_initializer())
                one_hot = tf.one_hot(tf.reshape(segment_ids, [-1]), depth=2)
                output += tf.reshape(tf.matmul(one_hot, types), [batch_size, SEQ, HIDDEN])
                assert_op = tf.assert_less_equal(SEQ, 64)
                with tf.control_dependencies([assert_op]):
                    full = tf.get_variable("position_embeddings", [64, HIDDEN], initializer=create_initializer())
                    output += tf.expand_dims(tf.slice(full, [0, 0], [SEQ, -1]), 0)
                output = dropout(layer_norm(output, "LayerNorm"), dropout_prob)
            with tf.variable_scope("encoder"):
                mask = tf.tile(tf.expand_dims(input_mask, 1), [1, SEQ, 1])
                previous = tf.reshape(output, [-1, HIDDEN])
                for layer_idx in range(LAYERS):
                    with tf.variable_scope("layer_%d" % layer_idx):
                        with tf.variable_scope("attention"):
                            with tf.variable_scope("self"):
                                head = attention_layer(previous, mask, batch_size, dropout_prob)
                            with tf.variable_scope("output"):
                                out = tf.layers.dense(head, HIDDEN, kernel_initializer=create_initializer())
                                out = layer_norm(dropout(out, dropout_prob) + previous, "LayerNorm")
                        with tf.variable_scope("intermediate"):
                            inner = tf.layers.dense(
                                out, 2 * HIDDEN, activation=gelu, kernel_initializer=create_initializer()
                            )
                        with tf.variable_scope("output"):
                            layer = tf.layers.dense(inner, HIDDEN, kernel_initializer=create_initializer())
                            previous = layer_norm(dropout(layer, dropout_prob) + out, "LayerNorm")
                sequence = tf.reshape(previous, [-1, SEQ, HIDDEN])
            with tf.variable_scope("pooler"):
                first = tf.squeeze(sequence[:, 0:1, :], axis=1)
                self.pooled = tf.layers.dense(
                    first, HIDDEN, activation=tf.tanh, kernel_initializer=create_initializer()
                )


class AdamWeightDecayOptimizer(tf.train.Optimizer):
    """Adam with L2 weight decay, which is kept out of the moments."""

    def __init__(self, learning_rate, weight_decay_rate=0.0, exclude=None, name="AdamWeightDecayOptimizer"):
        super(AdamWeightDecayOptimizer, self).__init__(False, name)
        self.learning_rate = learning_rate
        self.weight_decay_rate = weight_decay_rate
        self.exclude = exclude

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        assignments = []
        for grad, param in grads_and_vars:
            if grad is None or param is None:
                continue
            param_name = re.match("^(.*):\\d+$", param.name).group(1)
            m = tf.get_variable(
                name=param_name + "/adam_m",
                shape=param.shape.as_list(),
                dtype=tf.float32,
                trainable=False,
                initializer=tf.zeros_initializer(),
            )
            v = tf.get_variable(
                name=param_name + "/adam_v",
                shape=param.shape.as_list(),
                dtype=tf.float32,
                trainable=False,
                initializer=tf.zeros_initializer(),
            )
            next_m = tf.multiply(0.9, m) + tf.multiply(1.0 - 0.9, grad)
            next_v = tf.multiply(0.999, v) + tf.multiply(1.0 - 0.999, tf.square(grad))
            update = next_m / (tf.sqrt(next_v) + 1e-6)
            if not any(re.search(pattern, param_name) for pattern in self.exclude or ()):
                update += self.weight_decay_rate * param
            next_param = param - self.learning_rate * update
            assignments.extend([param.assign(next_param), m.assign(next_m), v.assign(next_v)])
        return tf.group(*assignments, name=name)


def create_optimizer(loss, init_lr, num_decay_steps, num_warmup_steps, use_tpu):
    global_step = tf.train.get_or_create_global_step()
    learning_rate = tf.constant(value=init_lr, shape=[], dtype=tf.float32)
    learning_rate = tf.train.polynomial_decay(
        learning_rate, global_step, num_decay_steps, end_learning_rate=0.0, power=1.0, cycle=False
    )
    global_steps_int = tf.cast(global_step, tf.int32)
    warmup_steps_int = tf.constant(num_warmup_steps, dtype=tf.int32)
    warmup_percent_done = tf.cast(global_steps_int, tf.float32) / tf.cast(warmup_steps_int, tf.float32)
    is_warmup = tf.cast(global_steps_int < warmup_steps_int, tf.float32)
    learning_rate = (1.0 - is_warmup) * learning_rate + is_warmup * init_lr * warmup_percent_done
    optimizer = AdamWeightDecayOptimizer(learning_rate, 0.01, ["LayerNorm", "layer_norm", "bias"])
    if use_tpu:
        optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
    tvars = tf.trainable_variables()
    grads = tf.gradients(loss, tvars)
    (grads, _) = tf.clip_by_global_norm(grads, clip_norm=1.0)
    train_op = optimizer.apply_gradients(zip(grads, tvars), global_step=global_step)
    with tf.control_dependencies([train_op]):  # the learning rate has read the step by then
        return global_step.assign(global_step + 1)


def get_assignment_map_from_checkpoint(tvars, init_checkpoint):
    initialized = {}
    name_to_variable = collections.OrderedDict()
    for var in tvars:
        name = var.name
        m = re.match("^(.*):\\d+$", name)
        if m is not None:
            name = m.group(1)
        name_to_variable[name] = var
    assignment_map = collections.OrderedDict()
    for name, _ in tf.train.list_variables(init_checkpoint):
        if name not in name_to_variable:
            continue
        assignment_map[name] = name
        initialized[name] = 1
        initialized[name + ":0"] = 1
    return (assignment_map, initialized)


class LossHook(tf.train.SessionRunHook):
    """Appends the loss of each step to a file."""

    def __init__(self, loss, path):
        self.loss = loss
        self.path = path

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self.loss)

    def after_run(self, run_context, run_values):
        with tf.gfile.GFile(self.path, "a") as writer:
            writer.write("%.8f\n" % run_values.results)


def model_fn_builder(init_checkpoint, use_tpu):
    def model_fn(features, labels, mode, params):
        tf.logging.info("*** Features ***")
        for name in sorted(features.keys()):
            tf.logging.info("  name = %s, shape = %s" % (name, features[name].shape))
        is_training = mode == tf.estimator.ModeKeys.TRAIN
        model = Model(is_training, features["input_ids"], features["input_mask"], features["segment_ids"])
        label_ids = features["label_ids"]
        with tf.variable_scope("loss"):
            weights = tf.get_variable("output_weights", [2, HIDDEN], initializer=create_initializer())
            bias = tf.get_variable("output_bias", [2], initializer=tf.zeros_initializer())
            logits = tf.nn.bias_add(
                tf.matmul(dropout(model.pooled, 0.1 * is_training * bool(FLAGS.dropout)), weights, transpose_b=True),
                bias,
            )
            probabilities = tf.nn.softmax(logits, axis=-1)
            log_probs = tf.nn.log_softmax(logits, axis=-1)
            one_hot_labels = tf.one_hot(label_ids, depth=2, dtype=tf.float32)
            per_example_loss = -tf.reduce_sum(one_hot_labels * log_probs, axis=-1)
            loss = tf.reduce_mean(per_example_loss)

        tvars = tf.trainable_variables()
        scaffold_fn = None
        if init_checkpoint:
            (assignment_map, initialized) = get_assignment_map_from_checkpoint(tvars, init_checkpoint)
            assert len(initialized) == 2 * len(tvars), sorted(initialized)
            if use_tpu:

                def tpu_scaffold():
                    tf.train.init_from_checkpoint(init_checkpoint, assignment_map)
                    return tf.train.Scaffold()

                scaffold_fn = tpu_scaffold
            else:
                tf.train.init_from_checkpoint(init_checkpoint, assignment_map)

        if mode == tf.estimator.ModeKeys.TRAIN:
            train_op = create_optimizer(
                loss, FLAGS.learning_rate, FLAGS.num_decay_steps, FLAGS.num_warmup_steps, use_tpu
            )
            return tf.contrib.tpu.TPUEstimatorSpec(
                mode=mode,
                loss=loss,
                train_op=train_op,
                scaffold_fn=scaffold_fn,
                training_hooks=[LossHook(loss, os.path.join(FLAGS.output_dir, "losses.txt"))],
            )
        if mode == tf.estimator.ModeKeys.EVAL:

            def metric_fn(per_example_loss, label_ids, logits):
                predictions = tf.argmax(logits, axis=-1, output_type=tf.int32)
                return {
                    "eval_accuracy": tf.metrics.accuracy(labels=label_ids, predictions=predictions),
                    "eval_loss": tf.metrics.mean(values=per_example_loss),
                }

            return tf.contrib.tpu.TPUEstimatorSpec(
                mode=mode,
                loss=loss,
                eval_metrics=(metric_fn, [per_example_loss, label_ids, logits]),
                scaffold_fn=scaffold_fn,
            )
        return tf.contrib.tpu.TPUEstimatorSpec(
            mode=mode, predictions={"probabilities": probabilities}, scaffold_fn=scaffold_fn
        )

    return model_fn


def write_examples(path, number, seed):
    """Sentences of two segments; the label is whether the second one begins with a token of the first one."""

    def create_int_feature(values):
        return tf.train.Feature(int64_list=tf.train.Int64List(value=[int(value) for value in values]))

    rng = np.random.RandomState(seed)
    writer = tf.python_io.TFRecordWriter(path)
    for _ in range(number):
        first = rng.randint(3, VOCAB, rng.randint(2, 5))
        second = rng.randint(3, VOCAB, rng.randint(1, 5))
        label = rng.randint(2)
        if label:
            second[0] = first[rng.randint(len(first))]
        tokens = [1] + list(first) + [2] + list(second) + [2]
        segments = [0] * (len(first) + 2) + [1] * (len(second) + 1)
        padding = [0] * (SEQ - len(tokens))
        features = collections.OrderedDict()
        features["input_ids"] = create_int_feature(tokens + padding)
        features["input_mask"] = create_int_feature([1] * len(tokens) + padding)
        features["segment_ids"] = create_int_feature(segments + padding)
        features["label_ids"] = create_int_feature([label])
        writer.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())
    writer.close()


def input_fn_builder(input_file, is_training, drop_remainder):
    name_to_features = {
        "input_ids": tf.FixedLenFeature([SEQ], tf.int64),
        "input_mask": tf.FixedLenFeature([SEQ], tf.int64),
        "segment_ids": tf.FixedLenFeature([SEQ], tf.int64),
        "label_ids": tf.FixedLenFeature([], tf.int64),
    }

    def _decode_record(record, name_to_features):
        example = tf.parse_single_example(record, name_to_features)
        for name in list(example.keys()):
            t = example[name]
            if t.dtype == tf.int64:
                t = tf.to_int32(t)
            example[name] = t
        return example

    def input_fn(params):
        batch_size = params["batch_size"]
        d = tf.data.TFRecordDataset(input_file)
        if is_training:
            d = d.repeat()
            if FLAGS.shuffle:
                d = d.shuffle(buffer_size=100)
        d = d.apply(
            tf.contrib.data.map_and_batch(
                lambda record: _decode_record(record, name_to_features),
                batch_size=batch_size,
                drop_remainder=drop_remainder,
            )
        )
        return d

    return input_fn


def main(_):
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.gfile.MakeDirs(FLAGS.output_dir)
    files = {name: os.path.join(FLAGS.data_dir, name + ".tfrecord") for name in ("train", "eval")}
    if FLAGS.do_write:
        write_examples(files["train"], 64, 1)
        write_examples(files["eval"], 40, 2)

    tpu_cluster_resolver = None
    if FLAGS.use_tpu and FLAGS.tpu_name:
        tpu_cluster_resolver = tf.contrib.cluster_resolver.TPUClusterResolver(
            FLAGS.tpu_name, zone=FLAGS.tpu_zone, project=FLAGS.gcp_project
        )
    is_per_host = tf.contrib.tpu.InputPipelineConfig.PER_HOST_V2
    run_config = tf.contrib.tpu.RunConfig(
        cluster=tpu_cluster_resolver,
        master=FLAGS.master,
        model_dir=FLAGS.output_dir,
        save_checkpoints_steps=FLAGS.save_checkpoints_steps,
        tpu_config=tf.contrib.tpu.TPUConfig(
            iterations_per_loop=FLAGS.iterations_per_loop,
            num_shards=FLAGS.num_tpu_cores,
            per_host_input_for_training=is_per_host,
        ),
    )
    estimator = tf.contrib.tpu.TPUEstimator(
        use_tpu=FLAGS.use_tpu,
        model_fn=model_fn_builder(FLAGS.init_checkpoint, FLAGS.use_tpu),
        config=run_config,
        train_batch_size=FLAGS.train_batch_size,
        eval_batch_size=FLAGS.eval_batch_size,
        predict_batch_size=FLAGS.predict_batch_size,
    )

    if FLAGS.do_train:
        tf.logging.info("***** Running training *****")
        estimator.train(
            input_fn=input_fn_builder(files["train"], is_training=True, drop_remainder=True),
            max_steps=FLAGS.num_train_steps,
        )
    if FLAGS.do_eval:
        result = estimator.evaluate(
            input_fn=input_fn_builder(files["eval"], is_training=False, drop_remainder=False), steps=None
        )
        with tf.gfile.GFile(os.path.join(FLAGS.output_dir, "eval_results.txt"), "w") as writer:
            for key in sorted(result.keys()):
                tf.logging.info("  %s = %s", key, str(result[key]))
                writer.write("%s = %s\n" % (key, str(result[key])))
    if FLAGS.do_predict:
        result = estimator.predict(input_fn=input_fn_builder(files["eval"], is_training=False, drop_remainder=False))
        with tf.gfile.GFile(os.path.join(FLAGS.output_dir, "test_results.tsv"), "w") as writer:
            for prediction in result:
                writer.write("\t".join("%.6f" % p for p in six.moves.map(float, prediction["probabilities"])) + "\n")


if __name__ == "__main__":
    flags.mark_flag_as_required("data_dir")
    flags.mark_flag_as_required("output_dir")
    tf.app.run()
