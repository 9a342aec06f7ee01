"""Two queues in one session: lines of text in one, what they say in the other.

A thread of Python reads the file into the first queue.  Two threads of a queue
runner take its lines, parse them and put the flowers into the second queue,
and the main thread takes batches of flowers from there.  Each queue is closed
when nothing more will come, and so the next one ends in its turn.
"""
from __future__ import print_function

import os
import threading

import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))
IRIS_CSV = os.path.join(HERE, 'data', 'iris.csv')
FEATURES = ['sepal_length', 'sepal_width', 'petal_length', 'petal_width']
SPECIES = ['setosa', 'versicolor', 'virginica']
BATCH_SIZE = 16


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
    lines = tf.FIFOQueue(20, tf.string, shapes=[()], name='lines')
    flowers = tf.FIFOQueue(40, [tf.float32, tf.int64],
                           shapes=[(len(FEATURES),), ()], name='flowers')

    text = tf.placeholder(tf.string, [], name='text')
    put_line = lines.enqueue(text)
    close_lines = lines.close()
    parsers = tf.train.QueueRunner(
        flowers, [flowers.enqueue(parse(lines.dequeue()))] * 2)
    step, counts, sums = add_up(*flowers.dequeue_up_to(BATCH_SIZE))

    def read(sess, coord):
        with coord.stop_on_exception(), open(IRIS_CSV) as csv:
            next(csv)  # the names of the columns
            for line in csv:
                if coord.should_stop():
                    break
                sess.run(put_line, {text: line.rstrip('\n')})
            sess.run(close_lines)

    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        coord = tf.train.Coordinator()
        reader = threading.Thread(target=read, args=(sess, coord))
        reader.start()
        threads = parsers.create_threads(sess, coord=coord, start=True)
        batches = 0
        try:
            while not coord.should_stop():
                sess.run(step)
                batches += 1
        except tf.errors.OutOfRangeError:
            print('no more flowers after %d batches' % batches)
        finally:
            coord.request_stop()
        coord.join([reader] + threads)
        counts, sums = sess.run([counts, sums])

    for name, count, total in zip(SPECIES, counts, sums):
        print('%-10s %2d flowers, on average' % (name, count))
        for feature, value in zip(FEATURES, total / count):
            print('    %-12s %.3f' % (feature, value))


if __name__ == '__main__':
    main()
