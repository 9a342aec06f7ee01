"""Memory fractions: programs that are started by hand share a GPU, each with a part of its memory that is its own.

    python examples/devices/fractions.py 0 & python examples/devices/fractions.py 1

A fraction belongs to a process: TensorFlow reads the one of its first session, and all its sessions share that.

The pitfall, which `tf1sessions doctor` names memory-of-several-sessions: a fraction for each session of one process,
where the second one is ignored without a word::

    import tensorflow as tf

    small = tf.ConfigProto(gpu_options=tf.GPUOptions(per_process_gpu_memory_fraction=0.2))
    large = tf.ConfigProto(gpu_options=tf.GPUOptions(per_process_gpu_memory_fraction=0.6))
    one, two = tf.Session(config=small), tf.Session(config=large)
"""

import sys

import tf1sessions as t1

PROGRAMS = 2


def main():
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    plan = t1.MemoryPlan(workers=PROGRAMS, fraction=0.4)  # refused if there is not so much free
    share = plan.share(number)
    if share.gpu is None:
        print(f"no GPU here: program {number} has a part of the CPU's threads and no limit of memory")
    else:
        print(f"program {number} has {share.memory_mb:.0f} MiB of GPU {share.gpu}")
    plan.wait_for_memory(number, timeout_secs=60)  # of a program that is about to end
    plan.apply(number)

    tf = t1.tf1
    with t1.GraphSession() as one, t1.GraphSession() as two:  # they share what the process has
        with one.as_default():
            first = one.run(tf.reduce_sum(tf.ones([10, 10])))
        with two.as_default():
            second = two.run(tf.reduce_sum(tf.ones([20, 20])))
        print(f"sums {first:.0f} and {second:.0f}")
    try:
        t1.GraphSession(t1.SessionConfig(memory_fraction=0.6)).close()
        print("no GPU here: a session's own fraction means nothing")
    except t1.errors.MemoryPlanConflict as error:
        print(f"a session that asks for another fraction is refused: {error}")


if __name__ == "__main__":
    main()
