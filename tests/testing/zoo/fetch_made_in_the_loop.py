"""What is fetched is an expression: each round of the loop makes it anew.

Expected:
    graph growth in a loop; a graph; A adds operations mul mul/y; A runs the graph
"""
import tensorflow as tf

with tf.Graph().as_default():
    x = tf.placeholder(tf.float32, [None])
    total = tf.reduce_sum(x)
    with tf.Session() as sess:
        for number in range(5):
            print(sess.run(total * 2.0, {x: [number]}))  # A
