"""The `with` block of the session ends while a thread that it started still runs.

Expected:
    run after close; a session; A runs the session; B closes the session
"""
import threading

import tensorflow as tf


def work(sess, y):
    try:
        sess.run(y)  # A
    except (RuntimeError, tf.errors.CancelledError):  # closed
        pass


def main():
    y = tf.ones([2])
    with tf.Session() as sess:  # B
        thread = threading.Thread(target=work, args=(sess, y))
        thread.start()
    thread.join()


main()
