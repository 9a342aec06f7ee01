"""A MonitoredTrainingSession, which finalizes its graph, trained by two threads that a Coordinator joins.

Expected: nothing
"""
import tensorflow as tf

step = tf.train.get_or_create_global_step()
x = tf.random_uniform([2], seed=1)
with tf.train.MonitoredTrainingSession() as sess:
    coord = tf.train.Coordinator()
    threads = [tf.train.LooperThread(coord, None, target=sess.run, args=(x,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(5):
        sess.run(x)
    coord.request_stop()
    coord.join(threads)
