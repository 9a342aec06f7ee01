"""Comparison of two sides: the same inputs through both, and the results compared, tensor by tensor.

Files::

    views.py        what of a graph can be looked at
    sides.py        what both sides have
    artifacts.py    a model of TensorFlow 1 as a side
    inlining.py     the functions that a graph calls, written out in it
    functions.py    a function of TensorFlow 2 as a side
    callables.py    a Python function as a side
    opening.py      which side a user's argument is
    inputs.py       inputs, given or made
    examples.py     serialised examples as inputs
    matching.py     which input or output is which
    measures.py     how far one array is from another
    tolerances.py   how far it may be
    comparison.py   what was found
    causes/         why two sides part
    programs.py     a script as a side
    recordings.py   a recording as a side
    verifying.py    verify()
    html_report.py  a comparison as a page, with a plot of the error
"""
