"""Loads for HTTP servers, for serving.py: closed loop (so many clients) and open loop (so many requests a second)."""

from __future__ import annotations

import asyncio
import re
import time

CONNECTIONS = 256  # of an open loop; arbitrary, more requests wait for one, and that counts
LATE_SECS = 10.0  # how long answers are waited for after the last request; arbitrary


def request_of(body, model):
    head = f"POST /v1/models/{model}:predict HTTP/1.1\r\nHost: localhost\r\n"
    return f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


async def ask(reader, writer, request):
    """Whether the answer's status is 200."""
    writer.write(request)
    answer = await reader.readuntil(b"\r\n\r\n")
    if length := re.search(rb"content-length: (\d+)", answer, re.I):
        await reader.readexactly(int(length[1]))
    else:
        await reader.readuntil(b"0\r\n\r\n")  # Ray Serve sends chunks
    return answer.startswith(b"HTTP/1.1 200")


async def closed_loop(port, clients, seconds, body, model="m"):
    """Latencies in seconds of all requests of so many clients, each of which waits for its answer; how many failed."""
    request = request_of(body, model)
    taken, failed, until = [], 0, time.perf_counter() + seconds

    async def client():
        nonlocal failed
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.perf_counter() < until:
            started = time.perf_counter()
            failed += not await ask(reader, writer, request)
            taken.append(time.perf_counter() - started)
        writer.close()

    await asyncio.gather(*[client() for _ in range(clients)])
    return taken, failed


async def open_loop(port, rate, seconds, body, model="m"):
    """Latencies in seconds of requests that come at a fixed rate, whatever becomes of those before them.

    They count from the time at which a request was to be sent, so that one that had to wait for a connection, or for
    this program, is as late as its user would see it. Requests without an answer, or with an error, are those that
    failed.
    """
    request = request_of(body, model)
    waiting: asyncio.Queue[float] = asyncio.Queue()
    taken = []
    count = int(rate * seconds)

    async def connection():
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            while True:
                due = await waiting.get()
                if await ask(reader, writer, request):
                    taken.append(time.perf_counter() - due)
                waiting.task_done()
        finally:
            writer.close()

    connections = [asyncio.create_task(connection()) for _ in range(min(CONNECTIONS, max(8, int(rate))))]
    await asyncio.sleep(0.2)  # until they are there
    started = time.perf_counter()
    for number in range(count):
        due = started + number / rate
        if (left := due - time.perf_counter()) > 0:
            await asyncio.sleep(left)
        waiting.put_nowait(due)
    try:
        await asyncio.wait_for(waiting.join(), LATE_SECS)
    except asyncio.TimeoutError:
        pass
    for each in connections:
        each.cancel()
    await asyncio.gather(*connections, return_exceptions=True)
    return taken, count - len(taken)
