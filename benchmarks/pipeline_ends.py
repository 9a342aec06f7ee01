"""Starts and stops of QueuePipeline in a row: how many hang, end wrongly, or leave a thread, a file or memory behind.

    python benchmarks/pipeline_ends.py [--trials 10000] [--seed N] [--ending NAME] [--limit-secs 30]

Each trial is a pipeline of its own: source → queue → operation → queue → consumer, of queues of a random kind, with one
to three threads a stage. It ends in one of the ways of ``ENDINGS`` when its queues are in one of the ``STATES``; both
are forced: a director waits for the state, and then opens the gate that the ending waits for. What must come out is
known for each. ``A_SESSION`` pipelines share a session, one after the other.

The trials run in a process of their own. When nothing has come from it for ``--limit-secs``, the stacks of its threads
are printed, the hang is counted, and another process goes on with the next trial. One more process opens sessions with
the same queues and operations, runs them once, and has no pipeline: what TensorFlow keeps of a session.
"""

from __future__ import annotations

import argparse
import collections
import faulthandler
import gc
import itertools
import json
import os
import platform
import random
import select
import signal
import subprocess
import sys
import threading
import time
import traceback

ENDINGS = (
    "end of input",
    "steps reached",
    "stop()",
    "error in the producer",
    "error in an operation",
    "error in the consumer",
    "error in the body",
    "Ctrl-C",
    "Ctrl-C at the end",
)
#: Both queues full; both empty and everybody waiting; the first closed; at a random item, without waiting for a state.
STATES = ("full", "empty", "closed", "any")
KINDS = ("fifo", "padding", "shuffle", "priority")
CONSUMERS = ("work", "sink", "items")
A_SESSION, CAPACITY, ITEMS, STEPS = 3, 4, 24, 5
BEFORE_EMPTY, BEFORE_CLOSED = 4, 6  # items: below the steps; more than one queue holds, less than both do
REPORT = 250  # trials between two looks at memory
LATE_SECS = 5.0  # a thread that has not ended so long after its pipeline is left behind


class Boom(Exception):
    """What producers, consumers and bodies raise here."""


# -- one trial --------------------------------------------------------------------------------------------------------


