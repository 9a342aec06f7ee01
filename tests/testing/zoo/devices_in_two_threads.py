"""Two threads put towers on devices; the stack of devices is the graph's.

Expected:
    concurrent construction; a graph; A enters a device scope; A enters a device scope
"""
import threading

import tensorflow as tf

graph = tf.Graph()


def build(device):
    with graph.device(device):  # A
        pass


threads = [threading.Thread(target=build, args=(device,)) for device in ("/cpu:0", "/cpu:0")]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
