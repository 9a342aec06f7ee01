"""Findings: problems of this machine, of a script or of a running program.

``findings.py`` the findings, and their order.

While a program runs::

    dynamic.py ──▶ the program's process: probes.py ──▶ notes.py, on disk ──▶ evidence.py ──▶ findings

In a program's text::

    source/ ──▶ order.py ──▶ code.py ──▶ a file of rules/ for each rule ──▶ check.py ──▶ findings

Files::

    findings.py          what is reported, and in which order
    machine.py           what there is on the machine, and its problems
    dynamic.py           runs a program with probes, and reports what they found
    evidence.py          what the notes of the probes mean
    notes.py             notes of the probes, on disk: they outlive a crash
    tallies.py           counters in the program's process
    probes.py            what is patched in the program's process to note what it does
    order.py             in which order it does things
    code.py              sessions, configurations, threads and processes in it
    check.py             every rule, and the comments that suppress it
    rules/               a file a rule
"""
