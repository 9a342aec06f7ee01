"""The step functions: texts before and after, what stays at the step before and why, and the page."""

from __future__ import annotations

import functools
import json
import textwrap
from pathlib import Path

import porting_support
import pytest
from pages import NOTES, blocks

from tf1sessions.porting.rewriting.requests.request import function_name
from tf1sessions.porting.rewriting.rewrite import FilePort, port
from tf1sessions.source import files
from tf1sessions.source.files import SourceText

after = functools.partial(porting_support.after, step="functions")
HEADER = "import tensorflow as tf\ntf.compat.v1.disable_v2_behavior()\n"
PORTED = (
    "import tensorflow as tf\nfrom tf1sessions import porting\n"
    "tf.compat.v1.disable_v2_behavior()\ntf.compat.v1.enable_eager_execution()\n"
)
GRAPH = "x = tf.compat.v1.placeholder(tf.float32)\ny = tf.square(x)\n"
BUILT = (
    "legacy = porting.LegacyGraph()\nwith legacy:\n    x = tf.compat.v1.placeholder(tf.float32)\n    y = tf.square(x)\n"
)
SESSION = "tf.compat.v1.Session()"


def program(text: str) -> str:
    return textwrap.dedent(text).lstrip("\n")


#: After the header, and the graph of x and y: what follows, and what comes of all.
CASES = {
    "a request": (
        """
        x = tf.compat.v1.placeholder(tf.float32)
        y = tf.square(x)
        with tf.compat.v1.Session() as sess:
            print(sess.run(y, {x: 2.0}))
        """,
        """
        legacy = porting.LegacyGraph()
        with legacy:
            x = tf.compat.v1.placeholder(tf.float32)
            y = tf.square(x)
            run_y = legacy.function(y, feeds=[x])
        print(run_y(2.0))
        """,
    ),
    "a request whose result takes the name of what it fetches": (
        """
        x = tf.compat.v1.placeholder(tf.float32)
        y = tf.square(x)
        with tf.compat.v1.Session() as sess:
            y = sess.run(y, {x: 2.0})
            for i in range(2):
                x = sess.run(x, {x: i})
        """,
        """
        legacy = porting.LegacyGraph()
        with legacy:
            x = tf.compat.v1.placeholder(tf.float32)
            y = tf.square(x)
            run_y = legacy.function(y, feeds=[x])
        y = run_y(2.0)
        for i in range(2):
            x = legacy.run(x, {x: i})
        """,
    ),
    "requests in a loop, made once before it": (
        """
        x = tf.compat.v1.placeholder(tf.float32)
        y = tf.square(x)
        with tf.compat.v1.Session() as sess:
            n = 3
            for i in range(n):
                # twice
                a = sess.run(y, feed_dict={x: i})
                b = sess.run([y, x], {x: i + 1})
        """,
        """
        legacy = porting.LegacyGraph()
        with legacy:
            x = tf.compat.v1.placeholder(tf.float32)
            y = tf.square(x)
            run_y = legacy.function(y, feeds=[x])
            run_y_and_x = legacy.function([y, x], feeds=[x])
        n = 3
        for i in range(n):
            # twice
            a = run_y(i)
            b = run_y_and_x(i + 1)
        """,
    ),
    "the same request at two places": (
        """
        x = tf.compat.v1.placeholder(tf.float32)
        y = tf.square(x)
        sess = tf.compat.v1.Session()
        a = sess.run(y, {x: 1.0})
        b = sess.run(y, {x: 2.0})
        sess.close()
        """,
        """
        legacy = porting.LegacyGraph()
        with legacy:
            x = tf.compat.v1.placeholder(tf.float32)
            y = tf.square(x)
            run_y = legacy.function(y, feeds=[x])
        a = run_y(1.0)
        b = run_y(2.0)
        """,
    ),
    "a name that means something else later": (
        """
        x = tf.compat.v1.placeholder(tf.float32)
        y = tf.square(x)
        sess = tf.compat.v1.Session()
        a = sess.run(y, {x: 1.0})
        y = tf.exp(x)
        b = sess.run(y, {x: 2.0})
        """,
        """
        legacy = porting.LegacyGraph()
        with legacy:
            x = tf.compat.v1.placeholder(tf.float32)
            y = tf.square(x)
            run_y = legacy.function(y, feeds=[x])
        a = run_y(1.0)
        with legacy:
            y = tf.exp(x)
        run_y_2 = legacy.function(y, feeds=[x])
        b = run_y_2(2.0)
        """,
    ),
    "eval and run of the default session": (
        """
        x = tf.compat.v1.placeholder(tf.float32)
        y = tf.square(x)
        with tf.compat.v1.Session():
            tf.compat.v1.global_variables_initializer().run()
            print(y.eval({x: 1.0}))
        """,
        """
        legacy = porting.LegacyGraph()
        with legacy:
            x = tf.compat.v1.placeholder(tf.float32)
            y = tf.square(x)
            initialize = legacy.function(tf.compat.v1.global_variables_initializer())
            run_y = legacy.function(y, feeds=[x])
        initialize()
        print(run_y(1.0))
        """,
    ),
    "a dict of feeds with a name": (
        """
        x = tf.compat.v1.placeholder(tf.float32)
        y = tf.square(x)
        with tf.compat.v1.Session() as sess:
            for i in range(3):
                feed = {x: i}
                sess.run(y, feed)
        """,
        """
        legacy = porting.LegacyGraph()
        with legacy:
            x = tf.compat.v1.placeholder(tf.float32)
            y = tf.square(x)
            run_y = legacy.function(y, feeds=[x])
        for i in range(3):
            feed = {x: i}
            run_y(*feed.values())
        """,
    ),
    "feeds that are put together": (
        """
        x = tf.compat.v1.placeholder(tf.float32)
        y = tf.square(x)
        with tf.compat.v1.Session() as sess:
            feed = {}
            feed[x] = 1.0
            sess.run(y, feed_dict=feed)
        """,
        """
        legacy = porting.LegacyGraph()
        with legacy:
            x = tf.compat.v1.placeholder(tf.float32)
            y = tf.square(x)
        feed = {}
        feed[x] = 1.0
        legacy.run(y, feed_dict=feed)
        """,
    ),
    "what is built among the requests": (
        """
        x = tf.compat.v1.placeholder(tf.float32)
        y = tf.square(x)
        with tf.compat.v1.Session() as sess:
            a = sess.run(y, {x: 1.0})
            z = y + 1
            # and
            print(a, sess.run(z, {x: a}))
        """,
        """
        legacy = porting.LegacyGraph()
        with legacy:
            x = tf.compat.v1.placeholder(tf.float32)
            y = tf.square(x)
            run_y = legacy.function(y, feeds=[x])
        a = run_y(1.0)
        with legacy:
            z = y + 1
        run_z = legacy.function(z, feeds=[x])
        # and
        print(a, run_z(a))
        """,
    ),
    "a request in a request": (
        """
        x = tf.compat.v1.placeholder(tf.float32)
        y = tf.square(x)
        with tf.compat.v1.Session() as sess:
            sess.run(y, {x: sess.run(y, {x: 1.0})})
        """,
        """
        legacy = porting.LegacyGraph()
        with legacy:
            x = tf.compat.v1.placeholder(tf.float32)
            y = tf.square(x)
            run_y = legacy.function(y, feeds=[x])
        run_y(run_y(1.0))
        """,
    ),
    "operations that each iteration adds": (
        """
        x = tf.compat.v1.placeholder(tf.float32)
        y = tf.square(x)
        with tf.compat.v1.Session() as sess:
            for i in range(2):
                sess.run(y + i, {x: 1.0})
        """,
        """
        legacy = porting.LegacyGraph()
        with legacy:
            x = tf.compat.v1.placeholder(tf.float32)
            y = tf.square(x)
        for i in range(2):
            with legacy:
                legacy.run(y + i, {x: 1.0})
        """,
    ),
    "a second session": (
        """
        x = tf.compat.v1.placeholder(tf.float32)
        y = tf.square(x)
        with tf.compat.v1.Session() as sess:
            sess.run(y, {x: 1.0})
        with tf.compat.v1.Session() as sess:
            sess.run(y, {x: 2.0})
        """,
        """
        legacy = porting.LegacyGraph()
        with legacy:
            x = tf.compat.v1.placeholder(tf.float32)
            y = tf.square(x)
            run_y = legacy.function(y, feeds=[x])
        run_y(1.0)
        legacy.reset()
        run_y(2.0)
        """,
    ),
    "fetches that are filled behind what builds": (
        """
        x = tf.compat.v1.placeholder(tf.float32)
        y = tf.square(x)
        fetches = []
        fetches.extend([y, x])
        with tf.compat.v1.Session() as sess:
            for i in range(2):
                print(sess.run(fetches, {x: 1.0}))
        """,
        """
        legacy = porting.LegacyGraph()
        with legacy:
            x = tf.compat.v1.placeholder(tf.float32)
            y = tf.square(x)
        fetches = []
        fetches.extend([y, x])
        run_fetches = legacy.function(fetches, feeds=[x])
        for i in range(2):
            print(run_fetches(1.0))
        """,
    ),
    "fetches that each iteration adds to": (
        """
        x = tf.compat.v1.placeholder(tf.float32)
        y = tf.square(x)
        fetches = [y]
        with tf.compat.v1.Session() as sess:
            for i in range(2):
                fetches.append(x)
                print(sess.run(fetches, {x: 1.0}))
        """,
        """
        legacy = porting.LegacyGraph()
        with legacy:
            x = tf.compat.v1.placeholder(tf.float32)
            y = tf.square(x)
        fetches = [y]
        for i in range(2):
            fetches.append(x)
            print(legacy.run(fetches, {x: 1.0}))
        """,
    ),
    "graphs with names": (
        """
        g = tf.Graph()
        with g.as_default():
            y = tf.compat.v1.constant(1.0)
        print(g.get_operations())
        with tf.compat.v1.Session(graph=g) as sess:
            sess.run(y)
        """,
        """
        g = porting.LegacyGraph()
        with g:
            y = tf.compat.v1.constant(1.0)
        print(g.graph.get_operations())
        run_y = g.function(y)
        run_y()
        """,
    ),
    "a name for several graphs": (
        """
        g = tf.Graph()
        with g.as_default():
            y = tf.compat.v1.constant(1.0)
        with tf.compat.v1.Session(graph=g) as sess:
            sess.run(tf.compat.v1.global_variables_initializer())
        g = tf.Graph()
        with g.as_default():
            y = tf.compat.v1.constant(2.0)
        with tf.compat.v1.Session(graph=g) as sess:
            sess.run(tf.compat.v1.global_variables_initializer())
        """,
        """
        g = porting.LegacyGraph()
        with g:
            y = tf.compat.v1.constant(1.0)
        with g:
            initialize = g.function(tf.compat.v1.global_variables_initializer())
        initialize()
        g = porting.LegacyGraph()
        with g:
            y = tf.compat.v1.constant(2.0)
        with g:
            initialize_2 = g.function(tf.compat.v1.global_variables_initializer())
        initialize_2()
        """,
    ),
    "a graph around all of it": (
        """
        with tf.Graph().as_default():
            y = tf.compat.v1.constant(1.0)
            with tf.compat.v1.Session() as sess:
                sess.run(y)
        """,
        """
        legacy = porting.LegacyGraph()
        with legacy:
            y = tf.compat.v1.constant(1.0)
            run_y = legacy.function(y)
        run_y()
        """,
    ),
    "savers, writers and the step": (
        """
        x = tf.compat.v1.placeholder(tf.float32)
        y = tf.square(x)
        saver = tf.compat.v1.train.Saver()
        with tf.compat.v1.Session() as sess:
            writer = tf.compat.v1.summary.FileWriter('logs', sess.graph)
            saver.restore(sess, 'a')
            print(tf.compat.v1.train.global_step(sess, y))
            saver.save(sess, 'b')
        """,
        """
        legacy = porting.LegacyGraph()
        with legacy:
            x = tf.compat.v1.placeholder(tf.float32)
            y = tf.square(x)
            saver = porting.LegacySaver()
            run_y = legacy.function(y)
        with legacy:
            writer = tf.compat.v1.summary.FileWriter('logs', legacy.graph)
        saver.restore(legacy, 'a')
        print(run_y())
        saver.save(legacy, 'b')
        """,
    ),
    "queue runners": (
        """
        x = tf.compat.v1.placeholder(tf.float32)
        y = tf.square(x)
        with tf.compat.v1.Session() as sess:
            coord = tf.train.Coordinator()
            threads = tf.compat.v1.train.start_queue_runners(sess=sess, coord=coord)
        """,
        """
        legacy = porting.LegacyGraph()
        with legacy:
            x = tf.compat.v1.placeholder(tf.float32)
            y = tf.square(x)
        coord = tf.train.Coordinator()
        threads = legacy.start_queue_runners(coord=coord)
        """,
    ),
    "a monitored session": (
        """
        x = tf.compat.v1.placeholder(tf.float32)
        y = tf.square(x)
        saver = tf.compat.v1.train.Saver()
        with tf.compat.v1.train.MonitoredTrainingSession(checkpoint_dir="a") as sess:
            while not sess.should_stop():
                sess.run(y, {x: 1.0})
        """,
        """
        legacy = porting.LegacyGraph()
        with legacy:
            x = tf.compat.v1.placeholder(tf.float32)
            y = tf.square(x)
            saver = porting.LegacySaver()
        with legacy:
            with porting.monitored_training_session(checkpoint_dir="a") as sess:
                while not sess.should_stop():
                    sess.run(y, {x: 1.0})
        """,
    ),
    "a function that is given the session": (
        """
        def show(sess, y):
            return sess.run(y)


        x = tf.compat.v1.placeholder(tf.float32)
        y = tf.square(x)
        with tf.compat.v1.Session() as sess:
            show(sess, y)
        """,
        """
        def show(y):
            return legacy.run(y)


        legacy = porting.LegacyGraph()
        with legacy:
            x = tf.compat.v1.placeholder(tf.float32)
            y = tf.square(x)
        show(y)
        """,
    ),
    "text over several lines": (
        '''
        x = tf.compat.v1.placeholder(tf.float32)
        y = tf.square(x)
        with tf.compat.v1.Session() as sess:
            text = """
        left
            as it is"""
            sess.run(
                [y,
                 x],
                {x: 1.0})
        ''',
        '''
        legacy = porting.LegacyGraph()
        with legacy:
            x = tf.compat.v1.placeholder(tf.float32)
            y = tf.square(x)
            run_y_and_x = legacy.function([y, x], feeds=[x])
        text = """
        left
            as it is"""
        run_y_and_x(1.0)
        ''',
    ),
    "functions that are given the session": (
        """
        def show(sess, v):
            print(sess.run(y, {x: v}))
        def both(v, session):
            show(session, v)
            show(v=v, sess=session)
        x = tf.compat.v1.placeholder(tf.float32)
        y = tf.square(x)
        with tf.compat.v1.Session() as sess:
            both(1.0, sess)
            for name in ("a", "b"):
                thread = threading.Thread(target=show, args=(sess, 2.0), name=name)
                thread.start()
        """,
        """
        def show(v):
            print(run_y(v))
        def both(v):
            show(v)
            show(v=v)
        legacy = porting.LegacyGraph()
        with legacy:
            x = tf.compat.v1.placeholder(tf.float32)
            y = tf.square(x)
            run_y = legacy.function(y, feeds=[x])
        both(1.0)
        for name in ("a", "b"):
            thread = threading.Thread(target=show, args=(2.0,), name=name)
            thread.start()
        """,
    ),
    "functions that are given the session, of which one is in a list": (
        """
        def show(sess, v):
            print(sess.run(y, {x: v}), sess.graph)
        def listed(sess):
            print(sess.run(y))
        def local(sess):
            y = tf.negative(x)
            print(sess.run(y))
        x = tf.compat.v1.placeholder(tf.float32)
        y = tf.square(x)
        with tf.compat.v1.Session() as sess:
            show(sess, 1.0)
            for each in [listed]:
                each(sess)
        """,
        """
        def show(v):
            print(run_y(v), legacy.graph)
        def listed(sess):
            print(run_y_2())
        def local():
            with legacy:
                y = tf.negative(x)
            run_y_3 = legacy.function(y)
            print(run_y_3())
        legacy = porting.LegacyGraph()
        with legacy:
            x = tf.compat.v1.placeholder(tf.float32)
            y = tf.square(x)
            run_y = legacy.function(y, feeds=[x])
            run_y_2 = legacy.function(y)
        show(1.0)
        for each in [listed]:
            each(legacy)
        """,
    ),
    "functions whose tensors are not there yet, or are bound twice": (
        """
        def ask():
            return sess.run(y), sess.run(z)
        sess = tf.compat.v1.InteractiveSession()
        x = tf.compat.v1.placeholder(tf.float32)
        z = tf.negative(x)
        print(1)
        y = tf.square(x)
        z = tf.negative(y)
        ask()
        """,
        """
        def ask():
            run_z = legacy.function(z)
            return run_y(), run_z()
        legacy = porting.LegacyGraph()
        with legacy:
            x = tf.compat.v1.placeholder(tf.float32)
            z = tf.negative(x)
            print(1)
            y = tf.square(x)
            z = tf.negative(y)
            run_y = legacy.function(y)
        ask()
        """,
    ),
    "sessions that are used where they are made": (
        """
        x = tf.compat.v1.placeholder(tf.float32)
        y = tf.square(x)
        print(tf.compat.v1.Session().run(y, {x: 1.0}))
        for i in range(2):
            print(tf.compat.v1.Session().run(y, feed_dict=feeds[i]))
        """,
        """
        legacy = porting.LegacyGraph()
        with legacy:
            x = tf.compat.v1.placeholder(tf.float32)
            y = tf.square(x)
        run_y = legacy.function(y, feeds=[x])
        print(run_y(1.0))
        for i in range(2):
            print(legacy.run(y, feed_dict=feeds[i]))
        """,
    ),
    "a function that only makes a session": (
        """
        def make(share=0.5):
            "A session."
            options = tf.compat.v1.GPUOptions(per_process_gpu_memory_fraction=share)
            return tf.compat.v1.Session(config=tf.compat.v1.ConfigProto(gpu_options=options))
        x = tf.compat.v1.placeholder(tf.float32)
        y = tf.square(x)
        with make() as s:
            print(s.run(y, {x: 1.0}))
        s = make(0.1)
        print(s.run(y, {x: 2.0}))
        """,
        """
        legacy = porting.LegacyGraph()
        with legacy:
            x = tf.compat.v1.placeholder(tf.float32)
            y = tf.square(x)
            run_y = legacy.function(y, feeds=[x])
        print(run_y(1.0))
        legacy.reset()
        print(run_y(2.0))
        """,
    ),
    "requests that mean another after more was built": (
        """
        x = tf.compat.v1.Variable(1.0)
        sess = tf.compat.v1.Session()
        sess.run(tf.compat.v1.global_variables_initializer())
        sess.run(tf.compat.v1.global_variables_initializer())
        if wide:
            y = tf.compat.v1.Variable(2.0)
            sess.run(tf.compat.v1.global_variables_initializer())
        z = tf.compat.v1.Variable(3.0)
        print(sess.run(tf.compat.v1.report_uninitialized_variables()))
        sess.run(tf.compat.v1.global_variables_initializer())
        for i in range(2):
            w = tf.compat.v1.Variable(float(i))
            sess.run(tf.compat.v1.global_variables_initializer())
        """,
        """
        legacy = porting.LegacyGraph()
        with legacy:
            x = tf.compat.v1.Variable(1.0)
            initialize = legacy.function(tf.compat.v1.global_variables_initializer())
        initialize()
        initialize()
        if wide:
            with legacy:
                y = tf.compat.v1.Variable(2.0)
            with legacy:
                initialize_2 = legacy.function(tf.compat.v1.global_variables_initializer())
            initialize_2()
        with legacy:
            z = tf.compat.v1.Variable(3.0)
        with legacy:
            run_report_uninitialized_variables = legacy.function(tf.compat.v1.report_uninitialized_variables())
        print(run_report_uninitialized_variables())
        with legacy:
            initialize_3 = legacy.function(tf.compat.v1.global_variables_initializer())
        initialize_3()
        for i in range(2):
            with legacy:
                w = tf.compat.v1.Variable(float(i))
            with legacy:
                legacy.run(tf.compat.v1.global_variables_initializer())
        """,
    ),
    "scopes around requests of what is built there": (
        """
        w = tf.compat.v1.Variable(1.0)
        a = tf.compat.v1.assign_add(w, 2.0)
        sess = tf.compat.v1.Session()
        print(sess.run(w * 2.0))
        for i in range(2):
            with tf.control_dependencies([a]):
                print(sess.run(w * 2.0), sess.run(w))
        with tf.compat.v1.variable_scope("m") as scope:
            with tf.compat.v1.name_scope("n"):
                # its name
                v = tf.compat.v1.get_variable("v", [])
                sess.run(v.initializer)
                for i in range(2):
                    print(sess.run(v, {v: i}))
        with scope:
            print(sess.run(tf.negative(v)))
        """,
        """
        legacy = porting.LegacyGraph()
        with legacy:
            w = tf.compat.v1.Variable(1.0)
            a = tf.compat.v1.assign_add(w, 2.0)
            run_result = legacy.function(w * 2.0)
            run_w = legacy.function(w)
        print(run_result())
        for i in range(2):
            with legacy:
                with tf.control_dependencies([a]):
                    print(legacy.run(w * 2.0), run_w())
        with legacy:
            with tf.compat.v1.variable_scope("m") as scope:
                with tf.compat.v1.name_scope("n"):
                    # its name
                    v = tf.compat.v1.get_variable("v", [])
                    run_initializer = legacy.function(v.initializer)
                    run_initializer()
                    run_v = legacy.function(v, feeds=[v])
                    for i in range(2):
                        print(run_v(i))
        with legacy:
            with scope:
                print(legacy.run(tf.negative(v)))
        """,
    ),
    "scopes around requests of names, and what is no scope": (
        """
        w = tf.compat.v1.Variable(1.0)
        sess = tf.compat.v1.Session()
        with tf.compat.v1.device("/cpu:0"):
            print(sess.run(w))
        with tf.io.gfile.GFile("a") as file:
            print(sess.run(w * 2.0), file)
        """,
        """
        legacy = porting.LegacyGraph()
        with legacy:
            w = tf.compat.v1.Variable(1.0)
            run_w = legacy.function(w)
        with tf.compat.v1.device("/cpu:0"):
            print(run_w())
        with tf.io.gfile.GFile("a") as file:
            with legacy:
                run_result = legacy.function(w * 2.0)
            print(run_result(), file)
        """,
    ),
    "a scope around the session, and around what builds in a function": (
        """
        def train(sess):
            print(sess.run(y + 1.0))
        y = tf.compat.v1.constant(1.0)
        with tf.compat.v1.name_scope("all"):
            z = y * 2.0
            with tf.compat.v1.Session() as sess:
                with tf.compat.v1.name_scope("train"):
                    train(sess)
                print(sess.run(z))
        """,
        """
        def train():
            with legacy:
                print(legacy.run(y + 1.0))
        legacy = porting.LegacyGraph()
        with legacy:
            y = tf.compat.v1.constant(1.0)
        with legacy:
            with tf.compat.v1.name_scope("all"):
                z = y * 2.0
                with tf.compat.v1.name_scope("train"):
                    train()
                run_z = legacy.function(z)
                print(run_z())
        """,
    ),
    "closing a queue, and a writer": (
        """
        q = tf.queue.FIFOQueue(2, [tf.float32], [[]])
        writer = tf.compat.v1.summary.FileWriter("logs")
        end = q.close()
        writer.close()
        with tf.compat.v1.Session() as sess:
            sess.run(end)
        """,
        """
        legacy = porting.LegacyGraph()
        with legacy:
            q = tf.queue.FIFOQueue(2, [tf.float32], [[]])
            writer = tf.compat.v1.summary.FileWriter("logs")
            end = q.close()
            run_end = legacy.function(end)
        writer.close()
        run_end()
        """,
    ),
    "a tensor of a function that has the name of the session": (
        """
        def attend(q):
            s = tf.matmul(q, q)
            return tf.nn.softmax(s)
        def save(s):
            saver.save(s, "a")
        y = attend(tf.ones([2, 2]))
        saver = tf.compat.v1.train.Saver()
        with tf.compat.v1.Session() as s:
            print(s.run(y))
            save(s)
        """,
        """
        def attend(q):
            s = tf.matmul(q, q)
            return tf.nn.softmax(s)
        def save():
            saver.save(legacy, "a")
        legacy = porting.LegacyGraph()
        with legacy:
            y = attend(tf.ones([2, 2]))
            saver = porting.LegacySaver()
            run_y = legacy.function(y)
        print(run_y())
        save()
        """,
    ),
    "attributes and lists that functions change": (
        """
        class Net:
            def deepen(self, layers):
                self.y = self.y + 1.0
                layers.append(self.y)
            @property
            def last(self):
                return self.y
        def grow(layers):
            net.deepen(layers)
        def ask():
            return sess.run(layers)
        net = Net()
        net.y = tf.compat.v1.constant(1.0)
        layers = [net.y]
        sess = tf.compat.v1.Session()
        print(sess.run(net.y), sess.run(net.last), sess.run(layers))
        print(sess.run(net.y))
        grow(layers)
        print(sess.run(net.y), sess.run(net.last), sess.run(layers))
        layers.reverse()
        print(sess.run(layers))
        for i in range(2):
            setattr(net, "y", net.y * 2.0)
            print(sess.run(net.y))
        """,
        """
        class Net:
            def deepen(self, layers):
                self.y = self.y + 1.0
                layers.append(self.y)
            @property
            def last(self):
                return self.y
        def grow(layers):
            net.deepen(layers)
        def ask():
            run_layers_4 = legacy.function(layers)
            return run_layers_4()
        legacy = porting.LegacyGraph()
        with legacy:
            net = Net()
            net.y = tf.compat.v1.constant(1.0)
            run_last = legacy.function(net.last)
            run_y = legacy.function(net.y)
        layers = [net.y]
        run_layers = legacy.function(layers)
        print(run_y(), run_last(), run_layers())
        print(run_y())
        with legacy:
            grow(layers)
        run_layers_2 = legacy.function(layers)
        with legacy:
            run_last_2 = legacy.function(net.last)
        run_y_2 = legacy.function(net.y)
        print(run_y_2(), run_last_2(), run_layers_2())
        with legacy:
            layers.reverse()
        run_layers_3 = legacy.function(layers)
        print(run_layers_3())
        for i in range(2):
            with legacy:
                setattr(net, "y", net.y * 2.0)
            print(legacy.run(net.y))
        """,
    ),
}


