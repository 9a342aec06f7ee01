"""../two_queues.py on a QueuePipeline: the same graph and the same results.

The pipeline has the threads and the coordinator, closes each queue at the end
of its input, and ends when the last flower is added up.  An error in any of
its parts would stop it, and be raised with the name of that part.
"""

import os

import tf1sessions as t1

tf = t1.tf1

HERE = os.path.dirname(os.path.abspath(__file__))
IRIS_CSV = os.path.join(HERE, '..', 'data', 'iris.csv')
FEATURES = ['sepal_length', 'sepal_width', 'petal_length', 'petal_width']
SPECIES = ['setosa', 'versicolor', 'virginica']
BATCH_SIZE = 16


def read():
    """The lines of the file, without the names of the columns."""
    with open(IRIS_CSV) as csv:
        next(csv)
        for line in csv:
            yield line.rstrip('\n')


def parse(line):
    """A line of the file as (measurements, number of the species)."""
    columns = tf.decode_csv(line, [[0.0]] * len(FEATURES) + [['']])
    species = tf.argmax(tf.cast(tf.equal(columns[-1], SPECIES), tf.int32))
    return tf.stack(columns[:-1]), species


def add_up(flowers, species):
    """Adds a batch to the sums of measurements and counts by species."""
    counts = tf.get_variable('counts', [len(SPECIES)], dtype=tf.float64,
                             initializer=tf.zeros_initializer())
    sums = tf.get_variable('sums', [len(SPECIES), len(FEATURES)],
                           dtype=tf.float64,
                           initializer=tf.zeros_initializer())
    kinds = tf.one_hot(species, len(SPECIES), dtype=tf.float64)
    step = tf.group(
        tf.assign_add(counts, tf.reduce_sum(kinds, 0)),
        tf.assign_add(sums, tf.matmul(kinds, tf.cast(flowers, tf.float64),
                                      transpose_a=True)))
    return step, counts, sums


def main():
    with t1.GraphSession() as gs:
        with t1.QueuePipeline(gs) as pipe:
            lines = pipe.queue('lines', capacity=20, dtypes=[tf.string],
                               shapes=[()])
            pipe.source(lines, read)
            flowers = pipe.stage('flowers', parse, lines, threads=2,
                                 capacity=40)
            step, counts, sums = add_up(*flowers.dequeue_up_to(BATCH_SIZE))
            gs.initialize()
            pipe.work('add up', step)
        batches = pipe.statistics().stages['add up'].runs
        print('no more flowers after %d batches' % batches)
        counts, sums = gs.run([counts, sums])

    for name, count, total in zip(SPECIES, counts, sums):
        print('%-10s %2d flowers, on average' % (name, count))
        for feature, value in zip(FEATURES, total / count):
            print('    %-12s %.3f' % (feature, value))


if __name__ == '__main__':
    main()