class Trial:
    """One pipeline, the gate that its ending waits for, and the thread that opens it."""

    def __init__(self, number, seed, ending=None):
        draw = random.Random(f"{seed} {number}")
        self.number = number
        self.ending = ending or draw.choice(ENDINGS)
        self.state = draw.choice(STATES)
        self.kind = draw.choice(KINDS)
        self.consumer = "work" if self.ending == "steps reached" else draw.choice(CONSUMERS)
        self.staged = draw.random() < 0.5
        self.threads = [draw.randint(1, 3) for _ in range(3)]
        self.at = draw.randrange(1, ITEMS)  # the item at which it ends that does not wait for a state
        self.delay = draw.uniform(0, 0.02)  # seconds between the last item and a Ctrl-C at the end
        self.gate = threading.Event()
        self.reached, self.left = threading.Event(), threading.Event()
        self.seen = []
        if self.state == "any":
            self.gate.set()

    def __str__(self):
        middle = "a stage" if self.staged else "an enqueue operation"
        return (
            f"trial {self.number}: {self.ending}, queues: {self.state}, {self.kind}; {middle}; {self.consumer};"
            f" threads {self.threads}"
        )

    def expected(self):
        """What leaving the pipeline raises: names of the exception and of its cause."""
        in_body = self.consumer == "items" and self.state == "any"
        return {
            "error in the producer": "StageError from Boom",
            "error in an operation": "StageError from InvalidArgumentError",
            "error in the consumer": "Boom" if in_body else "StageError from Boom",
            "error in the body": "Boom",
            "Ctrl-C": "KeyboardInterrupt",
            "Ctrl-C at the end": "KeyboardInterrupt",
        }.get(self.ending, "nothing")

    # -- its parts

    def is_due(self, what, count):
        return self.ending == what and self.state == "any" and count == self.at

    def produce(self):
        for number in itertools.count():
            if self.state == "empty" and number == BEFORE_EMPTY:
                self.gate.wait()
            if number == BEFORE_CLOSED and self.state == "closed":
                return
            if number == ITEMS and self.ending in ("end of input", "Ctrl-C at the end"):
                return
            if self.is_due("error in the producer", number):
                raise Boom
            value = [float("nan") if self.is_due("error in an operation", number) else float(number)]
            yield (number, value) if self.kind == "priority" else value

    def after_gate(self):
        """The producer of the trial's second part: one item, or an error, once the gate is open."""
        self.gate.wait()
        if self.ending == "error in the producer":
            raise Boom
        yield [float("nan")]

    def consume(self, item):
        if self.state in ("full", "closed"):
            self.gate.wait()
        self.seen.append(float((item[-1] if isinstance(item, (tuple, list)) else item)[0]))
        if self.is_due("error in the consumer", len(self.seen)):
            raise Boom

    def fail(self, item):
        raise Boom

    def direct(self, pipe, sizes, closed):
        """Waits for the state, and brings about the end. ``sizes`` and ``closed`` are compiled calls."""

        def has_state():
            if self.state == "any":
                return len(self.seen) >= self.at
            if self.state == "closed":
                return bool(closed())
            found = [int(size) for size in sizes()]
            return (
                found == [CAPACITY] * 2 if self.state == "full" else len(self.seen) == BEFORE_EMPTY and not any(found)
            )

        try:
            while not self.left.is_set() and not has_state():
                time.sleep(0.0003)
            if not self.left.is_set():
                if self.ending == "stop()":
                    pipe.stop()
                elif self.ending == "Ctrl-C":
                    os.kill(os.getpid(), signal.SIGINT)
                self.reached.set()
        finally:
            self.gate.set()
        if self.ending == "Ctrl-C at the end":
            while len(self.seen) < (BEFORE_CLOSED if self.state == "closed" else ITEMS) and not self.left.is_set():
                time.sleep(0.0003)
            if not self.left.wait(self.delay):
                os.kill(os.getpid(), signal.SIGINT)

    def body(self, gs, t1):
        """The program."""
        tf = t1.tf1
        with t1.QueuePipeline(gs, f"trial{self.number}") as pipe:
            shape = [None] if self.kind == "padding" else [1]
            more = {"min_after_dequeue": 0} if self.kind == "shuffle" else {}
            first = pipe.queue(f"first{self.number}", CAPACITY, [tf.float32], [shape], self.kind, **more)
            pipe.source(first, self.produce, threads=self.threads[0])
            if self.staged:
                one = lambda *item: tf.check_numerics(item[-1], "an item")  # noqa: E731
                second = pipe.stage("middle", one, inputs=first, threads=self.threads[1], capacity=CAPACITY)
            else:
                second = pipe.queue(f"second{self.number}", CAPACITY, [tf.float32], [shape], self.kind, **more)
                item = first.dequeue()
                if self.kind == "priority":
                    enqueue = second.enqueue([item[0], tf.check_numerics(item[1], "an item")])
                else:
                    enqueue = second.enqueue(tf.check_numerics(item, "an item"))
                pipe.source(second, enqueue, threads=self.threads[1])
            if (self.state != "any" and self.ending.startswith("error in the")) or self.ending.endswith("operation"):
                self.second_part(pipe, tf)
            steps = STEPS if self.ending == "steps reached" else None
            if self.consumer == "work":
                pipe.work("consume", second.dequeue(), steps, self.threads[2], each=self.consume)
            elif self.consumer == "sink":
                pipe.sink("consume", second, self.consume, threads=self.threads[2])
            looks = gs.compile([], [first.size(), second.size()]), gs.compile([], first.is_closed())
            self.director = threading.Thread(target=self.direct, args=(pipe, *looks))
            self.director.start()
            if self.consumer == "items":
                for item in pipe.items(second):
                    self.consume(item)
                    if self.ending == "error in the body" and self.reached.is_set():
                        raise Boom
            elif self.ending == "error in the body":
                pipe.start()
                self.reached.wait()
            if self.ending == "error in the body":
                raise Boom

    def second_part(self, pipe, tf):
        """Another queue and what feeds and reads it: a part of the pipeline in which the error comes."""
        extra = pipe.queue(f"extra{self.number}", CAPACITY, [tf.float32], [[1]])
        pipe.source(extra, self.after_gate)
        if self.ending == "error in an operation":
            pipe.work("failing", tf.check_numerics(extra.dequeue(), "an item"))
        elif self.ending == "error in the consumer":
            pipe.sink("failing", extra, self.fail)

    def run(self, gs, t1):
        """Runs it, and returns what is wrong, in words.

        A Ctrl-C that comes while threads are started or joined leaves at once: they may end a moment later.
        """
        before, self.director, raised, trace = set(threading.enumerate()), None, "nothing", ""
        try:
            self.body(gs, t1)
            if self.ending == "Ctrl-C at the end":
                self.director.join()  # it may come as late as here
                time.sleep(0.01)
        except BaseException as error:
            raised = type(error).__name__
            if error.__cause__ is not None:
                raised += f" from {type(error.__cause__).__name__}"
            trace = "".join(traceback.format_exception(error))
        finally:
            self.left.set()
            self.gate.set()
        left = set(threading.enumerate()) - before - {self.director}
        left = {thread for thread in left if thread.name != "tf1sessions-watchdog"}  # the session's: it ends with that
        if self.director is not None:
            self.director.join()
        wrong = []
        if raised != self.expected():
            wrong.append(f"raised {raised}, not {self.expected()}\n{trace}")
        if self.state != "any" and not self.reached.is_set():
            wrong.append(f"its queues were never {self.state}")
        until = time.monotonic() + LATE_SECS
        while left & set(threading.enumerate()) and time.monotonic() < until:
            time.sleep(0.001)
        self.late = bool(left)
        if left & set(threading.enumerate()) or (left and not self.ending.startswith("Ctrl-C")):
            wrong.append(f"left {len(left)} threads: {', '.join(thread.name for thread in left)}")
        items = {"end of input": BEFORE_CLOSED if self.state == "closed" else ITEMS, "steps reached": STEPS}
        if len(set(self.seen)) != len(self.seen) or len(self.seen) != items.get(self.ending, len(self.seen)):
            wrong.append(f"consumed the items {sorted(self.seen)}")
        return wrong


