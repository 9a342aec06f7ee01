"""In which order elements of data sets come, on genuine TensorFlow 1.15.5: ``python data_orders.py``.

Writes data_orders.json in ../data. To be run with the Python of an environment that has TensorFlow 1.15; CASES
are for both TensorFlows. Python 3.6 and later.
"""

import json
import os
import tempfile

import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(os.path.dirname(HERE), "data", "data_orders.json")


def numbers(count=8):
    return tf.data.Dataset.range(count)


def shuffled(**settings):
    return numbers().shuffle(8, seed=3, **settings)


def tens(x):
    return tf.data.Dataset.range(3).map(lambda y: x * 10 + y)


def drawn(function, seed=5):
    """With the seed of a graph, and perhaps none of the data set's."""
    tf.set_random_seed(seed)
    return function()


def content(dataset):
    """A number for the order of 100 elements."""
    return dataset.batch(100).map(lambda batch: tf.reduce_sum(batch * tf.range(1, 101, dtype=tf.int64)))


def files():
    folder = tempfile.mkdtemp()
    for number in range(6):
        with open(os.path.join(folder, "file%d" % number), "w") as file:
            file.write("first of %d\nsecond of %d\n" % (number, number))
    return tf.data.Dataset.list_files(os.path.join(folder, "*"), seed=3)


def names(dataset):
    return dataset.map(lambda path: tf.string_split([path], os.sep).values[-1])


def repeated(source, buffer_size=4, count=3):
    return source.shuffle(buffer_size, seed=3).repeat(count)


def sparse(x):
    return tf.SparseTensor([[x, 0]], [x], [9, 2])


def optimized(**settings):
    options = tf.data.Options()
    for name, value in settings.items():
        setattr(options.experimental_optimization, name, value)
    return options


