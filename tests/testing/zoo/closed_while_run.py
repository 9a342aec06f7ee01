"""The main thread closes the session that a watcher still runs.

Expected:
    run after close; a session; A runs the session; B closes the session
"""
import threading

import tensorflow as tf

y = tf.ones([2])
sess = tf.Session()


def watch_loss():
    try:
        for _ in range(3):
            sess.run(y)  # A
    except (RuntimeError, tf.errors.CancelledError):  # closed
        pass


watcher = threading.Thread(target=watch_loss)
watcher.start()
sess.close()  # B
watcher.join()
