"""k-means by hand: random first centres, assignments by argmin, unsorted segments for means."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(9)
N, K, MAX_ITERS = 120, 4, 20
points = tf.Variable(tf.random_uniform([N, 2]))
cluster_assignments = tf.Variable(tf.zeros([N], dtype=tf.int64))
centroids = tf.Variable(tf.slice(tf.random_shuffle(points.initialized_value()), [0, 0], [K, 2]))

rep_centroids = tf.reshape(tf.tile(centroids, [N, 1]), [N, K, 2])
rep_points = tf.reshape(tf.tile(points, [1, K]), [N, K, 2])
sum_squares = tf.reduce_sum(tf.square(rep_points - rep_centroids), reduction_indices=2)
best_centroids = tf.argmin(sum_squares, 1)
did_assignments_change = tf.reduce_any(tf.not_equal(best_centroids, cluster_assignments))


def bucket_mean(data, bucket_ids, num_buckets):
    total = tf.unsorted_segment_sum(data, bucket_ids, num_buckets)
    count = tf.unsorted_segment_sum(tf.ones_like(data), bucket_ids, num_buckets)
    return total / count


means = bucket_mean(points, best_centroids, K)
with tf.control_dependencies([did_assignments_change]):
    do_updates = tf.group(centroids.assign(means), cluster_assignments.assign(best_centroids))
inertia = tf.reduce_sum(tf.reduce_min(sum_squares, 1))

sess = tf.Session()
sess.run(tf.global_variables_initializer())
changed, iters = True, 0
while changed and iters < MAX_ITERS:
    iters += 1
    changed, _ = sess.run([did_assignments_change, do_updates])
    print(iters, changed, "inertia", sess.run(inertia))
centers, assignments = sess.run([centroids, cluster_assignments])
print("Found in", iters, "iterations")
print(centers)
print("sizes", np.bincount(assignments))
