"""A coroutine lets an executor run the session, and waits for it before it builds more.

Expected: nothing
"""
import asyncio

import tensorflow as tf

y = tf.ones([2])
sess = tf.Session()


async def serve():
    loop = asyncio.get_event_loop()
    await asyncio.gather(*[loop.run_in_executor(None, sess.run, y) for _ in range(3)])
    z = y + 1.0
    print(await loop.run_in_executor(None, sess.run, z))


asyncio.run(serve())
sess.close()
