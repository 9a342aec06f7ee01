"""A process for each GPU: models that have nothing to do with one another, such as those of a search, train side by side.

    python examples/devices/processes.py

The plan puts each process on a GPU with room, and divides the cores. A job that fails or crashes costs only itself, and
GPU memory goes back to the driver when a worker ends.

The pitfall, which `tf1sessions doctor` names gpu-taken-whole: processes whose sessions set no limit. The first one
takes nearly all of the GPU's memory, and the others find none::

    import multiprocessing
    import tensorflow as tf

    def train(rate):
        with tf.Session() as session:
            session.run(tf.constant(rate))

    if __name__ == "__main__":
        for rate in (0.1, 0.2):
            multiprocessing.Process(target=train, args=(rate,)).start()
"""

import os

import tf1sessions as t1


def train(session, rate):
    """Runs in a worker, where the session sees the worker's GPU only."""
    tf = t1.tf1
    weight = tf.get_variable("weight", [], initializer=tf.zeros_initializer())
    step = tf.train.GradientDescentOptimizer(rate).minimize((weight - 1.0) ** 2)
    session.initialize()
    for _ in range(10):
        session.run(step)
    return os.getpid(), float(session.run(weight))


def main():
    gpus = t1.MemoryPlan().machine.gpus
    workers = len(gpus) or 2
    plan = t1.MemoryPlan(workers=workers)
    if not gpus:
        print(f"no GPU here: {workers} processes divide the CPU's cores")
    rates = [0.05, 0.1, 0.2, 0.4]
    with t1.ProcessSessionPool(workers, plan=plan) as pool:
        found = list(pool.map(train, rates))
    for rate, (_, weight) in zip(rates, found):
        print(f"rate {rate}: weight {weight:.3f}")
    print(f"in other processes than this one: {os.getpid() not in {pid for pid, _ in found}}")


if __name__ == "__main__":
    main()
