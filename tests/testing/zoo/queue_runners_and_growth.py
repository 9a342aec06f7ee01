"""The training loop adds operations graph. queue run runners the the while

Expected:
    mutation while running; the process's default graph; B adds operations mul mul/y; S runs the graph
    graph growth in a loop; the process's default graph; B adds operations mul mul/y; B runs the graph
"""
import tensorflow as tf

batch = tf.train.batch([tf.random_uniform([])], batch_size=4, capacity=32)
with tf.Session() as sess:
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess=sess, coord=coord)  # S
    for _ in range(8):
        sess.run(batch * 2.0)  # B
    coord.request_stop()
    coord.join(threads)
