"""RaySessionPool against bare actors and ProcessSessionPool, in one run: python benchmarks/ray_pool.py [WHAT ...].

WHAT is one or more of jobs, arrays, start, loss, plan; all by default. It starts a cluster of its own on this machine:
a head node, and two nodes of two CPUs each. The ways take turns, so that a busy machine slows all; a figure is the
median of the rounds. The first column is ours; the others say how many times as long theirs takes: above 1 ours is
ahead.

    actor      a bare actor of Ray with the same method, one call after another, as a worker's jobs are
    process    ProcessSessionPool

plan is what the page on Ray plans larger clusters with: what one job, one worker and one model cost.

With RAY_AUTH_MODE=disabled in the environment, Ray makes no token in the user's home.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import sys
import tempfile
import time

import numpy as np
import ray
from ray.cluster_utils import Cluster

from tf1sessions.pools.processes import ProcessSessionPool
from tf1sessions.pools.ray_pool import RaySessionPool, put_model

ROUNDS = 5
JOBS = 20  # in a row, before the next way has its turn
JOB_ROUNDS = 50
STORE = 400 << 20
NODE = {"num_cpus": 2, "object_store_memory": STORE}


@ray.remote(num_cpus=1)
class Actor:
    """What a user writes by hand."""

    def call(self, function, *args):
        return function(*args)


def wait(seconds):
    time.sleep(seconds)


def first(array):
    return float(array[0])


def same(array):
    return array


def node_of(path):
    """On its first run it stays; on its second it says when that began."""
    node = ray.get_runtime_context().get_node_id()
    with open(path, "a") as file:
        file.write(f"{node} {time.time()}\n")
    if len(open(path).readlines()) == 1:
        time.sleep(600)


def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def row(name, times, each, unit, factor):
    ours = statistics.median(times["ours"])
    cells = [f"{statistics.median(found) / ours:9.2f}" for way, found in times.items() if way != "ours"]
    spread = f"{min(times['ours']) / each * factor:.2f} to {max(times['ours']) / each * factor:.2f}"
    print(f"  {name:34} {ours / each * factor:9.2f} {unit} {''.join(cells)}   ({spread})")


def take_turns(ways, count, rounds=ROUNDS):
    """The seconds that each way takes, with all that it submits one after another."""
    times = {way: [] for way in ways}
    for _ in range(rounds):
        for way, call in ways.items():
            times[way].append(seconds(lambda: [call() for _ in range(count)]))  # noqa: B023
    return times


def jobs(ours, process, actor):
    print(f"\njobs, one after another on one worker {'actor':>17} {'process':>8}")
    for name, function, args, count, rounds in (
        ("nothing", abs, (1,), JOBS, JOB_ROUNDS),
        ("10 ms", wait, (0.01,), 40, ROUNDS),
        ("100 ms", wait, (0.1,), 8, ROUNDS),
    ):
        ways = {
            "ours": lambda: ours.submit(function, *args).result(),  # noqa: B023
            "actor": lambda: ray.get(actor.call.remote(function, *args)),  # noqa: B023
            "process": lambda: process.submit(function, *args).result(),  # noqa: B023
        }
        row(name, take_turns(ways, count, rounds), count, "ms", 1000)


def arrays(ours, process, actor):
    print(f"\n10 MB arrays {'actor':>42} {'process':>8}")
    array = np.ones(10 * 2**20 // 4, np.float32)
    for name, function in (("to the worker", first), ("there and back", same)):
        ways = {
            "ours": lambda: ours.submit(function, array).result(),  # noqa: B023
            "actor": lambda: ray.get(actor.call.remote(function, array)),  # noqa: B023
            "process": lambda: process.submit(function, array).result(),  # noqa: B023
        }
        row(name, take_turns(ways, 10), 10, "ms", 1000)
    stored = ray.put(array)
    ways = {
        "ours": lambda: ours.submit(first, stored).result(),
        "actor": lambda: ray.get(actor.call.remote(first, stored)),
        "process": lambda: process.submit(first, array).result(),
    }
    row("that ray.put() has stored", take_turns(ways, 10), 10, "ms", 1000)


def start():
    print(f"\nfrom a new pool or actor to the first result {'actor':>10} {'process':>8}")

    def with_actor():
        actor = Actor.remote()
        ray.get(actor.call.remote(abs, 1))
        ray.kill(actor)

    for mode in ("tf2", "tf1"):
        job = abs if mode == "tf2" else two

        def with_pool(kind):
            with kind(1, mode=mode) as pool:  # noqa: B023
                pool.submit(job, 1).result()  # noqa: B023

        ways = {"ours": lambda: with_pool(RaySessionPool), "process": lambda: with_pool(ProcessSessionPool)}
        if mode == "tf2":
            ways = {"ours": ways["ours"], "actor": with_actor, "process": ways["process"]}
        name = "without TensorFlow" if mode == "tf2" else "a session's first run (no actor)"
        with_pool(ProcessSessionPool)  # its server is warm, as for a second pool
        row(name, take_turns(ways, 1, 3), 1, "s", 1)


def two(session, value):
    from tf1sessions import tf1 as tf

    return float(session.run(tf.constant(float(value)) * 2.0))


def loss(cluster, nodes):
    print("\nfrom the end of a node to the second start of its job")
    found = []
    for _ in range(3):
        path = os.path.join(tempfile.mkdtemp(prefix="ray-"), "began")
        with RaySessionPool(1, mode="tf2") as pool:
            future = pool.submit(node_of, path)
            while not os.path.exists(path) or not open(path).read().endswith("\n"):
                time.sleep(0.01)
            lost = next(node for node in nodes if node.node_id == open(path).read().split()[0])
            began = time.time()
            cluster.remove_node(lost, allow_graceful=False)
            nodes.remove(lost)
            future.result()
            found.append(float(open(path).read().splitlines()[1].split()[1]) - began)
        nodes.append(cluster.add_node(**NODE))
    print(f"  {statistics.median(found):.1f} s   ({min(found):.1f} to {max(found):.1f})")


def plan():
    print("\nwhat a job, a worker and a model cost")
    many = 5000
    for count in (2, 8):
        with RaySessionPool(count, mode="tf2", num_cpus=0.1) as pool:
            list(pool.map(abs, range(4 * count)))
            before = resident_mb()
            took = seconds(lambda: list(pool.map(abs, range(many))))
            print(f"  {count} workers: {many / took:.0f} empty jobs a second; {took / many * 1000:.2f} ms each")
            print(f"    by hundreds: {many / seconds(lambda: list(pool.map(abs, range(many), chunksize=100))):.0f}")
            print(f"    {(resident_mb() - before) / many * 1000:.1f} kB of this process for each of the {many} jobs")
    path = os.path.join(tempfile.mkdtemp(prefix="ray-"), "net.pb")
    frozen_graph(path)
    size = os.path.getsize(path) / 2**20
    stored = {}
    put = seconds(lambda: stored.update(model=put_model(path)))
    print(f"  a frozen graph of {size:.0f} MB into the object store: {put:.2f} s")
    with RaySessionPool(1, model=stored["model"]) as pool:
        first = seconds(lambda: pool.submit(memory_with).result())
        print(f"  a worker with it: {first:.1f} s until its first result, {pool.submit(memory_with).result():.0f} MB")
    with RaySessionPool(1) as pool:
        first = seconds(lambda: pool.submit(two, 1.0).result())
        print(f"  a worker with a session: {first:.1f} s, {pool.submit(memory_of).result():.0f} MB")


def resident_mb():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def memory_of(session):
    return resident_mb()


def memory_with(model):
    model(x=np.ones([1, 1024], np.float32))
    return resident_mb()


def frozen_graph(path):
    from tf1sessions import tf1 as tf

    with tf.Graph().as_default() as graph:
        y = tf.placeholder(tf.float32, [None, 1024], name="x")
        for _ in range(25):
            y = tf.nn.relu(tf.matmul(y, tf.constant(np.random.rand(1024, 1024).astype("f") / 512)))
        tf.identity(y, name="y")
    tf.io.write_graph(graph, os.path.dirname(path), os.path.basename(path), as_text=False)


def main(wanted):
    known = ("jobs", "arrays", "start", "loss", "plan")
    for name in wanted:
        if name not in known:
            raise SystemExit(f"what is {name!r}? Give one or more of {', '.join(known)}.")
    wanted = wanted or known
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, Ray {ray.__version__}")
    head = {"num_cpus": 0, "object_store_memory": STORE, "include_dashboard": False}
    with contextlib.ExitStack() as stack:
        cluster = Cluster(initialize_head=True, head_node_args=head)
        stack.callback(cluster.shutdown)
        nodes = [cluster.add_node(**NODE) for _ in range(2)]
        ray.init(address=cluster.address, log_to_driver=False, logging_level="error")
        stack.callback(ray.shutdown)
        if {"jobs", "arrays"} & set(wanted):
            with RaySessionPool(1, mode="tf2") as ours, ProcessSessionPool(1, mode="tf2") as process:
                actor = Actor.remote()
                for way in (ours.submit(abs, 1).result, process.submit(abs, 1).result):
                    way()
                ray.get(actor.call.remote(abs, 1))
                for part in (jobs, arrays):
                    if part.__name__ in wanted:
                        part(ours, process, actor)
                ray.kill(actor)
        if "plan" in wanted:
            plan()
        if "start" in wanted:
            start()
        if "loss" in wanted:
            loss(cluster, nodes)
    print(f"\nload {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main(sys.argv[1:])
