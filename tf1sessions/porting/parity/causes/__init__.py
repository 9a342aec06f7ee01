"""The reasons why two sides differ: rules, each of which looks for one kind of evidence and says nothing without it.

Files::

    evidence.py    what the rules go by
    attributes.py  rules about operations and their attributes
    contents.py    rules about variables and constants
    patterns.py    rules about how the values differ
    registry.py    all of them, in order
"""
