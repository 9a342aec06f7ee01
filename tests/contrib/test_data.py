"""contrib.data: its names are functions that datasets apply, as 1.15's were."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support import PythonRun


def test_functions_for_apply(run_python: Callable[..., PythonRun]) -> None:
    results = run_python(
        """
        import tf1sessions
        from tf1sessions.runtime import tf1 as tf

        tf1sessions.enable_v1_behavior()
        from tf1sessions import contrib

        data = contrib.data

        def elements(dataset):
            following = tf.data.make_one_shot_iterator(dataset).get_next()
            found = []
            with tf.Session() as session:
                try:
                    while True:
                        found.append(session.run(following).tolist())
                except tf.errors.OutOfRangeError:
                    return found

        numbers = tf.data.Dataset.range(5)
        report(
            missing=[name for name in data.__all__ if not hasattr(data, name)],
            batches=elements(numbers.apply(data.batch_and_drop_remainder(2))),
            padded=elements(
                numbers.map(lambda n: tf.fill([n], n)).apply(
                    data.padded_batch_and_drop_remainder(2, [None], -tf.ones([], tf.int64))
                )
            ),
            sloppy=sorted(elements(numbers.apply(data.sloppy_interleave(tf.data.Dataset.from_tensors, 2)))),
            mapped=elements(numbers.apply(data.map_and_batch(lambda n: n * n, 2, drop_remainder=False))),
            shuffled=sorted(elements(numbers.apply(data.shuffle_and_repeat(10, count=2, seed=1)))),
            scanned=elements(numbers.apply(data.scan(tf.constant(0, tf.int64), lambda old, n: (old + n, old + n)))),
        )
        """
    ).results
    assert results == {
        "missing": [],
        "batches": [[0, 1], [2, 3]],
        "padded": [[[-1], [1]], [[2, 2, -1], [3, 3, 3]]],
        "sloppy": [0, 1, 2, 3, 4],
        "mapped": [[0, 1], [4, 9], [16]],
        "shuffled": [0, 0, 1, 1, 2, 2, 3, 3, 4, 4],
        "scanned": [0, 1, 3, 6, 10],
    }


@pytest.mark.parametrize("way", ["script", "TF2 program"])
def test_input_that_goes_on_where_it_was(run_python: Callable[..., PythonRun], tmp_path: Path, way: str) -> None:
    found = run_python(
        """
        import json, os, sys
        import tf1sessions
        from tf1sessions import contrib, estimator
        from tf1sessions.runtime import tf1 as tf

        folder, way = sys.argv[1:]
        if way == "script":
            tf1sessions.enable_v1_behavior()
        tf.logging.set_verbosity(tf.logging.ERROR)
        Hook = contrib.data.CheckpointInputPipelineHook
        seen = []

        def model(features, labels, mode):
            with tf.control_dependencies([tf.py_func(lambda x: seen.append(int(x)), [features], [])]):
                step = tf.train.get_or_create_global_step().assign_add(1)
            return estimator.EstimatorSpec(mode, loss=tf.cast(features, tf.float32), train_op=step)

        def made(**config):
            return estimator.Estimator(model, folder, estimator.RunConfig(**config))

        def numbers():
            return tf.data.Dataset.range(20).map(lambda x: (x, x))

        def files():
            with open(os.path.join(folder, "checkpoint_input")) as file:
                latest = [os.path.basename(line.strip('"')) for line in file.read().split()[1::2]]
            return latest, sorted(name for name in os.listdir(folder) if "input" in name and "data" not in name)

        def error(call):
            try:
                call()
            except (RuntimeError, ValueError) as error:
                return type(error).__name__ + ": " + str(error)

        trained = made(save_checkpoints_steps=2, keep_checkpoint_max=2)
        hook = Hook(trained)
        trained.train(numbers, steps=3, hooks=[hook])
        report(first=files(), kept=[name for name, _ in tf.train.list_variables(os.path.join(folder, "input.ckpt-3"))])
        trained = made(save_checkpoints_steps=2)
        hook = Hook(trained)
        trained.train(numbers, steps=3, hooks=[hook])
        trained.train(numbers, steps=2, hooks=[hook])
        report(second=files()[0], seen=list(seen))
        trained.train(numbers, steps=1)
        report(without=seen[-1])

        tasks = []
        for kind, number in (("chief", 0), ("worker", 1)):
            cluster = {"chief": ["a:1"], "worker": ["b:2", "b:3"], "ps": ["d:4"]}
            os.environ["TF_CONFIG"] = json.dumps({"cluster": cluster, "task": {"type": kind, "index": number}})
            distributed = os.path.join(folder, kind)
            hook = Hook(estimator.Estimator(model, distributed, estimator.RunConfig(save_checkpoints_steps=1)))
            del os.environ["TF_CONFIG"]
            with tf.Graph().as_default(), tf.Session() as session:
                step = tf.train.get_or_create_global_step()
                iterator = tf.data.make_initializable_iterator(tf.data.Dataset.range(3))
                hook.begin()
                session.run([step.initializer, iterator.initializer])
                hook.end(session)
            tasks.append(sorted(name for name in os.listdir(distributed) if "data" not in name))
        report(tasks=tasks)

        def empty():
            with tf.Graph().as_default():
                tf.train.get_or_create_global_step()
                Hook(made(save_checkpoints_steps=1)).begin()

        def without_step():
            with tf.Graph().as_default():
                tf.data.make_initializable_iterator(tf.data.Dataset.range(3))
                Hook(made(save_checkpoints_steps=1)).begin()

        report(errors=[error(lambda: Hook(made(save_checkpoints_secs=None))), error(empty), error(without_step)])
        """,
        str(tmp_path),
        way,
    ).results

    def files(*steps: int) -> list[str]:
        return ["checkpoint_input", *(f"input.ckpt-{step}.{kind}" for step in steps for kind in ("index", "meta"))]

    # as 1.15.5 did
    names = [f"input.ckpt-{step}" for step in (0, 2, 3)]
    assert found["first"] == [[names[-1], *names], files(0, 2, 3)]
    assert len(found["kept"]) == 1 and found["kept"][0].endswith("-state")
    assert found["seen"] == [0, 1, 2, 3, 4, 5, 6, 7]
    assert found["second"][0] == "input.ckpt-8"
    assert found["without"] == 0
    assert found["tasks"] == [
        [f"checkpoint_input_{task}", f"input_{task}.ckpt-0.index", f"input_{task}.ckpt-0.meta"]
        for task in ("chief_0", "worker_1")
    ]
    assert found["errors"] == [
        "ValueError: Either every_secs or every_steps should be provided.",
        "ValueError: No variables to save",
        "RuntimeError: Global step should be created to use CheckpointInputPipelineHook.",
    ]
