"""What on this machine, or in a script, will bite.

``findings.py`` what is told, and in which order.

While a program runs::

    dynamic.py ──▶ the program's process: probes.py ──▶ notes.py, on disk ──▶ evidence.py ──▶ findings

In a program's text::

    source.py ──▶ names.py ──▶ order.py ──▶ code.py ──▶ a file of rules/ for each rule ──▶ check.py ──▶ findings
"""
