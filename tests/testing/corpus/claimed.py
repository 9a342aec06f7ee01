"""Work that is claimed by a flag or a lock, whatever way it takes until the claim is given back."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import itertools
import queue
import threading
from concurrent.futures import Future, ThreadPoolExecutor

import tensorflow as tf

from .threads import join, start, together
from .values import VALUES, Trainer
from .verdicts import planted, right


class Claimed(Trainer):
    """A trainer of which several threads ask for steps: those that find it free give one away."""

    def __init__(self):
        super().__init__()
        self.left = 0

    def claims(self):
        with self.lock:
            if self.busy or not self.left:
                return False
            self.busy = True
            self.left -= 1
        return True

    def clears(self, _=None):
        with self.lock:
            self.busy = False

    def asked(self, give, times=3):
        """Let two threads ask until so many steps were given, and wait for the last."""

        self.left = times

        def ask():
            while self.left:
                if self.claims():
                    give()

        together(ask, ask)


@contextlib.contextmanager
def executors():
    """A function that submits to three executors in turn, so that no job has the worker of the one before."""
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as two, ThreadPoolExecutor(1) as three:
        turns = itertools.cycle((one, two, three))
        yield lambda *job: next(turns).submit(*job)


# -- the flag is cleared in a callback -------------------------------------------------------------------------------


@right
def flag_cleared_in_a_callback():
    trainer = Claimed()
    with executors() as submit:
        trainer.asked(lambda: submit(trainer.train).add_done_callback(trainer.clears))
    trainer.session.close()


@right
def flag_cleared_in_a_callback_of_a_future_of_its_own():
    trainer, threads = Claimed(), []

    def give():
        done = Future()
        done.add_done_callback(trainer.clears)
        threads.append(threading.Thread(target=lambda: done.set_result(trainer.train())))
        threads[-1].start()

    trainer.asked(give)
    join(threads)
    trainer.session.close()


@right
def flag_cleared_by_the_one_that_waits():
    trainer = Claimed()

    def give():
        submit(trainer.train).result()
        trainer.clears()

    with executors() as submit:
        trainer.asked(give)
    trainer.session.close()


@planted(VALUES)
def flag_cleared_before_the_callback():
    trainer, both = Claimed(), threading.Barrier(2)

    def work():
        both.wait()
        trainer.train()

    def give():
        pool.submit(work).add_done_callback(trainer.clears)
        trainer.clears()

    with ThreadPoolExecutor(4) as pool:
        trainer.asked(give, 2)
    trainer.session.close()


@planted(VALUES)
def flag_cleared_in_a_callback_of_another_job():
    trainer, both = Claimed(), threading.Barrier(2)

    def work():
        both.wait()
        trainer.train()

    def give():
        pool.submit(work)
        pool.submit(int).add_done_callback(trainer.clears)

    with ThreadPoolExecutor(4) as pool:
        trainer.asked(give, 2)
    trainer.session.close()


@planted(VALUES)
def callback_of_a_step_that_was_not_claimed():
    trainer, both = Claimed(), threading.Barrier(2)

    def work():
        both.wait()
        trainer.train()

    with ThreadPoolExecutor(4) as pool:
        trainer.claims()
        for _ in range(2):
            pool.submit(work).add_done_callback(trainer.clears)
    trainer.session.close()


# -- the work goes through a queue ------------------------------------------------------------------------------------


def through(line):
    """A program whose claimed steps workers take out of a queue."""
    trainer = Claimed()

    def work():
        while line.get() is not None:
            trainer.train()
            trainer.clears()

    workers = start(work, work)
    number = iter(range(1, 1000))
    trainer.asked(lambda: line.put(next(number)), 4)
    return trainer, workers


@right
def step_put_into_a_queue():
    line = queue.Queue()
    trainer, workers = through(line)
    for _ in workers:
        line.put(None)
    join(workers)
    trainer.session.close()


@right
def step_put_into_a_simple_queue():
    line = queue.SimpleQueue()
    trainer, workers = through(line)
    for _ in workers:
        line.put(None)
    join(workers)
    trainer.session.close()


@right
def step_put_onto_a_stack():
    line = queue.LifoQueue(2)
    trainer, workers = through(line)
    for _ in workers:
        line.put(None)
    join(workers)
    trainer.session.close()


@right
def step_put_by_its_priority():
    line, trainer = queue.PriorityQueue(), Claimed()

    def work():
        while line.get()[1]:
            trainer.train()
            trainer.clears()

    workers = start(work, work)
    trainer.asked(lambda: line.put((1, "step")))
    for _ in workers:
        line.put((2, ""))
    join(workers)
    trainer.session.close()


@right
def step_put_into_a_deque_of_a_condition():
    line, filled, trainer = collections.deque(), threading.Condition(), Claimed()

    def put(item):
        with filled:
            line.append(item)
            filled.notify()

    def get():
        with filled:
            while not line:
                filled.wait()
            return line.popleft()

    def work():
        while get():
            trainer.train()
            trainer.clears()

    workers = start(work, work)
    trainer.asked(lambda: put(1))
    for _ in workers:
        put(0)
    join(workers)
    trainer.session.close()


@right
def step_put_into_a_deque_of_an_event():
    line, filled, trainer = collections.deque(), threading.Event(), Claimed()

    def work():
        while True:
            filled.wait()
            filled.clear()
            while line:
                if not line.popleft():
                    return
                trainer.train()
                trainer.clears()

    def give():
        line.append(1)
        filled.set()

    workers = start(work)
    trainer.asked(give)
    line.append(0)
    filled.set()
    join(workers)
    trainer.session.close()


@right
def step_put_and_handed_on_twice():
    first, second, trainer = queue.Queue(), queue.Queue(), Claimed()

    def work():
        while first.get():
            trainer.train()
            second.put(1)
        second.put(0)

    def clear():
        left = 2
        while left:
            if second.get():
                trainer.clears()
            else:
                left -= 1

    workers = start(work, work, clear)
    trainer.asked(lambda: first.put(1))
    for _ in range(2):
        first.put(0)
    join(workers)
    trainer.session.close()


@right
def step_put_under_a_semaphore():
    line, filled, trainer = [], threading.Semaphore(0), Claimed()

    def work():
        while True:
            filled.acquire()
            if not line.pop(0):
                return
            trainer.train()
            trainer.clears()

    def put(item):
        line.append(item)
        filled.release()

    workers = start(work, work)
    trainer.asked(lambda: put(1))
    for _ in workers:
        put(0)
    join(workers)
    trainer.session.close()


@planted(VALUES)
def step_cleared_when_it_is_put():
    line, trainer, both = queue.Queue(), Claimed(), threading.Barrier(2)

    def work():
        line.get()
        both.wait()
        trainer.train()

    workers = start(work, work)
    trainer.asked(lambda: (line.put(1), trainer.clears()), 2)
    join(workers)
    trainer.session.close()


@planted(VALUES)
def step_cleared_when_it_is_got():
    line, trainer, both = queue.Queue(), Claimed(), threading.Barrier(2)

    def work():
        line.get()
        trainer.clears()
        both.wait()
        trainer.train()

    workers = start(work, work)
    trainer.asked(lambda: line.put(1), 2)
    join(workers)
    trainer.session.close()


@planted(VALUES)
def step_put_twice():
    line, trainer, both = queue.SimpleQueue(), Claimed(), threading.Barrier(2)

    def work():
        line.get()
        both.wait()
        trainer.train()
        trainer.clears()

    workers = start(work, work)
    trainer.asked(lambda: (line.put(1), line.put(1)), 1)
    join(workers)
    trainer.session.close()


@planted(VALUES)
def step_put_beside_one_that_nobody_claimed():
    """The thread that claims makes a step itself while the other one may be at it."""
    line, trainer = queue.Queue(), Claimed()

    def work():
        line.get()
        trainer.train()
        trainer.clears()

    workers = start(work)
    trainer.asked(lambda: (line.put(1), trainer.train()), 1)
    join(workers)
    trainer.session.close()


@planted(VALUES)
def step_before_the_claim():
    line, trainer = queue.Queue(), Claimed()

    def work():
        while line.get():
            trainer.train()
            trainer.clears()

    def ask():
        trainer.train()
        while not trainer.claims():
            pass
        line.put(1)

    trainer.left, workers = 2, start(work)
    together(ask, ask)
    line.put(0)
    join(workers)
    trainer.session.close()


# -- a lock is the claim ----------------------------------------------------------------------------------------------


class Locked(Trainer):
    """The same of a lock that nobody waits for."""

    def __init__(self):
        super().__init__()
        self.left = 0

    def claims(self):
        if not self.lock.acquire(False):
            return False
        if self.left:
            self.left -= 1
            return True
        self.lock.release()
        return False

    def clears(self, _=None):
        self.lock.release()

    asked = Claimed.asked


@right
def lock_released_in_a_callback():
    trainer = Locked()
    with executors() as submit:
        trainer.asked(lambda: submit(trainer.train).add_done_callback(trainer.clears))
    trainer.session.close()


@right
def lock_released_by_the_one_that_waits():
    trainer = Locked()

    def give():
        try:
            submit(trainer.train).result()
        finally:
            trainer.clears()

    with executors() as submit:
        trainer.asked(give)
    trainer.session.close()


@right
def lock_released_by_the_worker():
    line, trainer = queue.Queue(), Locked()

    def work():
        while line.get():
            trainer.train()
            trainer.clears()

    workers = start(work, work)
    trainer.asked(lambda: line.put(1))
    for _ in workers:
        line.put(0)
    join(workers)
    trainer.session.close()


@right
def step_of_a_worker_awaited_under_a_lock():
    trainer = Trainer()

    def ask():
        for _ in range(3):
            with trainer.lock:
                submit(trainer.train).result()

    with executors() as submit:
        together(ask, ask)
    trainer.session.close()


@right
def step_of_a_thread_joined_under_a_lock():
    trainer = Trainer()

    def ask():
        for _ in range(3):
            with trainer.lock:
                together(trainer.train)

    together(ask, ask)
    trainer.session.close()


@right
def step_of_a_thread_and_of_its_own_under_a_lock():
    trainer = Trainer()

    def ask():
        for _ in range(3):
            with trainer.lock:
                together(trainer.train)

    def alone():
        for _ in range(3):
            with trainer.lock:
                trainer.train()

    together(ask, alone)
    trainer.session.close()


@right
def step_answered_by_a_queue_under_a_lock():
    trainer, requests, answers = Trainer(), queue.Queue(), queue.Queue()

    def work():
        while requests.get():
            trainer.train()
            answers.put(1)

    def ask():
        for _ in range(3):
            with trainer.lock:
                requests.put(1)
                answers.get()

    workers = start(work, work)
    together(ask, ask)
    for _ in workers:
        requests.put(0)
    join(workers)
    trainer.session.close()


@planted(VALUES)
def step_of_a_worker_not_awaited_under_a_lock():
    trainer, both = Trainer(), threading.Barrier(2)

    def work():
        both.wait()
        trainer.train()

    def ask():
        with trainer.lock:
            pool.submit(work)

    with ThreadPoolExecutor(4) as pool:
        together(ask, ask)
    trainer.session.close()


@planted(VALUES)
def step_of_which_one_is_awaited_under_the_lock():
    trainer, begun = Trainer(), threading.Event()

    def waits():
        with trainer.lock:
            one.submit(trainer.train).result()

    def goes_on():
        with trainer.lock:
            two.submit(lambda: (trainer.train(), begun.set()))
            while not begun._flag:  # which nothing sees
                pass

    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as two:
        together(waits, goes_on)
    trainer.session.close()


@right
def step_of_a_worker_awaited_under_a_semaphore():
    trainer, one = Trainer(), threading.BoundedSemaphore(1)

    def ask():
        for _ in range(3):
            with one:
                submit(trainer.train).result()

    with executors() as submit:
        together(ask, ask)
    trainer.session.close()


@right
def step_of_a_worker_awaited_under_a_lock_that_is_taken_twice():
    trainer, lock = Trainer(), threading.RLock()

    def ask():
        for _ in range(3):
            with lock:
                with lock:
                    job = submit(trainer.train)
                job.result()

    with executors() as submit:
        together(ask, ask)
    trainer.session.close()


@planted(VALUES)
def step_beside_the_one_that_is_awaited_under_the_lock():
    trainer = Trainer()

    def ask():
        with trainer.lock:
            job = submit(trainer.train)
            trainer.train()
            job.result()

    with executors() as submit:
        together(ask)
    trainer.session.close()


@planted(VALUES)
def steps_of_two_threads_under_one_hold():
    trainer = Trainer()
    with trainer.lock:
        together(trainer.train, trainer.train)
    trainer.session.close()


@planted(VALUES)
def step_awaited_when_the_lock_is_released():
    trainer, both = Trainer(), threading.Barrier(2)

    def work():
        both.wait()
        trainer.train()

    def ask():
        with trainer.lock:
            job = pool.submit(work)
        job.result()

    with ThreadPoolExecutor(4) as pool:
        together(ask, ask)
    trainer.session.close()


@planted(VALUES)
def step_of_a_worker_under_two_locks():
    trainer = Trainer()

    def ask():
        with threading.Lock():
            together(trainer.train)

    together(ask, ask)
    trainer.session.close()


# -- other ways to claim ----------------------------------------------------------------------------------------------


@right
def claim_by_a_set_of_names():
    trainer, running = Claimed(), set()

    def claims():
        with trainer.lock:
            if "v" in running or not trainer.left:
                return False
            running.add("v")
            trainer.left -= 1
        return True

    def clears(_):
        with trainer.lock:
            running.discard("v")

    trainer.claims = claims
    with executors() as submit:
        trainer.asked(lambda: submit(trainer.train).add_done_callback(clears))
    trainer.session.close()


class Jobs(Trainer):
    """Jobs by name: one that runs already is not begun again."""

    def __init__(self):
        super().__init__()
        self.jobs = {}

    def claims(self, name):
        with self.lock:
            if name not in self.jobs:
                self.jobs[name] = threading.get_ident()
                return True
        return False

    def run(self, name, times=2):
        while times:
            if self.claims(name):
                together(self.train)
                with self.lock:
                    del self.jobs[name]
                times -= 1


@right
def claim_by_a_dictionary_of_jobs():
    jobs = Jobs()
    together(lambda: jobs.run("train"), lambda: jobs.run("train"))
    jobs.session.close()


@planted(VALUES)
def claims_by_two_names_of_one_job():
    jobs = Jobs()
    together(lambda: jobs.run("train"), lambda: jobs.run("train again"))
    jobs.session.close()


@planted(VALUES)
def claim_by_a_set_that_is_only_told():
    trainer, running, twice = Trainer(), set(), []

    def work():
        with trainer.lock:
            if "v" in running:
                twice.append("v")
            running.add("v")
        together(trainer.train)
        with trainer.lock:
            running.discard("v")

    together(work, work)
    trainer.session.close()


@right
def claim_by_a_list_of_free_sessions():
    trainer = Trainer()
    free = [trainer.session]

    def take():
        while True:
            with trainer.lock:
                if free:
                    return free.pop()

    def work():
        for _ in range(3):
            session = take()
            session.run(trainer.step)
            with trainer.lock:
                free.append(session)

    together(work, work)
    trainer.session.close()


@right
def steps_in_a_list_under_a_lock():
    trainer, lock, line = Claimed(), threading.Lock(), []

    def work():
        while True:
            with lock:
                item = line.pop(0) if line else None
            if item == "end":
                return
            if item is not None:
                trainer.train()
                trainer.clears()

    def put(item):
        with lock:
            line.append(item)

    workers = start(work, work)
    trainer.asked(lambda: put("step"))
    for _ in workers:
        put("end")
    join(workers)
    trainer.session.close()


@right
def model_built_and_put_into_a_deque():
    lock, line = threading.Lock(), collections.deque()

    def build():
        graph = tf.Graph()
        with graph.as_default():
            tf.constant(1.0)
        with lock:
            line.appendleft(graph)

    def go_on():
        graph = None
        while graph is None:
            with lock:
                if line:
                    graph = line.pop()
        with graph.as_default():
            tf.constant(2.0)

    together(build, go_on)


@planted("concurrent construction")
def model_put_into_a_deque_and_built():
    lock, line = threading.Lock(), collections.deque()

    def build():
        graph = tf.Graph()
        with lock:
            line.append(graph)
        with graph.as_default():
            tf.constant(1.0)

    def go_on():
        graph = None
        while graph is None:
            with lock:
                if line:
                    graph = line.pop()
        with graph.as_default():
            tf.constant(2.0)

    together(build, go_on)


@planted(VALUES)
def session_twice_in_a_list_of_free_ones():
    trainer, both = Trainer(), threading.Barrier(2)
    free = [trainer.session, trainer.session]

    def work():
        with trainer.lock:
            session = free.pop()
        both.wait()
        session.run(trainer.step)
        with trainer.lock:
            free.append(session)

    together(work, work)
    trainer.session.close()


@planted(VALUES)
def session_put_back_too_early():
    trainer = Trainer()
    free = [trainer.session]

    def work():
        session = None
        while session is None:
            with trainer.lock:
                if free:
                    session = free.pop()
        with trainer.lock:
            free.append(session)
        session.run(trainer.step)

    together(work, work)
    trainer.session.close()


@right
def claim_by_the_result_of_a_look():
    trainer = Claimed()

    def claims():
        with trainer.lock:
            is_free, trainer.busy = not trainer.busy, True
            goes_on = is_free and trainer.left > 0
            trainer.left -= goes_on
        return goes_on

    trainer.claims = claims
    with executors() as submit:
        trainer.asked(lambda: submit(trainer.train).add_done_callback(trainer.clears))
    trainer.session.close()


@right
def claim_by_explicit_calls_of_the_lock():
    trainer = Claimed()

    def claims():
        trainer.lock.acquire()
        try:
            if trainer.busy or not trainer.left:
                return False
            trainer.busy = True
            trainer.left -= 1
            return True
        finally:
            trainer.lock.release()

    trainer.claims = claims
    with executors() as submit:
        trainer.asked(lambda: submit(trainer.train).add_done_callback(trainer.clears))
    trainer.session.close()


# -- asyncio, timers, barriers ----------------------------------------------------------------------------------------


@right
def claimed_in_an_event_loop():
    trainer, state = Trainer(), {"busy": False, "left": 4}

    async def main():
        loop, over = asyncio.get_running_loop(), asyncio.Event()

        def clears(_):
            state["busy"] = False
            state["left"] -= 1
            if not state["left"]:
                over.set()
            ask()

        def ask():
            if not state["busy"] and state["left"]:
                state["busy"] = True
                loop.run_in_executor(pool, trainer.train).add_done_callback(clears)

        ask()
        await over.wait()

    with ThreadPoolExecutor(4) as pool:
        asyncio.run(main())
    trainer.session.close()


@right
def step_put_into_a_queue_of_asyncio():
    trainer = Trainer()

    async def main():
        line = asyncio.Queue()

        async def work():
            while await line.get():
                await asyncio.to_thread(trainer.train)
                line.task_done()
            line.task_done()

        worker = asyncio.create_task(work())
        for each in (1, 1, 1, 0):
            await line.put(each)
        await line.join()
        await worker

    asyncio.run(main())
    trainer.session.close()


@right
def step_answered_to_the_loop():
    trainer = Trainer()

    async def main():
        loop = asyncio.get_running_loop()
        for _ in range(3):
            done = loop.create_future()

            def work(done=done):
                trainer.train()
                loop.call_soon_threadsafe(done.set_result, None)

            thread = threading.Thread(target=work)
            thread.start()
            await done
        thread.join()

    asyncio.run(main())
    trainer.session.close()


@right
def event_of_asyncio_set_by_a_thread():
    trainer = Trainer()

    async def main():
        loop, done = asyncio.get_running_loop(), asyncio.Event()

        def work():
            trainer.train()
            loop.call_soon_threadsafe(done.set)

        threads = start(work)
        await done.wait()
        trainer.train()
        join(threads)

    asyncio.run(main())
    trainer.session.close()


@right
def steps_under_a_semaphore_of_asyncio():
    trainer = Trainer()

    async def main():
        one = asyncio.Semaphore(1)

        async def step():
            async with one:
                await asyncio.to_thread(trainer.train)

        await asyncio.gather(*[step() for _ in range(4)])

    asyncio.run(main())
    trainer.session.close()


@right
def coroutine_given_to_a_loop_of_another_thread():
    trainer, loop = Trainer(), asyncio.new_event_loop()

    async def step():
        trainer.train()

    threads = start(loop.run_forever)
    asyncio.run_coroutine_threadsafe(step(), loop).result()
    trainer.train()
    asyncio.run_coroutine_threadsafe(step(), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    join(threads)
    loop.close()
    trainer.session.close()


@right
def timer_that_clears_the_flag():
    trainer, timers = Claimed(), []

    def work():
        trainer.train()
        trainer.clears()

    def give():
        timers.append(threading.Timer(0.001, work))
        timers[-1].start()

    trainer.asked(give)
    join(timers)
    trainer.session.close()


@right
def timer_starts_the_next_one():
    trainer, over = Trainer(), threading.Event()

    def work(left=3):
        trainer.train()
        if left:
            threading.Timer(0.001, work, [left - 1]).start()
        else:
            over.set()

    work()
    over.wait()
    trainer.train()
    trainer.session.close()


@right
def event_set_by_the_worker():
    trainer, begin, done = Trainer(), threading.Event(), threading.Event()

    def work():
        for _ in range(3):
            begin.wait()
            begin.clear()
            trainer.train()
            done.set()

    workers = start(work)
    for _ in range(3):
        begin.set()
        done.wait()
        done.clear()
        trainer.train()
    join(workers)
    trainer.session.close()


@right
def event_asked_by_the_next():
    trainer, idle, lock = Trainer(), threading.Event(), threading.Lock()
    idle.set()

    def work():
        trainer.train()
        idle.set()

    def ask(threads):
        given = 0
        while given < 2:
            with lock:
                if not idle.is_set():
                    continue
                idle.clear()
            given += 1
            threads.append(threading.Thread(target=work))
            threads[-1].start()

    threads = []
    together(lambda: ask(threads), lambda: ask(threads))
    join(threads)
    trainer.session.close()


@right
def barrier_between_the_steps():
    trainer, both = Trainer(), threading.Barrier(2)

    def work(number):
        for turn in range(4):
            if turn % 2 == number:
                trainer.train()
            both.wait()

    together(lambda: work(0), lambda: work(1))
    trainer.session.close()


@planted(VALUES)
def timers_that_nobody_waits_for():
    trainer = Trainer()
    timers = [threading.Timer(0.001, trainer.train) for _ in range(2)]
    for timer in timers:
        timer.start()
    join(timers)
    trainer.session.close()


@planted(VALUES)
def event_set_before_the_step():
    trainer, done = Trainer(), threading.Event()

    def work():
        done.set()
        trainer.train()

    workers = start(work)
    done.wait()
    trainer.train()
    join(workers)
    trainer.session.close()


@planted(VALUES)
def loop_told_before_the_step():
    trainer = Trainer()

    async def main():
        loop, done = asyncio.get_running_loop(), asyncio.Event()

        def work():
            loop.call_soon_threadsafe(done.set)
            trainer.train()

        threads = start(work)
        await done.wait()
        trainer.train()
        join(threads)

    asyncio.run(main())
    trainer.session.close()


@planted(VALUES)
def barrier_of_which_both_go_on():
    trainer, both = Trainer(), threading.Barrier(2)

    def work():
        both.wait()
        trainer.train()

    together(work, work)
    trainer.session.close()


@planted(VALUES)
def steps_under_a_semaphore_of_asyncio_for_two():
    trainer, both = Trainer(), threading.Barrier(2)

    def work():
        both.wait()
        trainer.train()

    async def main():
        two = asyncio.Semaphore(2)

        async def step():
            async with two:
                await asyncio.to_thread(work)

        await asyncio.gather(*[step() for _ in range(2)])

    asyncio.run(main())
    trainer.session.close()
