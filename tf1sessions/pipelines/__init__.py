"""Concurrent work inside one session.

``repeats.py`` which requests may be run twice · ``rows.py`` one compiled call for the rows of several requests ·
``batching.py`` the Batcher: who runs what, and when · ``coordinator.py`` threads that end together, with the cause ·
``work.py`` the WorkQueue: what begins next, and by whom it is run · ``trace.py`` what threads did when, as a file for
Perfetto and Chrome.
"""
