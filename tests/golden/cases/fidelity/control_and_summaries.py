"""Assignments in order, name scopes, collections, summaries written and read back, run metadata, assertions."""
import glob

import tensorflow as tf

tf.set_random_seed(29)
with tf.name_scope("counters"):
    counter = tf.Variable(0, trainable=False, name="counter")
    total = tf.Variable(tf.random_uniform([2], 0, 1), name="total")
increment = tf.assign_add(counter, 1)
with tf.control_dependencies([increment]):
    drawn = tf.random_normal([2])
    add = tf.assign(total, total + drawn)
with tf.control_dependencies([add, tf.assert_greater(counter, -1)]):
    value = tf.identity(total * 2.0, name="value")
rows = tf.Variable(tf.zeros([4, 2]))
scatter = tf.scatter_update(rows, [1, 3], tf.random_uniform([2, 2]))
sub = tf.scatter_sub(rows, [1], [[0.5, 0.25]])
tf.add_to_collection("outputs", value)
tf.summary.scalar("first", total[0])
tf.summary.histogram("drawn", drawn)
merged = tf.summary.merge_all()
norm = tf.Print(tf.reduce_sum(tf.abs(total)), [total], message="total: ")
for name in ["counters/counter", "value"]:
    print(tf.get_default_graph().get_operation_by_name(name).type)
print([v.name for v in tf.trainable_variables()], tf.get_collection("outputs"))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    writer = tf.summary.FileWriter("logs", sess.graph)
    for i in range(4):
        fetched = sess.run({"value": value, "count": counter, "more": (drawn, [counter])})
        print(i, fetched["value"], fetched["more"][1])
        writer.add_summary(sess.run(merged), i)
    writer.close()
    print(sess.run(scatter), sess.run(sub)[1])
    print("norm", sess.run(norm))
    handle = sess.partial_run_setup([value, norm], [])
    print("partial", sess.partial_run(handle, value))
    print(sess.run(tf.report_uninitialized_variables()), sess.graph.finalized)
    try:
        sess.run(tf.assert_equal(counter, 99, message="not yet"))
    except tf.errors.InvalidArgumentError as error:
        print(type(error).__name__, "not yet" in error.message)
for event in tf.train.summary_iterator(glob.glob("logs/events*")[0]):
    for one in event.summary.value:
        if one.HasField("simple_value"):
            print(event.step, one.tag, "%.6f" % one.simple_value)
