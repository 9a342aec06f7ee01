"""A coroutine hands a run to an executor and goes on building while that runs.

Expected:
    mutation while running; the process's default graph; A runs the graph; B adds operations add add/y
"""
import asyncio

import tensorflow as tf

y = tf.ones([2])
sess = tf.Session()


def evaluate():
    return sess.run(y)  # A


async def serve():
    running = asyncio.get_event_loop().run_in_executor(None, evaluate)
    z = y + 1.0  # B
    await running
    return z


asyncio.run(serve())
sess.close()