# -- the process that runs them ---------------------------------------------------------------------------------------


def run_without(gs, number, tf):
    """What a trial builds, without a pipeline."""
    queues = [tf.FIFOQueue(CAPACITY, [tf.float32], [[1]], name=f"{name}{number}") for name in ("first", "second")]
    one, many = tf.placeholder(tf.float32, [1]), tf.placeholder(tf.float32, [None, 1])
    gs.run(queues[0].enqueue(one), {one: [1.0]})
    gs.run(queues[0].enqueue_many(many), {many: [[1.0]]})
    gs.run(queues[1].enqueue(tf.check_numerics(queues[0].dequeue(), "an item")))
    gs.run(queues[1].dequeue())
    for queue in queues:
        gs.run([queue.size(), queue.is_closed()])
        gs.run(queue.close())
        gs.run(queue.close(cancel_pending_enqueues=True))


def look():
    """What this process holds: own memory in KB, threads of the system, open files."""
    with open("/proc/self/status") as status:
        found = dict(line.split(":", 1) for line in status)
    return {
        "memory": int(found["RssAnon"].split()[0]),
        "threads": int(found["Threads"]),
        "files": len(os.listdir("/proc/self/fd")),
    }


def work(first, last, options):
    """Runs trials and writes a line of JSON about each."""
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    import tf1sessions as t1

    tf = t1.tf1
    tf.logging.set_verbosity(tf.logging.ERROR)
    for start in range(first, last, A_SESSION):
        with t1.GraphSession() as gs:
            for number in range(start, min(last, start + A_SESSION)):
                print(json.dumps({"begins": number}), flush=True)
                if options.without:
                    run_without(gs, number, tf)
                    print(json.dumps({"ended": number, "wrong": [], "late": False}), flush=True)
                else:
                    trial = Trial(number, options.seed, options.ending)
                    print(json.dumps({"ended": number, "wrong": trial.run(gs, t1), "late": trial.late}), flush=True)
        if (start - first) % REPORT < A_SESSION:
            gc.collect()
            print(json.dumps({"look": start - first} | look()), flush=True)
    gc.collect()
    print(json.dumps({"look": last - first} | look()), flush=True)


# -- the process that watches it --------------------------------------------------------------------------------------


