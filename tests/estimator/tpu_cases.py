"""Programs of ``tf.contrib.tpu`` without a TPU, for 1.15.5 and for tf1sessions: ``run(tf, contrib)``.

Runs on Python 3.7 too.
"""

import os
import tempfile

import numpy as np

X = np.arange(24, dtype=np.float32).reshape(24, 1) / 24


def number(value):
    return [float(f"{item:.7g}") for item in np.asarray(value).ravel()]


def kind(call):
    try:
        call()
    except Exception as error:
        return type(error).__name__
    return None


def input_fn_of(tf, seen):
    def input_fn(params):
        seen.append(["input", sorted((key, value) for key, value in params.items())])
        dataset = tf.data.Dataset.from_tensor_slices(({"x": X}, X * 2)).repeat(2)
        return dataset.batch(params["batch_size"], drop_remainder=True)

    return input_fn


def model_fn_of(tf, tpu, seen, hosted):
    def model_fn(features, labels, mode, config, params):
        seen.append(["model", mode, sorted((k, v) for k, v in params.items()), type(config).__name__])
        y = tf.layers.dense(features["x"], 1, kernel_initializer=tf.ones_initializer())
        if mode == "infer":
            return tpu.TPUEstimatorSpec(mode, predictions={"y": y})
        loss = tf.losses.mean_squared_error(labels, y)
        step = tf.train.get_or_create_global_step()

        def host(loss):
            def note(loss):
                hosted.append(float(f"{loss[0]:.6g}"))
                return np.int64(0)

            return tf.py_func(note, [loss], tf.int64)

        def metric_fn(labels, predictions):
            return {"error": tf.metrics.mean_absolute_error(labels, predictions)}

        train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss, step)
        return tpu.TPUEstimatorSpec(
            mode,
            loss=loss,
            train_op=train_op,
            eval_metrics=(metric_fn, {"labels": labels, "predictions": y}),
            host_call=(host, [tf.reshape(loss, [1])]) if mode == "train" else None,
            scaffold_fn=lambda: seen.append(["scaffold"]) or tf.train.Scaffold(),
        )

    return model_fn


def life(tf, contrib):
    tpu = contrib.tpu
    seen, hosted = [], []
    folder = tempfile.mkdtemp()
    config = tpu.RunConfig(
        model_dir=folder,
        save_checkpoints_steps=4,
        log_step_count_steps=2,
        tf_random_seed=1,
        tpu_config=tpu.TPUConfig(iterations_per_loop=2),
    )
    estimator = tpu.TPUEstimator(
        model_fn_of(tf, tpu, seen, hosted),
        config=config,
        use_tpu=False,
        train_batch_size=4,
        eval_batch_size=6,
        predict_batch_size=8,
        params={"p": 1},
    )
    input_fn = input_fn_of(tf, seen)
    returned = estimator.train(input_fn, steps=5) is estimator
    found = {"returned": returned, "params": estimator.params, "log": estimator.config.log_step_count_steps}
    metrics = [estimator.evaluate(input_fn, steps=2), estimator.evaluate(input_fn)]
    found["metrics"] = [sorted((key, number(value)) for key, value in results.items()) for results in metrics]
    predictions = list(estimator.predict(input_fn))
    found["predictions"] = [len(predictions), number([row["y"] for row in predictions[:9]])]
    estimator.train(input_fn, max_steps=7)
    found["names"] = estimator.get_variable_names()
    found["values"] = number(estimator.get_variable_value("dense/kernel"))
    found["checkpoints"] = sorted(name for name in os.listdir(folder) if name.endswith(".index"))
    tags = []
    for name in sorted(os.listdir(folder)):
        if "tfevents" in name:
            for event in tf.train.summary_iterator(os.path.join(folder, name)):
                tags += [[event.step, value.tag] for value in event.summary.value]
    found["events"] = sorted(tags)

    def serving():
        placeholder = tf.placeholder(tf.float32, [None, 1])
        return tf.estimator.export.ServingInputReceiver({"x": placeholder}, placeholder)

    before = len(seen)
    estimator_of_cpu = tpu.TPUEstimator(
        model_fn_of(tf, tpu, seen, hosted),
        config=config,
        use_tpu=False,
        train_batch_size=4,
        predict_batch_size=8,
        export_to_tpu=False,
    )
    exported = estimator_of_cpu.export_savedmodel(os.path.join(folder, "export"), serving)
    found["exported"] = sorted(os.listdir(exported.decode()))
    found["seen"], found["export sees"] = seen[:before], seen[before:]
    found["hosted"] = sorted(hosted)
    hparams = contrib.training.HParams(a=1)
    sizes = []

    def sized(features, labels, mode, params):
        sizes.append([params.batch_size, params.use_tpu, params.a])
        loss = tf.reduce_mean(tf.layers.dense(features["x"], 1))
        train_op = tf.assign_add(tf.train.get_global_step(), 1)
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    def hinput(params):
        return input_fn({"batch_size": params.batch_size})

    other = tpu.TPUEstimator(sized, config=tpu.RunConfig(), use_tpu=False, train_batch_size=3, params=hparams)
    other.train(hinput, steps=1)
    found["hparams"] = sizes
    return found


