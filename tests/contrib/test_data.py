"""contrib.data: its names are functions that datasets apply, as 1.15's were."""

from __future__ import annotations

from collections.abc import Callable

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