class Watched:
    """A process that runs trials from ``first`` on, and the lines it writes."""

    def __init__(self, first, last, options, without):
        command = [sys.executable, os.path.abspath(__file__), "--work", str(first), str(last)]
        command += ["--seed", str(options.seed)] + ["--ending", options.ending] * bool(options.ending)
        environment = {"TF_CPP_MIN_LOG_LEVEL": "3"} | dict(os.environ)
        self.process = subprocess.Popen(command + ["--without"] * without, stdout=subprocess.PIPE, env=environment)

    def lines(self, limit_secs):
        """What it writes; ends when it ends, or has written nothing for ``limit_secs`` (a minute, at its start)."""
        output, rest, limit = self.process.stdout.fileno(), b"", max(60, limit_secs)
        while select.select([output], [], [], limit)[0]:
            text = os.read(output, 65536)
            if not text:
                return
            limit = limit_secs
            *whole, rest = (rest + text).split(b"\n")
            for line in whole:
                if line.startswith(b"{"):
                    yield json.loads(line)

    def end(self):
        """Returns None if it had ended by itself, well; else what was the matter."""
        try:
            code = self.process.wait(5)
            return None if code == 0 else f"the process ended with {code}"
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGUSR1)
            time.sleep(1)
            self.process.kill()
            self.process.wait()
            return "nothing happened any more"


def watch(options, without=False):
    """Runs all trials, with new processes after hangs.

    Returns:
        The hangs and what was wrong, by trial; how many trials had threads that ended late; the looks.
    """
    hangs, wrong, late, looks, number = {}, {}, 0, [], 0

    def tell(number, what):
        print(f"{Trial(number, options.seed, options.ending)}\n  {what}", flush=True)

    last = min(options.trials, 2000) if without else options.trials
    while number < last:
        watched = Watched(number, last, options, without)
        looks.append([])
        for line in watched.lines(options.limit_secs):
            if "begins" in line:
                number = line["begins"]
            elif "look" in line:
                looks[-1].append(line)
            else:
                number = line["ended"] + 1
                late += line["late"]
                if line["wrong"]:
                    wrong[line["ended"]] = line["wrong"]
                    tell(line["ended"], "\n  ".join(line["wrong"]))
        ended = watched.end()
        if ended is None:
            break
        hangs[number] = ended
        tell(number, ended)
        number += 1
    return hangs, wrong, late, max(looks, key=len)


def growth(looks):
    """KB a trial, from a tenth of the trials on: before that pools and caches fill."""
    later = looks[len(looks) // 10 or 1 :] if len(looks) > 2 else looks
    return (later[-1]["memory"] - later[0]["memory"]) / max(1, later[-1]["look"] - later[0]["look"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit-secs", type=float, default=30)
    parser.add_argument("--ending", choices=ENDINGS, help="this one alone")
    parser.add_argument("--work", nargs=2, type=int, help=argparse.SUPPRESS)
    parser.add_argument("--without", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(*options.work, options)
        return 0
    start = time.perf_counter()
    hangs, wrong, late, looks = watch(options)
    took = time.perf_counter() - start
    trials = (Trial(number, options.seed, options.ending) for number in range(options.trials))
    counts = collections.Counter((trial.ending, trial.state) for trial in trials)
    print(f"{'trials':<24}" + "".join(f"{state:>8}" for state in STATES))
    for ending in ENDINGS:
        print(f"{ending:<24}" + "".join(f"{counts[ending, state]:>8}" for state in STATES))
    print(f"{options.trials:,} starts and stops in {took:.0f} s, on {os.cpu_count()} cores, Python", end=" ")
    print(f"{platform.python_version()}: {len(hangs)} hangs, {len(wrong)} wrong ends")
    threads = sum("left" in what for found in wrong.values() for what in found)
    print(f"threads of Python left behind: by {threads} trials; a moment later than their pipeline: in {late}")
    for what in ("threads", "files"):
        print(f"{what} of the process: {looks[0][what]} after the first trials, {looks[-1][what]} after the last")
    bare = watch(options, without=True)[-1]
    before, after = (one["memory"] / 1024 for one in (looks[0], looks[-1]))
    print(f"memory: {before:.0f} MB after the first trials, {after:.0f} MB after the last:", end=" ")
    print(f"{growth(looks):.1f} KB a trial, and {growth(bare):.1f} KB where there is no pipeline")
    return 1 if hangs or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