def configs(tf, contrib):
    tpu = contrib.tpu
    resolver = contrib.cluster_resolver.TPUClusterResolver("grpc://1.2.3.4:8470")
    simple = contrib.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec({"worker": ["a:1"]}))
    found = {"default": list(tpu.TPUConfig()), "fields": list(tpu.TPUConfig._fields)}
    found["kinds"] = [int(getattr(tpu.InputPipelineConfig, name)) for name in ("PER_SHARD_V1", "PER_HOST_V2", "SLICED")]
    for name, options in {
        "none": {},
        "both": {"master": "a", "evaluation_master": "b"},
        "master": {"master": "a"},
        "cluster": {"cluster": resolver},
        "simple": {"cluster": simple},
    }.items():
        config = tpu.RunConfig(save_checkpoints_steps=4, keep_checkpoint_max=2, **options)
        found[name] = [config.master, config.evaluation_master, config.save_checkpoints_steps]
        found[name].append(config.cluster_spec.as_dict())
    config = tpu.RunConfig(tpu_config=tpu.TPUConfig(5)).replace(tpu_config=tpu.TPUConfig(6), save_summary_steps=9)
    found["replaced"] = [config.tpu_config.iterations_per_loop, config.save_summary_steps, type(config).__name__]
    found["false"] = int(tpu.TPUConfig(per_host_input_for_training=False).per_host_input_for_training)
    for text in ("", "local"):
        here = contrib.cluster_resolver.TPUClusterResolver(text)
        found["resolver " + text] = [here.master(), here.get_master(), here.cluster_spec(), here.rpc_layer]
    found["address"] = [resolver.master(), resolver.get_master(), resolver.cluster_spec().as_dict(), resolver.rpc_layer]
    wrong = {
        "iterations": lambda: tpu.TPUConfig(iterations_per_loop=0),
        "shards": lambda: tpu.TPUConfig(num_shards=0),
        "cores": lambda: tpu.TPUConfig(num_cores_per_replica=3),
        "dims": lambda: tpu.TPUConfig(input_partition_dims=[1]),
        "eval input": lambda: tpu.TPUConfig(eval_training_input_configuration=1),
        "seconds": lambda: tpu.TPUConfig(iterations_per_loop="60s"),
        "two masters": lambda: tpu.RunConfig(master="a", cluster=resolver),
        "argument": lambda: tpu.RunConfig(nothing=1),
        "no name": lambda: contrib.cluster_resolver.TPUClusterResolver(),
    }
    found["errors"] = {name: kind(call) for name, call in wrong.items()}
    return found


