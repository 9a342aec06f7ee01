"""Programs as text: read, and understood without being run. No TensorFlow is needed.

Files::

    python2.py           recognises Python 2
    old_names.py         names that Python and its libraries have dropped, and the new ones
    notebooks.py         the cells of a notebook, as Python
    files.py             files of any encoding and line ends, so that they can be written back as they were
    edits.py             edits at the places of syntax nodes; the rest of a text stays as it is
    uses.py              uses of imported names in a file
    projects.py          the same over the files of a project, which import from each other
    program.py           a script, module or notebook as a syntax tree, with the modules that it imports
    names.py             what the names in it mean
    nodes.py             small questions about nodes of a text
    effects.py           which of TensorFlow's calls make operations and sessions
    symbols.py           what became of each public name of TensorFlow 1.15
    replacements.py      what to use in place of those that are gone
    contrib_addresses.py where 1.15 kept the parts of tf.contrib
"""