@pytest.mark.parametrize(("before", "expected"), CASES.values(), ids=CASES.keys())
def test_a_file(before: str, expected: str) -> None:
    assert after(HEADER + program(before)) == PORTED + program(expected)


def test_functions_and_methods() -> None:
    """The graph of a module is used in its functions; a method's session is the LegacyGraph."""
    text = program(
        """
        class Net:
            def __init__(self):
                self.x = tf.compat.v1.placeholder(tf.float32)
                self.y = tf.square(self.x)
                self.sess = tf.compat.v1.Session()

            def ask(self, value):
                return self.sess.run(self.y, {self.x: value})


        def main():
            print(Net().ask(1.0))
        """
    )
    expected = text.replace("self.sess = tf.compat.v1.Session()", "self.sess = legacy").replace(
        "        self.x = tf.compat.v1.placeholder(tf.float32)\n        self.y = tf.square(self.x)\n",
        "        legacy = porting.LegacyGraph()\n        with legacy:\n"
        "            self.x = tf.compat.v1.placeholder(tf.float32)\n            self.y = tf.square(self.x)\n",
    )
    assert after(HEADER + text) == PORTED + expected


STAYS = {
    "Two sessions": f"a = {SESSION}\nb = {SESSION}\na.run(y)\nb.run(y)\n",
    "without a session creator": "m = tf.compat.v1.train.MonitoredSession()\n",
    "read from a file": f"tf.compat.v1.train.import_meta_graph('a')\nsess = {SESSION}\n",
    "takes the session": f"sess = {SESSION}\ntf.compat.v1.saved_model.simple_save(sess, 'a', {{}}, {{}})\n",
    "has options": f"sess = {SESSION}\nsess.run(y, options=o)\n",
    "SavedModelBuilder": f"sess = {SESSION}\nb.add_meta_graph_and_variables(sess, [])\n",
    "partial run": f"sess = {SESSION}\nsess.partial_run(h, y)\n",
    "on the line that makes it": f"with {SESSION} as sess: sess.run(y)\n",
    "made or entered inside of a scope": (
        f"sess = {SESSION}\nwith tf.compat.v1.name_scope('a'):\n    print(sess.run(y + 1))\n    g = tf.Graph()\n"
    ),
    "on one line": f"with {SESSION} as sess:\n    a = 1; sess.run(y)\n",
    "on one line, in a function that is given a session": (
        f"def f(sess): print(sess.run(tf.square(1.0)))\n\n\nwith {SESSION} as sess:\n    f(sess)\n"
    ),
    "lambda without a name": f"sess = {SESSION}\nprint(list(map(lambda v: sess.run(y + v), [1.0])))\n",
    "resets the default graph": f"def f():\n    tf.compat.v1.reset_default_graph()\n\n\nf()\nsess = {SESSION}\n",
    "run as code uses sess": f"sess = {SESSION}\nprint(eval('sess.run(y)'), sess.run(y))\n",
    **{
        f"not known, {where}": text
        for where, text in {
            "in an expression": f"if (sess := {SESSION}) is not None:\n    sess.run(y)\n",
            "as a default": f"run = lambda sess={SESSION}: sess.run(y)\nrun()\n",
            "in a list": f"for each in [{SESSION}, {SESSION}]:\n    each.run(y)\n",
            "of another graph": f"print({SESSION[:-1]}graph=g).run(y))\n",
            "in a request of another": f"legacy = {SESSION}\nlegacy.run(y, {{x: f({SESSION})}})\n",
            "one of two": f"def f(given=None):\n    sess = given or {SESSION}\n    sess.run(y)\nf()\n",
            "kept by a function": f"def f():\n    print(1)\n    return {SESSION}\nf().run(y)\n",
        }.items()
    },
}