def specs(tf, contrib):
    tpu = contrib.tpu
    found = {"fields": list(tpu.TPUEstimatorSpec._fields)}
    with tf.Graph().as_default():
        one, many = tf.constant(1.0), tf.constant([1.0, 2.0])

        def spec(mode="eval", **options):
            return tpu.TPUEstimatorSpec(mode, loss=one, train_op=tf.no_op(), **options)

        wrong = {
            "no train_op": lambda: tpu.TPUEstimatorSpec("train", loss=one),
            "no loss": lambda: tpu.TPUEstimatorSpec("eval"),
            "no predictions": lambda: tpu.TPUEstimatorSpec("infer"),
            "metrics": lambda: spec(eval_metrics=3),
            "metrics of one": lambda: spec(eval_metrics=(1,)),
            "metrics function": lambda: spec(eval_metrics=(3, [many])),
            "metrics tensors": lambda: spec(eval_metrics=(lambda x: 1, 3)),
            "metrics number": lambda: spec(eval_metrics=(lambda x: 1, [many, many])),
            "metrics any number": lambda: spec(eval_metrics=(lambda *x: 1, [many, many])),
            "host": lambda: spec(host_call=3),
            "hooks": lambda: spec(training_hooks=[3]),
        }
        found["errors"] = {name: kind(call) for name, call in wrong.items()}
        made = spec(
            eval_metrics=(lambda x: {"m": tf.metrics.mean(x)}, [many]), host_call=(lambda x: tf.identity(x), [many])
        ).as_estimator_spec()
        found["made"] = [sorted(made.eval_metric_ops), len(made.training_hooks), len(made.evaluation_hooks)]

    def model_fn(features, labels, mode, params):
        return None

    def make(**options):
        given = {"config": tpu.RunConfig(), "use_tpu": False, "train_batch_size": 2}
        given.update(options)
        return tpu.TPUEstimator(given.pop("model_fn", model_fn), **given)

    def plain(features, labels, mode):
        return None

    def unlabelled(features, mode, params):
        return None

    input_fn = input_fn_of(tf, [])
    wrong = {
        "config": lambda: make(config=tf.estimator.RunConfig()),
        "no config": lambda: make(config=None),
        "reserved": lambda: make(params={"batch_size": 3}),
        "no batch size": lambda: make(use_tpu=True, train_batch_size=None),
        "batch size": lambda: make(use_tpu=True, train_batch_size=4, eval_batch_size=2.5),
        "no tpu": lambda: make(use_tpu=True).train(input_fn, steps=1),
        "input": lambda: make().train(lambda: 3, steps=1),
        "model": lambda: make(model_fn=plain).train(input_fn, steps=1),
        "labels": lambda: make(model_fn=unlabelled).train(input_fn, steps=1),
        "steps": lambda: make().train(input_fn, steps=0),
        "both steps": lambda: make().train(input_fn, steps=1, max_steps=1),
        "no eval size": lambda: make().evaluate(input_fn, steps=1),
    }
    found["estimators"] = {name: kind(call) for name, call in wrong.items()}
    return found


def graphs(tf, contrib):
    tpu = contrib.tpu
    found = {}
    with tf.Graph().as_default() as graph:
        outputs = tpu.rewrite(lambda x: x * 2, [tf.constant(1.0)])
        tpu.shard(lambda x: x * 2, [tf.constant([1.0, 2.0])], num_shards=2)
        tpu.cross_replica_sum(tf.constant([1.0]))
        tpu.initialize_system()
        tpu.shutdown_system(job="w")
        found["rewritten"] = [tensor.name for tensor in outputs]
        kinds = {"TPUReplicatedInput", "TPUReplicateMetadata", "CrossReplicaSum", "ConfigureDistributedTPU"}
        found["operations"] = [
            [op.type, op.device] for op in graph.get_operations() if op.type in kinds | {"ShutdownDistributedTPU"}
        ]
    with tf.Graph().as_default():
        with tpu.bfloat16_scope():
            half = tf.get_variable("w", [2], tf.bfloat16, initializer=tf.ones_initializer())
        found["bfloat16"] = [half.dtype.base_dtype.name, tf.global_variables()[0].dtype.base_dtype.name]
        v = tf.get_variable("v", [2], initializer=tf.ones_initializer())
        optimizer = tpu.CrossShardOptimizer(tf.train.AdamOptimizer(0.1))
        optimizer.apply_gradients(optimizer.compute_gradients(tf.reduce_sum(v * v)))
        found["optimizer"] = [x.name for x in tf.global_variables()] + optimizer.get_slot_names()
    with tf.Graph().as_default():
        run = {
            "repeat": tpu.repeat(3, lambda x: x * 2, [tf.constant(1.0)]),
            "while": tpu.while_loop(lambda x: x < 10, lambda x: x * 2, [tf.constant(1.0)]),
            "outside": tpu.outside_compilation(lambda x: x * 2, tf.constant(1.0)),
            "core": tf.constant(tpu.core(3)),
        }
        with tf.Session() as session:
            values = session.run(run)
        found["run"] = {key: number(value) for key, value in values.items() if key != "core"}
        found["core"] = values["core"].decode()
    found["reduction"] = kind(lambda: tpu.CrossShardOptimizer(tf.train.AdamOptimizer(0.1), reduction="none"))
    return found


def run(tf, contrib):
    tf.logging.set_verbosity(tf.logging.FATAL)
    return {function.__name__: function(tf, contrib) for function in (life, configs, specs, graphs)}
