"""The session is closed when the thread that runs it has ended.

Expected: nothing
"""
import threading

import tensorflow as tf

y = tf.ones([2])
sess = tf.Session()
thread = threading.Thread(target=sess.run, args=(y,))
thread.start()
thread.join()
sess.close()