@pytest.mark.parametrize(("words", "text"), STAYS.items(), ids=STAYS.keys())
def test_a_program_stays_at_the_step_before_with_the_reason(words: str, text: str) -> None:
    found = porting_support.ported(HEADER + GRAPH + text, "functions")
    assert found.after.text == HEADER + GRAPH + text
    (what,) = [note.what for note in found.notes if note.kind == "by hand" and note.rule == "functions-requests"]
    assert words.partition(", ")[0] in what and what.endswith("so this program keeps its session."), what


def test_functions_of_requests_are_made_where_the_graph_is() -> None:
    text = program(
        """
        y = tf.compat.v1.constant(1.0)
        sess = tf.compat.v1.Session()


        def ask():
            return sess.run(y)


        class Asker:
            def ask(self):
                return sess.run(y)


        def main():
            for _ in range(3):
                ask()
            print(sess.run(y), y.eval(session=sess))
        """
    )
    expected = program(
        """
        legacy = porting.LegacyGraph()
        with legacy:
            y = tf.compat.v1.constant(1.0)
            run_y = legacy.function(y)


        def ask():
            return run_y()


        class Asker:
            def ask(self):
                return run_y()


        def main():
            for _ in range(3):
                ask()
            print(run_y(), run_y())
        """
    )
    assert after(HEADER + text) == PORTED + expected


