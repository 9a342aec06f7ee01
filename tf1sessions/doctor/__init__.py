"""What on this machine, or in a script, will bite.

``findings.py`` what is told, and in which order.
"""
