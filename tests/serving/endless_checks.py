"""Runs that do not end by themselves, and answers without a bound: see `test_endless.py`."""

from __future__ import annotations

import concurrent.futures
import os
import sys
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from served_models import ask, serving
from support import raises, wait_for

import tf1sessions as t1
from tf1sessions.errors import DeadlineError
from tf1sessions.serving.settings import Limits

tf = t1.tf1
ENDLESS = 10**15  # steps of a loop, each of which takes a microsecond
_MORE_THAN_THREADS = 40  # requests at once, each of which has a thread of the server; it has 32


def counting(steps: Any) -> Any:
    """A loop of so many steps."""
    return tf.while_loop(lambda step: step < steps, lambda step: step + 1, [tf.zeros([], tf.int64)])


def loop() -> dict[str, str]:
    """A model whose client says how many steps its loop has."""
    if not os.path.exists("loop.pb"):
        with tf.Graph().as_default() as graph:
            tf.identity(counting(tf.placeholder(tf.int64, [], name="steps")), name="taken")
        tf.train.write_graph(graph, ".", "loop.pb", as_text=False)
    return {"loop": "loop.pb"}


def check_a_request_past_its_deadline_leaves_its_thread_to_others() -> None:
    predict = "/v1/models/loop:predict"
    with (
        serving(loop(), Limits(deadline_secs=1.0)) as server,
        concurrent.futures.ThreadPoolExecutor(_MORE_THAN_THREADS) as pool,
    ):
        asked = [pool.submit(ask, server, predict, {"inputs": ENDLESS}) for _ in range(_MORE_THAN_THREADS)]
        assert {each.result()[0] for each in asked} == {504}
        wait_for(lambda: ask(server, predict, {"inputs": 3}) == (200, {"outputs": 3}), "a thread")


def check_a_stop_ends_runs() -> None:
    """`serving` waits for the end of the server."""
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        with serving(loop(), Limits(deadline_secs=1e6), drain_secs=0.1) as server:
            asked = pool.submit(ask, server, "/v1/models/loop:predict", {"inputs": ENDLESS})
            wait_for(lambda: ask(server, "/figures")[1]["models"][0]["versions"][0]["active"], "the run")
    assert asked.exception() is not None or asked.result()[0] != 200


def check_an_answer_has_a_bound() -> None:
    """A client says how large it is, with few bytes."""
    with tf.Graph().as_default() as graph:
        tf.zeros(tf.reshape(tf.placeholder(tf.int32, [], name="count"), [1]), name="zeros")
    tf.train.write_graph(graph, ".", "zeros.pb", as_text=False)
    with serving({"zeros": "zeros.pb"}, Limits(decoded_bytes=1000)) as server:
        assert ask(server, "/v1/models/zeros:predict", {"inputs": 250})[0] == 200
        status, found = ask(server, "/v1/models/zeros:predict", {"inputs": 251})
        assert status == 413 and "1004 bytes" in found["error"], found


def check_named_requests_of_others_go_on() -> None:
    def requests(gs: Any) -> dict[str, Any]:
        steps = tf.placeholder(tf.int64, [])
        number = tf.get_variable("number", initializer=1.0)
        more = tf.assign_add(number, 1.0)
        gs.initialize()
        return {"loop": ({"steps": steps}, counting(steps)), "more": ({}, more)}

    with t1.SessionServer(loop(), requests=requests) as server, server.client() as client:
        for call in (client.request("loop"), client.model("loop")):
            raises(DeadlineError, lambda call=call: call(steps=ENDLESS, deadline_secs=0.5))
        assert client.request("more")(deadline_secs=30) == 2.0
        assert client.request("loop")(steps=3) == 3
        # a value that TensorFlow's own run() has to convert
        raises(DeadlineError, lambda: client.request("loop")(steps=float(ENDLESS), deadline_secs=0.5))
        assert client.request("more")(deadline_secs=30) == 3.0