def test_a_function_that_is_not_given_the_session() -> None:
    text = program(
        """
        def show():
            y = tf.compat.v1.constant(1)
            print(y.eval())


        def main():
            with tf.compat.v1.Session():
                show()
        """
    )
    found = porting_support.ported(HEADER + text, "functions")
    assert found.after.text == HEADER + text
    (note,) = [note for note in found.notes if note.rule == "functions-requests"]
    assert note.place.line == 3 and note.what.startswith("A function runs a session that it is not given, so")


def test_what_runs_no_session_stays() -> None:
    assert after(HEADER + GRAPH) == HEADER + GRAPH


def _ported(folder: Path, texts: dict[str, str]) -> dict[str, FilePort]:
    sources = [SourceText(folder / name, name, text) for name, text in texts.items()]
    return {file.before.path.name: file for file in port(sources, "functions")[-1].files}


def test_what_a_module_of_the_program_builds_before_tensorflow_is_imported(tmp_path: Path) -> None:
    texts = {
        "net.py": HEADER + "def build():\n    return tf.ones([2])\n",
        "train.py": "import net\n# the network\ny = net.build()\n" + HEADER + f"print({SESSION}.run(y))\n",
    }
    found = _ported(tmp_path, texts)["train.py"].after.text
    begun = "import net\nfrom tf1sessions import porting\nlegacy = porting.LegacyGraph()\nwith legacy:\n"
    assert found.startswith(begun + "    # the network\n    y = net.build()\n"), found
    assert found.count("import porting") == 1


