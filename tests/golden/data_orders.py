"""In which order elements of data sets come, on genuine TensorFlow 1.15.5: ``python data_orders.py``.

Writes data_orders.json beside this file. To be run with the Python of an environment that has TensorFlow 1.15; CASES
are for both TensorFlows. Python 3.6 and later.
"""

import json
import os
import tempfile

import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "data_orders.json")


def numbers(count=8):
    return tf.data.Dataset.range(count)


def shuffled(**settings):
    return numbers().shuffle(8, seed=3, **settings)


def tens(x):
    return tf.data.Dataset.range(3).map(lambda y: x * 10 + y)


def drawn(function):
    """With the seed of a graph, and none of the data set's."""
    tf.set_random_seed(5)
    return function()


def files():
    folder = tempfile.mkdtemp()
    for number in range(6):
        with open(os.path.join(folder, "file%d" % number), "w") as file:
            file.write("first of %d\nsecond of %d\n" % (number, number))
    return tf.data.Dataset.list_files(os.path.join(folder, "*"), seed=3)


def names(dataset):
    return dataset.map(lambda path: tf.string_split([path], os.sep).values[-1])


experimental = tf.data.experimental
CASES = {
    "shuffle": lambda: numbers(20).shuffle(8, seed=3),
    "shuffle, by the graph's seed": lambda: drawn(lambda: numbers().shuffle(8)),
    "repeat, shuffle": lambda: numbers().repeat(3).shuffle(8, seed=3),
    "shuffle, repeat": lambda: shuffled().repeat(3),
    "shuffle, repeat, with a small buffer": lambda: numbers().shuffle(3, seed=3).repeat(3),
    "shuffle, repeat, for ever": lambda: shuffled().repeat().take(30),
    "shuffle, repeat once": lambda: shuffled().repeat(1),
    "shuffle, repeat, by the graph's seed": lambda: drawn(lambda: numbers().shuffle(8).repeat(3)),
    "shuffle, repeat, in the same order": lambda: shuffled(reshuffle_each_iteration=False).repeat(3),
    "shuffle, repeat, reshuffled": lambda: shuffled(reshuffle_each_iteration=True).repeat(3),
    "shuffle, repeat, shuffle": lambda: shuffled().repeat(2).shuffle(4, seed=5),
    "shuffle_and_repeat": lambda: numbers().apply(experimental.shuffle_and_repeat(8, 3, seed=3)),
    "shuffle, batch, repeat": lambda: shuffled().batch(2).repeat(3),
    "shuffle, map, repeat": lambda: shuffled().map(lambda x: x + 1).repeat(3),
    "shuffle, prefetch, repeat": lambda: shuffled().prefetch(1).repeat(3),
    "shuffle, take, repeat": lambda: numbers(20).shuffle(8, seed=3).take(5).repeat(3),
    "shuffle, cache, repeat": lambda: shuffled().cache().repeat(2),
    "shuffle, window": lambda: shuffled().window(3).flat_map(lambda window: window.batch(3)),
    "shuffle inside flat_map": lambda: numbers(2).flat_map(lambda x: numbers(5).shuffle(5, seed=3)),
    "shard, shuffle": lambda: numbers(20).shard(3, 1).shuffle(8, seed=3),
    "interleave": lambda: numbers(4).interleave(tens, cycle_length=2, block_length=2),
    "interleave, parallel": lambda: numbers(4).interleave(tens, 2, 1, num_parallel_calls=2),
    "parallel_interleave": lambda: numbers(4).apply(experimental.parallel_interleave(tens, cycle_length=2)),
    "map, parallel": lambda: numbers().map(lambda x: x * x, num_parallel_calls=4),
    "map that draws": lambda: numbers().map(lambda x: tf.random_uniform([], maxval=99, dtype=tf.int32, seed=3)),
    "map_and_batch": lambda: shuffled().apply(experimental.map_and_batch(lambda x: x + 1, 4)),
    "sample_from_datasets": lambda: experimental.sample_from_datasets([numbers(), numbers(20)], [0.5, 0.5], seed=3),
    "list_files": lambda: names(files()),
    "list_files, repeat": lambda: names(files().repeat(2)),
}


def order(name):
    """The elements of a case."""
    with tf.Graph().as_default():
        element = tf.data.make_one_shot_iterator(CASES[name]()).get_next()
        found = []
        with tf.Session() as session:
            while True:
                try:
                    value = session.run(element)
                except tf.errors.OutOfRangeError:
                    return found
                found.append(value.decode() if isinstance(value, bytes) else value.tolist())


if __name__ == "__main__":
    with open(GOLDEN, "w") as golden:
        json.dump({name: order(name) for name in CASES}, golden, sort_keys=True)
        golden.write("\n")
