"""Threads with a session each: several small models train at the same time, in one process and on one device.

    python examples/devices/threads.py

Each thread has a graph of its own, so that none adds to another's. All sessions of a process share the memory and the
one compute stream that it has on a GPU: lanes.py gives each its own. Where most of the time is spent in Python,
processes.py is faster.

The pitfall, which `tf1sessions doctor` names graph-built-by-threads: threads that add operations to one graph::

    import threading
    import tensorflow as tf

    graph = tf.Graph()

    def train(rate):
        with graph.as_default():
            weight = tf.Variable(0.0)
            step = tf.train.GradientDescentOptimizer(rate).minimize((weight - 1.0) ** 2)

    for rate in (0.1, 0.2):
        threading.Thread(target=train, args=(rate,)).start()
"""

import tf1sessions as t1


def train(session, rate):
    """Builds a model in the session's own graph, and trains it; runs in a thread of the pool."""
    tf = t1.tf1
    weight = tf.get_variable("weight", [], initializer=tf.zeros_initializer())
    step = tf.train.GradientDescentOptimizer(rate).minimize((weight - 1.0) ** 2)
    session.initialize()
    for _ in range(10):
        session.run(step)
    return float(session.run(weight))


def main():
    plan = t1.MemoryPlan()  # one process, which has the whole device
    if plan.share().gpu is None:
        print("no GPU here: all sessions are on the CPU")
    rates = [0.05, 0.1, 0.2, 0.4]
    with t1.ThreadSessionPool(4, plan=plan) as pool:
        for rate, weight in zip(rates, pool.map(train, rates)):
            print(f"rate {rate}: weight {weight:.3f}")


if __name__ == "__main__":
    main()