def test_the_files_of_a_program_change_together_or_not_at_all(tmp_path: Path) -> None:
    net = HEADER + "def net(x):\n    return tf.square(x)\n"
    train = f"from net import net\n{HEADER}y = net(1.0)\nwith {SESSION} as sess:\n    print(sess.run(y))\n"
    both = _ported(tmp_path, {"net.py": net, "train.py": train, "other.py": net})
    assert "with legacy:\n    y = net(1.0)\n    run_y" in both["train.py"].after.text
    assert both["net.py"].after.text.startswith(HEADER + "tf.compat.v1.enable_eager_execution()\n")
    assert not both["other.py"].is_changed
    kept = _ported(tmp_path, {"net.py": net + f"sess = {SESSION}\nsess.partial_run(y)\n", "train.py": train})
    assert not any(file.is_changed for file in kept.values())


def test_files_that_build_when_they_are_imported_share_a_graph(tmp_path: Path) -> None:
    train = (
        f"import model\n{HEADER}z = model.y * 2\nwith {SESSION} as sess:\n    print(sess.run(z, {{model.x: 1.0}}))\n"
    )
    found = _ported(tmp_path, {"model.py": HEADER + GRAPH, "train.py": train})
    shared = "legacy = porting.LegacyGraph.default()\nwith legacy:\n"
    assert f"{shared}    x = tf.compat.v1.placeholder(tf.float32)\n" in found["model.py"].after.text
    assert (
        f"{shared}    z = model.y * 2\n    run_z = legacy.function(z, feeds=[model.x])\n"
        in found["train.py"].after.text
    )
    reset = train.replace("\nwith", "\ntf.compat.v1.reset_default_graph()\nwith")
    assert not any(each.is_changed for each in _ported(tmp_path, {"model.py": HEADER + GRAPH, "a.py": reset}).values())
    named = _ported(
        tmp_path,
        {
            "model.py": HEADER + GRAPH,
            "a.py": train.replace("import model", "from model import x, y").replace("model.", ""),
        },
    )
    assert f"{shared}" in named["a.py"].after.text
    main = f"{HEADER}if __name__ == '__main__':\n    print({SESSION}.run(y))\n"
    for text in ("def build():\n    return tf.square(2.0)\n", main):  # that is not imported
        apart = _ported(tmp_path, {"model.py": HEADER + text, "a.py": train.replace("model.y", "model.build()")})
        assert "LegacyGraph.default()" not in apart["a.py"].after.text


