"""Python 2 as Python 3, before any rule is asked: syntax, and what the same words gave in Python 2.

Data flow: :func:`~.conversion.convert` is given each file once. One that Python 3 cannot parse gets its syntax from
syntax.py. One that was Python 2, by its syntax or by names that only Python 2 has, then gets edits for what means
something else in Python 3: they are made once, on the text with its old names, because they would match again on what
they made. Names are for the rules (rules/python_two_names.py and others), which any file may be given.

Files::

    conversion.py    convert(): which files are Python 2, cells of notebooks, the parts in their order
    syntax.py        statements and literals, by the package fissix
    lists.py         map(), zip(), range(), dict.keys(): lists where they are not only iterated over
    division.py      a / b of two integers
    integers.py      which expressions are surely integers
    results.py       input(), pickle.load(), files for csv and pickle, sorting by cmp, next()
"""
