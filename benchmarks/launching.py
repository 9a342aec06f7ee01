"""The time from a cluster's start to the first step of all workers: by launch, and with its tasks started by hand.

    python benchmarks/launching.py [--workers 2] [--rounds 3]

A parameter server and workers that train between graphs, all on this machine; the ways take turns. By hand the tasks
are processes of plain Python, started at once with the flags that launch gives, and the program takes TensorFlow 1
from tensorflow.compat.v1, so that both run the same file. There are two programs:

    monitored   MonitoredTrainingSession: a worker that does not find its chief ready looks again after 30 seconds,
                and under launch after half a second
    supervisor  a Supervisor that looks after one second, as careful programs have it

Prints seconds: the median of the rounds, and the least and most.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = """
import os, time
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
flags = tf.app.flags
flags.DEFINE_string("job_name", "", "")
flags.DEFINE_integer("task_index", 0, "")
flags.DEFINE_string("ps_hosts", "", "")
flags.DEFINE_string("worker_hosts", "", "")
flags.DEFINE_string("way", "", "")
flags.DEFINE_string("folder", "", "")
FLAGS = flags.FLAGS


def main(_):
    cluster = tf.train.ClusterSpec({"ps": FLAGS.ps_hosts.split(","), "worker": FLAGS.worker_hosts.split(",")})
    server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)
    if FLAGS.job_name == "ps":
        server.join()
    worker = "/job:worker/task:%d" % FLAGS.task_index
    chief = FLAGS.task_index == 0
    with tf.device(tf.train.replica_device_setter(worker_device=worker, cluster=cluster)):
        w = tf.get_variable("w", [100, 100])
        step = tf.train.get_or_create_global_step()
        loss = tf.reduce_mean(tf.square(w))
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
    if FLAGS.way == "monitored":
        session = tf.train.MonitoredTrainingSession(server.target, is_chief=chief)
    else:
        keeper = tf.train.Supervisor(is_chief=chief, logdir=None, recovery_wait_secs=1)
        session = keeper.prepare_or_wait_for_session(server.target)
    session.run(train)
    with open("%s/%d" % (FLAGS.folder, FLAGS.task_index), "w") as file:
        file.write(repr(time.time()))
    while len(os.listdir(FLAGS.folder)) < len(FLAGS.worker_hosts.split(",")):  # a session calls all tasks as it begins,
        time.sleep(0.1)  # and waits for ever for one that has gone


tf.app.run()
"""


def by_launch(script, workers, way, folder):
    command = [sys.executable, "-m", "tf1sessions", "launch", "--workers", str(workers), "--out", f"{folder}.run"]
    began = time.time()
    done = subprocess.run([*command, script, "--", f"--way={way}", f"--folder={folder}"], stdout=-1, stderr=-2)
    if done.returncode:
        raise SystemExit(done.stdout.decode())
    return first_steps(folder, workers) - began


def by_hand(script, workers, way, folder):
    with contextlib.ExitStack() as held:
        free = [held.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(1 + workers)]
        addresses = [f"127.0.0.1:{one.getsockname()[1]}" for one in free]
    hosts = [f"--ps_hosts={addresses[0]}", f"--worker_hosts={','.join(addresses[1:])}", f"--way={way}"]
    tasks = [("ps", 0), *(("worker", number) for number in range(workers))]
    began = time.time()
    processes = [
        subprocess.Popen(
            [sys.executable, script, f"--job_name={job}", f"--task_index={number}", f"--folder={folder}", *hosts],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for job, number in tasks
    ]
    try:
        while not all(os.path.exists(f"{folder}/{number}") for number in range(workers)):
            time.sleep(0.05)
            if time.time() - began > 120:
                raise SystemExit("the tasks that were started by hand took no step in two minutes")
        time.sleep(0.1)
        return first_steps(folder, workers) - began
    finally:
        for process in processes:
            process.kill()
            process.wait()


def first_steps(folder, workers):
    """When the last worker took its first step."""
    return max(float(Path(folder, str(number)).read_text()) for number in range(workers))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; {given.workers} workers")
    with tempfile.TemporaryDirectory(prefix="launching-") as top:
        script = f"{top}/train.py"
        Path(script).write_text(PROGRAM)
        for way in ("monitored", "supervisor"):
            found = {"launch": [], "by hand": []}
            for _ in range(given.rounds):
                for name, call in (("launch", by_launch), ("by hand", by_hand)):
                    folder = tempfile.mkdtemp(dir=top)
                    found[name].append(call(script, given.workers, way, folder))
            for name, secs in found.items():
                ratio = statistics.median(secs) / statistics.median(found["by hand"])
                print(
                    f"  {way:11} {name:8} {statistics.median(secs):6.1f} s  ({min(secs):.1f} to {max(secs):.1f})"
                    f"  {ratio:.2f} of by hand"
                )
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