def test_a_session_that_another_file_or_scope_sees_stays_bound(tmp_path: Path) -> None:
    model = f"{HEADER}{GRAPH}sess = {SESSION}\n"
    train = "import model\nfrom model import sess, x, y\nprint(sess.run(y, {x: 1.0}), model.sess)\n"
    found = _ported(tmp_path, {"model.py": model, "train.py": train})
    assert found["model.py"].after.text.endswith("\nsess = legacy\n")
    assert "run_y = sess.function(y, feeds=[x])\nprint(run_y(1.0), model.sess)\n" in found["train.py"].after.text
    helper = "def session():\n    return 1\n"
    train = f"from helper import session\n{HEADER}{GRAPH}print(session(), {SESSION}.run(y, {{x: 1.0}}))\n"
    found = _ported(tmp_path, {"helper.py": helper, "train.py": train})
    assert "legacy = porting.LegacyGraph()" in found["train.py"].after.text
    text = f"sess = None\n\n\ndef begin():\n    global sess\n    sess = {SESSION}\n    sess.run(y)\n"
    assert "    global sess\n    sess = legacy\n" in after(HEADER + GRAPH + text)


def test_requests_of_lambdas_are_those_of_the_graph() -> None:
    lambdas = "ask = lambda v: y.eval({x: v})\nadd = lambda v: sess.run(x + v, {x: v})\n"
    text = f"sess = {SESSION}\n{lambdas}print(add(1.0))\n"
    found = after(HEADER + GRAPH + text)
    assert "ask = lambda v: legacy.run(y, {x: v})\nadd = lambda v: legacy.run(x + v, {x: v})\n" in found
    assert found.endswith("with legacy:\n    print(add(1.0))\n")
    text = f"{HEADER}class Net:\n    def __init__(self):\n        self.sess = {SESSION}\n        self.y = tf.ones([])\n"
    (what,) = porting_support.remarks(
        f"{text}\n    def ask(self):\n        return lambda: self.y.eval()\n", "functions"
    )
    assert what.startswith("A function runs a session that it is not given")


def test_a_method_builds_in_the_graph_of_the_session_of_its_object() -> None:
    begin = f"class Net:\n    def __init__(self):\n        self.w = tf.ones([2])\n        self.sess = {SESSION}\n\n"
    method = "    def change(self, value):\n        print(self.sess.run(self.w + value))\n\n"
    listed = "    def show(self):\n        for v in tf.compat.v1.global_variables():\n            self.sess.run(v)\n"
    found = after(HEADER + begin + method + listed)
    assert "        with self.sess:\n            print(self.sess.run(self.w + value))\n" in found
    assert "        with self.sess:\n            listed = tf.compat.v1.global_variables()\n" in found
    assert "        self.sess = legacy\n" in found
    monitored = f"    def begin(self):\n        self.sess = tf.compat.v1.train.MonitoredTrainingSession()\n\n{method}"
    assert "with self.sess" not in porting_support.ported(HEADER + begin + monitored, "functions").after.text


def test_a_loop_over_what_operators_give_has_it_built_before() -> None:
    text = f"with {SESSION} as sess:\n    for each in (y * 2, -y):\n        print(sess.run(each, {{x: 1.0}}))\n"
    built = "with legacy:\n    listed = (y * 2, -y)\nfor each in listed:\n    print(legacy.run(each, {x: 1.0}))\n"
    assert after(HEADER + GRAPH + text).endswith(built)
    loop = "    for each in (sess.run(y * 2, {x: 1.0}), 1):\n        print(sess.run(y, {x: each}))\n"
    once = f"with {SESSION} as sess:\n{loop}"
    assert "listed" not in after(HEADER + GRAPH + once)


