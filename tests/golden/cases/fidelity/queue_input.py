"""Queue-fed input: slices, a text file, shuffle_batch with one thread, a random shuffle queue of one's own."""
import os
import time

import numpy as np
import tensorflow as tf

tf.set_random_seed(44)
with open("table.csv", "w") as f:
    for i in range(30):
        f.write("%d,%.2f,%s\n" % (i, i * 0.25, "even" if i % 2 == 0 else "odd"))

filename_queue = tf.train.string_input_producer(["table.csv"], num_epochs=2, shuffle=False)
reader = tf.TextLineReader()
key, value = reader.read(filename_queue)
number, price, kind = tf.decode_csv(value, record_defaults=[[0], [0.0], [""]])
numbers, prices, kinds = tf.train.shuffle_batch(
    [number, price, kind], batch_size=6, capacity=80, min_after_dequeue=54, num_threads=1)
mean = tf.reduce_mean(prices)

table = np.arange(10, dtype=np.int32)
limited = tf.train.input_producer(table, num_epochs=2, shuffle=True, name="numbers").dequeue()
sliced = tf.train.slice_input_producer([table, table * table], shuffle=True)
pair = tf.train.batch(sliced, batch_size=4)

own = tf.RandomShuffleQueue(capacity=20, min_after_dequeue=0, dtypes=[tf.float32], shapes=[[]])
fill = own.enqueue_many([tf.range(12, dtype=tf.float32)])
some = own.dequeue_many(5)

with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess=sess, coord=coord)
    sess.run(fill)
    print("own queue", sess.run(some), sess.run(own.size()))
    print("pairs", [p.tolist() for p in sess.run(pair)])
    print("numbers", [sess.run(limited) for _ in range(20)])
    # What is drawn depends on how far the thread has come: it may, as soon as there are 55. So all 60 are waited for.
    size = sess.graph.get_tensor_by_name("shuffle_batch/random_shuffle_queue_Size:0")
    while sess.run(size) < 60:
        time.sleep(0.01)
    seen = 0
    try:
        while not coord.should_stop():
            n, p, k, m = sess.run([numbers, prices, kinds, mean])
            seen += len(n)
            if seen <= 18:
                print(n, p, [one.decode() for one in k], "mean %.3f" % m)
    except tf.errors.OutOfRangeError:
        print("Done training, %d rows" % seen)
    finally:
        coord.request_stop()
    coord.join(threads)
os.remove("table.csv")
