"""An auxiliary process trains while the main one goes on, and uses what was learnt so far, by checkpoints.

    python examples/devices/train_aside.py

Both use TensorFlow, and each has a part of the device: the plan has two workers, of which the pool's is 0 and this
process is 1. Where the main program is to make the training data instead, see examples/serving/train_aside.py.

The pitfall, which `tf1sessions doctor` names fork-after-session: a child that is forked from a process with a session
waits for ever at its first use of TensorFlow::

    import multiprocessing
    import tensorflow as tf

    def train():
        with tf.Session() as session:
            session.run(tf.constant(1.0))

    serving = tf.Session()
    multiprocessing.get_context("fork").Process(target=train).start()
"""

import concurrent.futures
import os
import tempfile

import tf1sessions as t1


def model():
    tf = t1.tf1
    weight = tf.get_variable("weight", [], initializer=tf.zeros_initializer())
    return weight, tf.train.GradientDescentOptimizer(0.01).minimize((weight - 1.0) ** 2)


def train(session, folder):
    """Runs in the auxiliary process, and saves a checkpoint every 100 steps."""
    _, step = model()
    session.initialize()
    for number in range(1, 501):
        session.run(step)
        if number % 100 == 0:
            session.save(os.path.join(folder, "model"), global_step=number)
    return os.getpid()


def main():
    tf = t1.tf1
    plan = t1.MemoryPlan(workers=2)
    if plan.share().gpu is None:
        print("no GPU here: both processes are on the CPU")
    with tempfile.TemporaryDirectory() as folder, t1.ProcessSessionPool(1, plan=plan) as pool:
        plan.apply(worker=1)
        training = pool.submit(train, folder)
        with t1.GraphSession() as here:
            weight, _ = model()
            used = []
            while not used or training in concurrent.futures.wait([training], timeout=0.05).not_done:
                newest = tf.train.latest_checkpoint(folder)
                if newest and newest not in used:
                    here.restore(newest)  # the main program goes on with what is known now
                    used.append(newest)
            print(f"trained in another process: {training.result() != os.getpid()}")
            here.restore(tf.train.latest_checkpoint(folder))
            print(f"the last weight: {here.run(weight):.3f}")


if __name__ == "__main__":
    main()
