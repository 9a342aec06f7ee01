"""The position of a program's code on its way from TensorFlow 1: read, and nothing of it run.

Data flow: source/ reads the files and finds the uses of imported names; survey.py asks source/symbols.py for
each and gives an :class:`~.record.Audit`, which the other files show.

Files::

    record.py        what is found: places, files, the whole
    constructs.py    what a file does in TensorFlow 1's way: sessions, queues, graphs in loops
    survey.py        survey(): the audit of files and folders
    shares.py        the files shared between processes, where there are many
    further.py       how far the steps go that names do not decide about: the files are ported in memory
    order.py         the order in which files go, imports first
    sarif.py         an audit as SARIF 2.1.0, for other tools
    html_report.py   an audit as a page
"""
