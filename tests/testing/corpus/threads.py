"""Threads of the programs: begun, and waited for."""

from __future__ import annotations

import threading


def start(*functions):
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    return threads


def join(threads):
    for thread in threads:
        thread.join()


def together(*functions):
    join(start(*functions))