def test_a_notebook_changes_cell_by_cell(tmp_path: Path) -> None:
    cells = [HEADER, "%matplotlib inline\n" + GRAPH, f"z = y + 1\nsess = {SESSION}", "sess.run(z, {x: 1.0})"]
    notebook = {
        "cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "source": cell} for cell in cells],
        "metadata": {},
        "nbformat": 4,
    }
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps(notebook), "utf-8")
    source = files.read(path)
    assert isinstance(source, SourceText)
    (file,) = port([source], "functions")[-1].files
    found = ["".join(cell["source"]) for cell in json.loads(file.after.encode())["cells"]]
    assert found[1] == "%matplotlib inline\n" + BUILT
    assert found[2:] == ["with legacy:\n    z = y + 1\n    run_z = legacy.function(z, feeds=[x])", "run_z(1.0)"]


def test_what_functions_are_called() -> None:
    expected = {"sess.a.b": "run_b", "[a, b, c, d]": "run_a_and_b_and_2_more", "'w:0'": "run_w", "(a, a)": "run_a"}
    for text, name in expected.items():
        assert function_name(compile(text, "", "eval", 1024).body) == name  # 1024: as a syntax tree


def test_the_page_shows_what_is_done() -> None:
    before, expected = (block.text for block in blocks(NOTES / "port-functions.md", "py")[:2])
    assert after(before) == expected


def test_a_script_in_a_folder_changes_with_the_module_beside_it(tmp_path: Path) -> None:
    net = HEADER + "def net(x):\n    return tf.square(x)\n"
    train = f"from net import net\n{HEADER}y = net(1.0)\nwith {SESSION} as sess:\n    print(sess.run(y))\n"
    sources = [SourceText(tmp_path / "scripts" / name, name, text) for name, text in (("net.py", net), ("a.py", train))]
    both = {each.before.path.name: each for each in port(sources, "functions", [tmp_path])[-1].files}
    assert "with legacy:\n    y = net(1.0)\n    run_y" in both["a.py"].after.text
    assert both["net.py"].is_changed


def test_tabs_and_spaces_do_not_mix() -> None:
    text = HEADER + "x = tf.square(1.0)\nfor t in range(3):\n    x = x * 2.0\nif x is None:\n\tprint(1)\n"
    text += f"sess = {SESSION}\nfor i in range(2):\n\tprint(sess.run(x))\n"
    found = after(text)
    assert "with legacy:\n\tx = tf.square(1.0)\n\tfor t in range(3):\n\t    x = x * 2.0\n" in found


def in_block(text: str) -> str:
    """The lines of what becomes of a text that are in a block of the graph."""
    return "".join(line + "\n" for line in after(HEADER + GRAPH + text).splitlines() if line.startswith("    "))


def test_a_loop_over_what_the_graph_has_asks_for_it_in_the_block() -> None:
    listed = "tf.compat.v1.global_variables()"
    loop = f"sess = {SESSION}\nfor i, v in enumerate(LISTED):\n    print(i, sess.run(v))\n"
    found = after(HEADER + GRAPH + loop.replace("LISTED", listed))
    block = f"with legacy:\n    listed = enumerate({listed})\nfor i, v in listed:\n    print(i, legacy.run(v))\n"
    assert found.endswith(block)
    assert "listed" not in after(HEADER + GRAPH + loop.replace("LISTED", "[y, x]"))
    for header in (f"while len({listed}) < 2:", f"if {listed}:"):
        text = f"sess = {SESSION}\n{header}\n    print(sess.run(y))\n"
        (what,) = porting_support.remarks(HEADER + GRAPH + text, "functions")
        assert "What decides about a block adds to the graph" in what


@pytest.mark.parametrize(
    "text",
    [
        "parts = []\nparts.append(y)\ntotal = sum(parts)\n",
        "parts = {}\nparts.update(y=y)\ntotal = parts['y'] * 2\n",
        "parts = {k: v for k, v in zip('ab', [x, y])}\ntotal = parts['a'] + parts['b']\n",
        "parts = [v for v in [x, y]]\ntotal = parts[0] + parts[1]\n",
    ],
)
def test_what_is_made_of_a_container_of_tensors_is_of_the_graph(text: str) -> None:
    assert "    total = " in in_block(f"{text}sess = {SESSION}\nprint(sess.run(total, {{x: 1.0}}))\n")


def test_a_class_that_is_made_of_one_that_builds_does_so_too() -> None:
    base = "class Base(object):\n    def __init__(self):\n        self.z = tf.square(y)\n"
    text = f"{base}class Child(Base):\n    k = 1\nchild = Child()\n"
    text += f"sess = {SESSION}\nprint(sess.run(child.z, {{x: 1.0}}))\n"
    assert "    child = Child()\n" in in_block(text)
    assert "    child = Child()\n" not in in_block(text.replace("Child(Base)", "Child(object)"))


def test_the_session_is_the_first_argument_of_a_variable_and_the_second_of_a_tensor() -> None:
    text = f"v = tf.compat.v1.Variable(1.0)\nsess = {SESSION}\nprint(v.eval(sess), y.eval({{x: 1.0}}, sess))\n"
    found = after(HEADER + GRAPH + text)
    assert found.endswith("print(run_v(), run_y(1.0))\n")


def test_a_list_that_is_fetched_again_after_it_has_changed_is_another_request() -> None:
    run = "print(sess.run(parts, {x: 1.0}))\n"
    text = f"parts = [y]\nsess = {SESSION}\n{run}parts.append(x)\n{run}parts[0] = x\n{run}{run}"
    found = after(HEADER + GRAPH + text)
    assert [line for line in found.splitlines() if line.startswith("print")] == [
        f"print({name}(1.0))" for name in ("run_parts", "run_parts_2", "run_parts_3", "run_parts_3")
    ]


def test_a_data_set_is_mapped_where_it_is_made() -> None:
    made = "ds = tf.data.Dataset.from_tensors(tf.constant(1.0))\nds = ds.MAPPED.batch(1)\n"
    made += "z = tf.compat.v1.data.make_one_shot_iterator(ds).get_next()\n"
    for mapped in ("map(tf.square)", "filter(lambda v: v > 0.0)"):
        text = f"{made.replace('MAPPED', mapped)}sess = {SESSION}\nprint(sess.run(z))\n"
        assert f"    ds = ds.{mapped}.batch(1)\n" in in_block(text)