experimental = tf.data.experimental
#: Of shuffle and repeat, one directly after the other.
REPEATED = {
    "of one": lambda: repeated(numbers(1)),
    "of none": lambda: repeated(numbers(0)),
    "of none, without end": lambda: repeated(numbers(0), 4, None),
    "through one place": lambda: repeated(numbers(), 1),
    "through many places": lambda: repeated(numbers(3), 100, 7),
    "without end": lambda: repeated(numbers(5), 4, -1).take(40),
    "in blocks": lambda: content(repeated(numbers(1000), 300, 3)),
    "in many blocks": lambda: content(repeated(numbers(3000), 2900, 2)),
    "in small blocks": lambda: content(repeated(numbers(700), 10, None)).take(20),
    "of another length each time": lambda: repeated(
        numbers(9).filter(lambda x: tf.random_uniform([], seed=1) < 0.7), 4, 5
    ),
    "of other elements each time": lambda: repeated(
        numbers().map(lambda x: x + tf.random_uniform([], 0, 9, tf.int64, seed=1) * 10)
    ),
    "of text": lambda: repeated(numbers().map(tf.as_string)),
    "of other shapes": lambda: repeated(numbers().map(lambda x: tf.fill([x], x))),
    "of large arrays": lambda: repeated(numbers().map(lambda x: tf.fill([40, 40], x))).map(lambda x: x[0, 0]),
    "of sparse tensors": lambda: repeated(numbers().map(lambda x: (sparse(x), x))).map(
        lambda x, y: (x.values, x.dense_shape, y)
    ),
    "of data sets": lambda: repeated(numbers(12).window(3)).flat_map(lambda window: window.batch(3)),
    "of pairs": lambda: repeated(tf.data.Dataset.zip((numbers(), numbers().map(tf.as_string)))),
    "of numbers of many types": lambda: repeated(
        numbers().map(lambda x: {"a": tf.cast(x, tf.uint8), "b": (x > 3, tf.cast([x, x], tf.float16))})
    ).map(lambda both: (both["a"], both["b"][0], both["b"][1])),
    "of complex numbers": lambda: repeated(numbers().map(lambda x: tf.cast(x, tf.complex64))).map(tf.real),
    "of a generator": lambda: repeated(tf.data.Dataset.from_generator(lambda: iter([[1], [2, 3], [4]]), tf.int32)),
    "of a cache": lambda: repeated(numbers().cache()).cache(),
    "of batches": lambda: repeated(numbers().batch(3)),
    "in flat_map": lambda: numbers(3).flat_map(lambda x: repeated(numbers(5), 4, 2)),
    "in interleave": lambda: numbers(3).interleave(lambda x: repeated(numbers(5), 4, 2), 2),
    "in parallel": lambda: numbers(3).interleave(lambda x: repeated(numbers(5), 4, 2), 2, num_parallel_calls=2),
    "zipped": lambda: tf.data.Dataset.zip((repeated(numbers()), numbers(30))),
    "in batches": lambda: repeated(numbers()).batch(5),
    "prefetched": lambda: repeated(numbers()).prefetch(2),
    "concatenated": lambda: repeated(numbers(5)).concatenate(repeated(numbers(5))),
    "repeated": lambda: repeated(numbers(5)).repeat(2),
    "after a repeat of one": lambda: repeated(numbers().shuffle(4, seed=3).repeat(1)),
    "shuffled before": lambda: repeated(numbers().shuffle(4, seed=5)),
    "with options between": lambda: numbers().shuffle(4, seed=3).with_options(tf.data.Options()).repeat(2),
    "not as one": lambda: (
        numbers().shuffle(4, seed=3).with_options(optimized(shuffle_and_repeat_fusion=False)).repeat(2)
    ),
    "as one alone": lambda: (
        numbers()
        .shuffle(4, seed=3)
        .with_options(optimized(shuffle_and_repeat_fusion=True, apply_default_optimizations=False))
        .repeat(2)
    ),
    "not optimized": lambda: (
        numbers().shuffle(4, seed=3).with_options(optimized(apply_default_optimizations=False)).repeat(2)
    ),
    "with nothing between": lambda: numbers().shuffle(4, seed=3).take(-1).skip(0).repeat(1).prefetch(0).repeat(2),
    "by arguments that are tensors": lambda: (
        numbers()
        .shuffle(tf.constant(4, tf.int64) + 0, seed=tf.constant(3, tf.int64) + 0)
        .repeat(tf.constant(3, tf.int64) + 0)
    ),
    "by large seeds": lambda: drawn(lambda: numbers().shuffle(4, seed=2**35 + 5).repeat(3), 2**40 + 17),
    "by negative seeds": lambda: drawn(lambda: numbers().shuffle(4, seed=-7).repeat(3), -5),
    "by seeds of 0": lambda: drawn(lambda: numbers().shuffle(4, seed=0).repeat(3), 0),
    "at once, one epoch": lambda: numbers().apply(experimental.shuffle_and_repeat(4, 1, seed=3)),
    "at once, in flat_map": lambda: numbers(3).flat_map(
        lambda x: numbers().apply(experimental.shuffle_and_repeat(4, 2, seed=3))
    ),
}
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
TWICE = {"shuffle, repeat, " + name: build for name, build in REPEATED.items()}
CASES.update(TWICE)


def order(name):
    """The elements of a case; those of REPEATED from an iterator that is initialised twice."""
    with tf.Graph().as_default():
        dataset = CASES[name]()
        iterator = dataset.make_initializable_iterator() if name in TWICE else dataset.make_one_shot_iterator()
        element = iterator.get_next()
        found = []
        with tf.Session() as session:
            for _ in range(2 if name in TWICE else 1):
                if name in TWICE:
                    session.run(iterator.initializer)
                while True:
                    try:
                        found.append(plain(session.run(element)))
                    except tf.errors.OutOfRangeError:
                        break
    return found


def plain(value):
    """An element as JSON has it."""
    if isinstance(value, tuple):
        return [plain(one) for one in value]
    if isinstance(value, bytes):
        return value.decode()
    return value.tolist()


if __name__ == "__main__":
    orders = {name: order(name) for name in CASES}
    with open(GOLDEN, "w") as golden:
        json.dump(orders, golden, sort_keys=True)
        golden.write("\n")
