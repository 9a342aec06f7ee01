"""The input pipeline of TensorFlow 1: queue runners fill, the main thread trains, the Coordinator joins them.

Expected: nothing
"""
import tensorflow as tf

number = tf.train.range_input_producer(64, num_epochs=1, shuffle=True, seed=1).dequeue()
batch = tf.train.batch([tf.cast(number, tf.float32)], batch_size=8, num_threads=2, capacity=32)
w = tf.Variable(0.0)
step = tf.train.GradientDescentOptimizer(0.001).minimize(tf.reduce_mean(tf.square(w - batch)))
with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess=sess, coord=coord)
    try:
        while not coord.should_stop():
            sess.run(step)
    except tf.errors.OutOfRangeError:
        pass
    finally:
        coord.request_stop()
        coord.join(threads)
    print(sess.run(w * 2.0))