@pytest.mark.parametrize(
    ("build", "last"),
    [
        ("y = x\ny += 1.0", "y += 1.0"),
        ("y = x > 0.0", "y = x > 0.0"),
        ("named = {'x': x}\nprint(1)\ny = sum(named.values())", "y = sum(named.values())"),
        ("made = (x * k for k in (1.0, 2.0))\nprint(1)\ny = next(made)", "y = next(made)"),
    ],
)
def test_what_builds_without_a_call_of_tensorflow_is_in_the_block(build: str, last: str):
    text = f"""import tensorflow as tf
x = tf.placeholder(tf.float32, [])
def ask(sess):
    return sess.run(y, {{x: 1.0}})
{build}
with tf.Session() as sess:
    print(ask(sess))
"""
    assert f"    {last}\n" in after(text)


def test_the_function_of_a_request_stands_behind_what_it_needs_though_more_is_built_where_it_is_called() -> None:
    lines = f"with {SESSION} as sess:\n    def show(value):\n        return sess.run(y, {{x: value}})\n"
    found = after(HEADER + GRAPH + lines + "    print(show(1.0))\n    print((y + 1.0).shape, show(2.0))\n")
    assert found.index(" = legacy.function(y, feeds=[x])") < found.index("print(show(1.0))")


def test_a_function_that_is_called_first_has_the_function_of_its_request() -> None:
    function = "def show(sess):\n    return sess.run(y, {x: 2.0})\n\n\n"
    requests = (
        f"with {SESSION} as sess:\n    print(show(sess))\n    for i in range(3):\n        sess.run(y, {{x: i}})\n"
    )
    found = after(HEADER + GRAPH + function + requests)
    used = found.partition("return ")[2].partition("(")[0]
    assert f"    {used} = legacy.function(y, feeds=[x])\ndef show" in found


@pytest.mark.parametrize(
    "line", ["[float(x) for x in [1.0]]", "{x: x + 1.0 for x in [1.0]}", "sum(x * 2.0 for x in [1.0])"]
)
def test_a_name_of_a_comprehension_is_no_tensor_that_is_called_like_it(line: str) -> None:
    """In the block, the line would come before the function that it calls."""
    lines = f"sess = {SESSION}\ndef show(value):\n    return sess.run(y, {{x: value}})\nprint({line}, show(2.0))\n"
    assert f"\nprint({line}, show(2.0))\n" in after(HEADER + GRAPH + lines)


def test_a_program_may_have_the_name_of_our_module():
    text = """import tensorflow as tf
porting = 3
w = tf.Variable(1.0)
saver = tf.train.Saver()
with tf.Session() as sess:
    sess.run(w.initializer)
    print(sess.run(w), porting)
"""
    ported = porting_support.after(text, "functions")
    assert "from tf1sessions import porting as porting_\n" in ported
    assert "legacy = porting_.LegacyGraph()\n" in ported and "porting_.LegacySaver()" in ported
    assert "tf1sessions" not in porting_support.after(text, "native")


RUNS = (
    f"def run(value):\n    x = tf.compat.v1.placeholder(tf.float32)\n    with {SESSION} as sess:\n"
    "        print(sess.run(tf.square(x), {x: value}))\n\n\n"
)
RESET, NEW = "tf.compat.v1.reset_default_graph()", "legacy = porting.LegacyGraph()"


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (f"run(1.0)\n{RESET}\nrun(2.0)\n", f"{NEW}\nrun(1.0)\n{NEW}\nrun(2.0)\n"),
        (
            f'if __name__ == "__main__":\n    run(1.0)\n    {RESET}\n    run(2.0)\n',
            f'if __name__ == "__main__":\n    {NEW}\n    run(1.0)\n    {NEW}\n    run(2.0)\n',
        ),
        (f"for i in range(2):\n    run(i)\n    {RESET}\n", f"{NEW}\nfor i in range(2):\n    run(i)\n    {NEW}\n"),
        (f"{RESET}\nrun(1.0)\n{RESET}\n", f"{NEW}\nrun(1.0)\n{NEW}\n"),
    ],
)
def test_a_function_that_runs_before_a_reset_has_a_graph(before: str, expected: str):
    """The function knows its graph by the name that the module binds where it resets the default graph."""
    assert after(HEADER + RUNS + before).endswith(f"\n\n\n{expected}")


def test_an_object_that_makes_its_session_before_the_module_builds_has_a_graph():
    made = (
        f"class Model:\n    def __init__(self):\n        self.y = tf.constant(1.0)\n        self.sess = {SESSION}\n\n\n"
        "model = Model()\nprint(model.sess.run(model.y))\nz = model.y + 1.0\nprint(model.sess.run(z))\n"
    )
    assert f"\n{NEW}\nmodel = Model()\n" in after(HEADER + made)


@pytest.mark.parametrize("indent", ["", "    "])
def test_the_seed_of_the_default_graph_is_not_that_of_a_graph_behind_it(indent: str):
    lines = ["FIRST", "graph = tf.Graph()", "with graph.as_default():", "    y = tf.constant(1.0)"]
    lines += ["with tf.compat.v1.Session(graph=graph) as sess:", "    print(sess.run(y))"]
    text = HEADER + "def main():\n" * bool(indent) + "".join(f"{indent}{each}\n" for each in lines)
    seed = "tf.compat.v1.set_random_seed(1)"
    assert f"\n{indent}{seed}\n{indent}graph = porting.LegacyGraph()\n" in after(text.replace("FIRST", seed))
    data = "from tf1sessions.contrib.learn.datasets import mnist\n"
    read = "digits = mnist.read_data_sets('MNIST')"
    assert f"\n{indent}{read}\n" in after(data + text.replace("FIRST", read))
    (what,) = porting_support.remarks(text.replace("FIRST", "x = tf.ones([])"), "functions")
    assert "The default graph is built, and then another one is made, which sessions use" in what


LATE = (
    "def load(path):\n    import tensorflow as tf\n    tf.compat.v1.disable_v2_behavior()\n"
    "    return tf.io.gfile.exists(path)\n"
)


def test_a_switch_in_a_function_that_a_block_may_call_goes(tmp_path: Path):
    """Eager execution, switched on inside of ``with legacy:``, is on for what the block builds behind that."""
    train = f"import data\n{HEADER}found = data.load('a')\n{GRAPH}print({SESSION}.run(y, {{x: 1.0}}))\n"
    found = _ported(tmp_path, {"data.py": LATE, "train.py": train})
    assert found["data.py"].after.text == LATE.replace("    tf.compat.v1.disable_v2_behavior()\n", "")
    assert "enable_eager_execution" in found["train.py"].after.text
    plain = "import data\nprint(data.load('b'))\n"
    found = _ported(tmp_path, {"data.py": LATE, "train.py": train, "plain.py": plain})
    assert not any(each.is_changed for each in found.values())
    assert "enable_eager_execution" in after(
        LATE.replace("gfile.exists", "read_file") + f"print({SESSION}.run(load('a')))\n"
    )
